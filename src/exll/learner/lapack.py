"""LAPACK and BLAS in place, without Python's lock.

scipy's own wrappers hold the lock while they compute: whoever asks in another thread would stand still for as long as
a matrix is inverted. The functions that scipy offers to compiled code are the same ones, and called through ctypes they
let others go on. All take matrices of doubles in Fortran order and read and write their lower triangle alone.
"""

import ctypes
from typing import Any

from scipy.linalg import cython_blas, cython_lapack

from exll.types import Matrix

_LOWER, _PLAIN, _TURNED, _RIGHT = (ctypes.byref(ctypes.c_char(letter)) for letter in (b"L", b"N", b"T", b"R"))
_ONE = ctypes.byref(ctypes.c_double(1.0))

_python = ctypes.pythonapi
_python.PyCapsule_GetName.restype = ctypes.c_char_p
_python.PyCapsule_GetName.argtypes = [ctypes.py_object]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _function(module: Any, name: str, arguments: int) -> Any:
    """All arguments are addresses, as in Fortran; the capsule's name is the signature."""
    capsule = module.__pyx_capi__[name]
    signature: bytes = _python.PyCapsule_GetName(capsule)
    if signature.count(b"*") != arguments or b"int *" not in signature:
        raise ImportError(f"this scipy's {name} takes other arguments: {signature.decode()}")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(_python.PyCapsule_GetPointer(capsule, signature))


_potrf = _function(cython_lapack, "dpotrf", 5)
_potri = _function(cython_lapack, "dpotri", 5)
_syrk = _function(cython_blas, "dsyrk", 10)
_trsm = _function(cython_blas, "dtrsm", 11)


def cholesky(matrix: Matrix) -> None:
    """Its lower factor, written over it."""
    size, info = _size_of(matrix), ctypes.c_int()
    _potrf(_LOWER, size, _address(matrix), size, ctypes.byref(info))
    if info.value != 0:
        raise ArithmeticError("the shrunk covariance is not positive definite")


def invert_factored(factor: Matrix) -> None:
    """The inverse of a matrix, written over its factor."""
    size, info = _size_of(factor), ctypes.c_int()
    _potri(_LOWER, size, _address(factor), size, ctypes.byref(info))
    assert info.value == 0


def solve_factor(factor: Matrix, rows: Matrix) -> None:
    r"""$L^{-1} V$ for a factor L, written over the rows of V."""
    assert rows.flags.c_contiguous
    assert len(rows) == len(factor)
    size, width = _size_of(factor), ctypes.byref(ctypes.c_int(rows.shape[1]))
    _trsm(_RIGHT, _LOWER, _TURNED, _PLAIN, width, size, _ONE, _address(factor), size, _address(rows), width)


def add_outer_products(matrix: Matrix, rows: Matrix) -> None:
    """Add the outer products of rows, which lie one after the other."""
    assert rows.flags.c_contiguous
    assert rows.shape[1] == len(matrix)
    size, count = _size_of(matrix), ctypes.byref(ctypes.c_int(len(rows)))
    _syrk(_LOWER, _PLAIN, size, count, _ONE, _address(rows), size, _ONE, _address(matrix), size)


def _size_of(matrix: Matrix) -> Any:
    assert matrix.flags.f_contiguous
    assert matrix.flags.writeable
    assert matrix.shape[0] == matrix.shape[1]
    return ctypes.byref(ctypes.c_int(len(matrix)))


def _address(array: Matrix) -> ctypes.c_void_p:
    assert array.dtype == float
    return ctypes.c_void_p(array.ctypes.data)

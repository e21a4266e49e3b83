"""LAPACK and BLAS in place, without Python's lock.

scipy's own wrappers hold the lock while they compute: other threads would wait for as long as a matrix is inverted. The
functions that scipy offers to compiled code are the same ones, and called through ctypes they let other threads run.
All take matrices of one type, double or single precision, in Fortran order, and read and write their
lower triangle alone, or that triangle packed.
"""

import ctypes
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from exll.errors import SingularError
from exll.types import Matrix, Vector

_LOWER, _PLAIN, _TRANSPOSED, _RIGHT = (ctypes.byref(ctypes.c_char(letter)) for letter in (b"L", b"N", b"T", b"R"))
_LEFT = _LOWER  # the same letter
FEW_ROWS = 3  # so many are solved faster one by one
_ONE = {
    np.dtype(np.float64): ctypes.byref(ctypes.c_double(1.0)),
    np.dtype(np.float32): ctypes.byref(ctypes.c_float(1.0)),
}
_MINUS_ONE = {
    np.dtype(np.float64): ctypes.byref(ctypes.c_double(-1.0)),
    np.dtype(np.float32): ctypes.byref(ctypes.c_float(-1.0)),
}

_python = ctypes.pythonapi
_python.PyCapsule_GetName.restype = ctypes.c_char_p
_python.PyCapsule_GetName.argtypes = [ctypes.py_object]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

_INTEGERS = {"int *": ctypes.c_int, "int64_t *": ctypes.c_int64}


def _function(module: Any, name: str, arguments: int) -> Any:
    """All arguments are addresses, as in Fortran; the capsule's name is the signature."""
    capsule = module.__pyx_capi__[name]
    signature: bytes = _python.PyCapsule_GetName(capsule)
    if _integer_of(signature.decode()) is not _Integer or signature.count(b"*") != arguments:
        raise ImportError(f"this scipy's {name} takes other arguments: {signature.decode()}")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(_python.PyCapsule_GetPointer(capsule, signature))


def _integer_of(signature: str) -> Any:
    """The type of its integers, by the one name that all of them have."""
    parameters = signature.partition("(")[2].rstrip(")").split(",")
    names = {parameter.strip() for parameter in parameters if "int" in parameter}
    return _INTEGERS.get(names.pop()) if len(names) == 1 else None


def _functions(module: Any, name: str, arguments: int) -> dict[Any, Any]:
    """By the type of the numbers."""
    letters = {np.float64: "d", np.float32: "s"}
    return {np.dtype(kind): _function(module, letter + name, arguments) for kind, letter in letters.items()}


_Integer: Any = _integer_of(_python.PyCapsule_GetName(cython_lapack.__pyx_capi__["dpotrf"]).decode())
_STEP = ctypes.byref(_Integer(1))
_potrf = _functions(cython_lapack, "potrf", 5)
_potri = _functions(cython_lapack, "potri", 5)
_syrk = _functions(cython_blas, "syrk", 10)
_trsm = _functions(cython_blas, "trsm", 11)
_trsv = _functions(cython_blas, "trsv", 8)
_sfrk = _functions(cython_lapack, "sfrk", 10)


def cholesky(matrix: Matrix) -> None:
    """Its lower factor, written over it."""
    size, info = _size_of(matrix), _Integer()
    _potrf[matrix.dtype](_LOWER, size, _address(matrix), size, ctypes.byref(info))
    if info.value != 0:
        raise SingularError("a covariance cannot be inverted: its numbers are too large, or its model file was forged")


def invert_factored(factor: Matrix) -> None:
    """The inverse of a matrix, written over its factor."""
    size, info = _size_of(factor), _Integer()
    _potri[factor.dtype](_LOWER, size, _address(factor), size, ctypes.byref(info))
    if info.value != 0:
        raise SingularError("a factor with a zero on its diagonal has no inverse")


def solve_factor(factor: Matrix, rows: Matrix) -> None:
    r"""$L^{-1} V$ for a factor L, written over the rows of V."""
    _check(rows.flags.c_contiguous and rows.flags.writeable and len(rows) == len(factor) and rows.dtype == factor.dtype)
    if not rows.size:
        return
    size, width = _size_of(factor), ctypes.byref(_Integer(rows.shape[1]))
    one, solve = _ONE[rows.dtype], _trsm[rows.dtype]
    solve(_RIGHT, _LOWER, _TRANSPOSED, _PLAIN, width, size, one, _address(factor), size, _address(rows), width)


def solve_rows(factor: Matrix, rows: Matrix, *, transposed: bool = False) -> None:
    r"""$L^{-1} x$, or $L^{-T} x$, for a factor L, written over every row x."""
    _check(rows.flags.c_contiguous and rows.flags.writeable)
    _check(rows.shape[1] == len(factor) and rows.dtype == factor.dtype)
    if not rows.size:
        return
    size, count = _size_of(factor), ctypes.byref(_Integer(len(rows)))
    way, one, solve = _TRANSPOSED if transposed else _PLAIN, _ONE[rows.dtype], _trsm[rows.dtype]
    if len(rows) <= FEW_ROWS:
        for row in rows:
            _trsv[rows.dtype](_LOWER, way, _PLAIN, size, _address(factor), size, _address(row), _STEP)
        return
    solve(_LEFT, _LOWER, way, _PLAIN, size, count, one, _address(factor), size, _address(rows), size)


def add_outer_products(matrix: Matrix, rows: Matrix) -> None:
    """Add the outer products of rows, which lie one after the other."""
    _check(rows.flags.c_contiguous and rows.shape[1] == len(matrix) and rows.dtype == matrix.dtype)
    size, count, one = _size_of(matrix), ctypes.byref(_Integer(len(rows))), _ONE[rows.dtype]
    _syrk[rows.dtype](_LOWER, _PLAIN, size, count, one, _address(rows), size, one, _address(matrix), size)


def add_outer_products_packed(triangle: Vector, rows: Matrix, *, subtract: bool = False) -> None:
    """The same for a lower triangle in rectangular full packed form: half the memory, and as fast."""
    width = rows.shape[1]
    _check(rows.flags.c_contiguous and triangle.flags.c_contiguous and triangle.flags.writeable)
    _check(triangle.shape == (width * (width + 1) // 2,) and rows.dtype == triangle.dtype)
    size, count, one = ctypes.byref(_Integer(width)), ctypes.byref(_Integer(len(rows))), _ONE[rows.dtype]
    factor = (_MINUS_ONE if subtract else _ONE)[rows.dtype]
    _sfrk[rows.dtype](_PLAIN, _LOWER, _PLAIN, size, count, factor, _address(rows), size, one, _address(triangle))


def _size_of(matrix: Matrix) -> Any:
    _check(matrix.flags.f_contiguous and matrix.flags.writeable and matrix.shape[0] == matrix.shape[1])
    return ctypes.byref(_Integer(len(matrix)))


def _address(array: Matrix | Vector) -> ctypes.c_void_p:
    _check(array.dtype in _ONE)
    return ctypes.c_void_p(array.ctypes.data)


def _check(usable: bool) -> None:
    """Only such matrices may be written to by their address."""
    if not usable:
        raise ValueError("LAPACK is given numbers of one type in its own order, of sizes that fit")

"""What a learner is made of."""

from typing import Protocol, runtime_checkable

from exll.types import Tensors


class Part(Protocol):
    """A part starts empty. Then it learns with ``learn``, or takes over a saved state with ``restore``; both need what
    is particular to the part."""

    def state(self) -> Tensors:
        """All that it holds, as named arrays, for a file."""
        ...

    @property
    def nbytes(self) -> int: ...


@runtime_checkable
class ClassPart(Part, Protocol):
    """One that numbers the classes, and follows when two of them become one."""

    def merge(self, kept: int, absorbed: int) -> None:
        """Class ``absorbed`` becomes part of class ``kept``; the later classes move up by one place."""
        ...

    def remove_class(self, k: int) -> None:
        """Class k, of which nothing is left elsewhere, is gone; the later classes move up by one place."""
        ...

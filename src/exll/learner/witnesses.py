"""Witnesses: a fair sample of the stream, kept to judge the model by leaving each of them out."""

import numpy as np
from numpy.typing import NDArray

from exll.learner.growing import GrowingArray
from exll.types import Indices, Tensors, Vector

MOST = 1024
_MASK = (1 << 64) - 1


class Witnesses:
    """At most 1,024 samples, every sample of the stream as likely to be among them as any other.

    Which ones is a function of their places in the stream alone (reservoir sampling with a fixed sequence of numbers),
    so the same stream always has the same witnesses.
    """

    def __init__(self, width: int) -> None:
        self._vectors = GrowingArray((width,), np.float32)
        self._classes = GrowingArray((), np.int64)
        self._prototypes = GrowingArray((), np.int64)

    def __len__(self) -> int:
        return len(self._classes)

    @property
    def vectors(self) -> NDArray[np.float32]:
        return self._vectors.filled

    @property
    def classes(self) -> Indices:
        return self._classes.filled

    @property
    def prototypes(self) -> Indices:
        """The ids of the prototypes that they joined."""
        return self._prototypes.filled

    def learn(self, position: int, x: Vector, k: int, prototype: int) -> None:
        if position < MOST:
            self._vectors.append(x)
            self._classes.append(k)
            self._prototypes.append(prototype)
            return
        place = _scrambled(position) % (position + 1)
        if place < MOST:
            self.vectors[place] = x
            self.classes[place] = k
            self.prototypes[place] = prototype

    def follow_merge_of_prototypes(self, kept: int, retired: int) -> None:
        self.prototypes[self.prototypes == retired] = kept

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        self.classes[self.classes == absorbed] = kept
        self.classes[self.classes > absorbed] -= 1

    @property
    def nbytes(self) -> int:
        return self._vectors.nbytes + self._classes.nbytes + self._prototypes.nbytes

    def state(self) -> Tensors:
        return {"vectors": self.vectors, "classes": self.classes, "prototypes": self.prototypes}

    def restore(self, state: Tensors, width: int, samples: int, class_of: dict[int, int]) -> None:
        """``class_of`` gives the class of every prototype by its id."""
        self._vectors = GrowingArray((width,), np.float32, state["vectors"])
        self._classes = GrowingArray((), np.int64, state["classes"])
        self._prototypes = GrowingArray((), np.int64, state["prototypes"])
        if {len(self._vectors), len(self._prototypes), min(samples, MOST)} != {len(self)}:
            raise ValueError("witnesses differ in number")
        if [class_of.get(prototype) for prototype in self.prototypes.tolist()] != self.classes.tolist():
            raise ValueError("a witness belongs to no prototype of its class")


def _scrambled(number: int) -> int:
    """64 bits that look random, always the same for the same number (the finaliser of SplitMix64)."""
    number = (number + 1) * 0x9E3779B97F4A7C15 & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31

"""What the stream itself showed of every class lately: used to judge which classes need more examples."""

from dataclasses import dataclass

import numpy as np

from exll.linalg.growing_array import GrowingArray
from exll.types import Indices, Tensors

SPAN = 32
UNTESTED = -1


@dataclass(frozen=True)
class ClassHistory:
    """The last examples of one class, oldest first, as it was before each was learned."""

    answers: (
        Indices  # the class each was taken for; UNTESTED where there was no choice: its first, and while it was alone
    )
    opened: int  # how many of them opened a prototype


class History:
    """The last 32 examples of every class: what each was taken for before it was learned, and whether it opened a
    prototype. A few bytes per class, however long the stream."""

    def __init__(self) -> None:
        self._answers = GrowingArray((SPAN,), np.int32)  # rings: the newest at seen - 1, modulo SPAN
        self._opened = GrowingArray((SPAN,), np.bool_)
        self._seen = GrowingArray((), np.int64)

    def learn(self, k: int, answer: int, opened: bool) -> None:
        """An example of class k was taken for ``answer``; a class not met before starts here."""
        if k == len(self._seen):
            self._answers.append(UNTESTED)
            self._opened.append(False)
            self._seen.append(0)
        seen = int(self._seen.filled[k])
        place = seen % SPAN
        self._answers.filled[k, place] = answer
        self._opened.filled[k, place] = opened
        self._seen.filled[k] = seen + 1

    def of(self, k: int) -> ClassHistory:
        places = self._places(k)
        return ClassHistory(self._answers.filled[k, places].astype(np.int64), int(self._opened.filled[k, places].sum()))

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes. What came first is not known, so each gives its newest half."""
        places = [(k, self._places(k)[-SPAN // 2 :]) for k in (absorbed, kept)]
        answers = np.concatenate([self._answers.filled[k, some] for k, some in places])
        opened = np.concatenate([self._opened.filled[k, some] for k, some in places])
        self._answers.filled[kept, : len(answers)] = answers
        self._opened.filled[kept, : len(opened)] = opened
        self._seen.filled[kept] = len(answers)
        for array in (self._answers, self._opened, self._seen):
            array.remove(absorbed)
        named = self._answers.filled
        named[named == absorbed] = kept
        named[named > absorbed] -= 1

    def forget(self, k: int, count: int) -> None:
        """An example of a class is gone, and so many are left: nobody knows what it was taken for, so the oldest is
        dropped where there would be more than examples."""
        if self._seen.filled[k] > count:
            kept = self._places(k)[-count:]
            for array in (self._answers, self._opened):
                array.filled[k, : len(kept)] = array.filled[k, kept]
            self._seen.filled[k] = len(kept)

    def remove_class(self, k: int) -> None:
        """The later classes move up by one place."""
        for array in (self._answers, self._opened, self._seen):
            array.remove(k)
        named = self._answers.filled
        named[named == k] = UNTESTED
        named[named > k] -= 1

    def absorb(self, other: "History", numbers: Indices) -> None:
        """That of another learner, whose classes have these numbers here. What came first is not known, so each gives
        its newest half where they have more than fits."""
        for index, k in enumerate(numbers.tolist()):
            theirs = other._places(index)
            answers = other._answers.filled[index, theirs]
            answers = np.where(answers == UNTESTED, UNTESTED, numbers[answers])
            opened = other._opened.filled[index, theirs]
            if k < len(self._seen):
                mine = self._places(k)
                room = max(SPAN // 2, SPAN - len(theirs))
                answers = np.concatenate([self._answers.filled[k, mine[-room:]], answers])[-SPAN:]
                opened = np.concatenate([self._opened.filled[k, mine[-room:]], opened])[-SPAN:]
            else:
                self._answers.append(UNTESTED)
                self._opened.append(False)
                self._seen.append(0)
            self._answers.filled[k, : len(answers)] = answers
            self._opened.filled[k, : len(opened)] = opened
            self._seen.filled[k] = len(answers)

    def _places(self, k: int) -> Indices:
        seen = int(self._seen.filled[k])
        return np.arange(max(0, seen - SPAN), seen) % SPAN

    @property
    def nbytes(self) -> int:
        return self._answers.nbytes + self._opened.nbytes + self._seen.nbytes

    def state(self) -> Tensors:
        return {"answers": self._answers.filled, "opened": self._opened.filled, "seen": self._seen.filled}

    def restore(self, state: Tensors, classes: int) -> None:
        self._answers = GrowingArray((SPAN,), np.int32, state["answers"])
        self._opened = GrowingArray((SPAN,), np.bool_, state["opened"])
        self._seen = GrowingArray((), np.int64, state["seen"])
        answers = self._answers.filled
        if {len(answers), len(self._opened), len(self._seen)} != {classes} or (self._seen.filled < 1).any():
            raise ValueError("the history has another number of classes")
        if answers.min(initial=0) < UNTESTED or answers.max(initial=0) >= classes:
            raise ValueError("the history names a class that does not exist")

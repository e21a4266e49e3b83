"""What a learner remembers of the samples themselves: names, and vectors where asked for. Never images.

Four kinds, one interface (:class:`Records`): ``"none"``; ``"refs"``, the prototype and the ref of every sample;
``"vectors"``, its vector too (:mod:`exll.linalg.fixed_point`); an integer N, the N samples nearest each centre, with
vectors, which bounds what a prototype can hold. A sample's position is its own for ever, also when others were
forgotten.
"""

from exll.learner.records.every import AllRecords
from exll.learner.records.nearest import NearestRecords, nearest_first
from exll.learner.records.none import NoRecords
from exll.learner.records.record import NO_GROUP, AllVectors, Record, Records, Sample
from exll.types import RecordsKind

__all__ = [
    "NO_GROUP",
    "AllRecords",
    "AllVectors",
    "NearestRecords",
    "Record",
    "Records",
    "Sample",
    "nearest_first",
    "new_records",
]


def new_records(kind: RecordsKind, width: int) -> Records:
    if kind == "none":
        return NoRecords()
    if isinstance(kind, str):
        return AllRecords(width, with_vectors=kind == "vectors")
    return NearestRecords(width, kind)

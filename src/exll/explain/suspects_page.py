"""Examples whose label looks wrong, as a page: each beside examples of the class that contradicts it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exll.explain.page import render
from exll.explain.suspects import Contradiction, Suspect, Suspects
from exll.explain.thumbnails import Thumbnail, Thumbnails
from exll.learner.exll import ExLL
from exll.types import Label, Vector

SIDE = 160
PICTURES = 3  # of each class
LOOKED_AT = 24  # examples: the nearest ones, of which those are shown that have a picture


@dataclass(frozen=True)
class Case:
    """A suspect, its picture, and the most similar examples of both classes."""

    suspect: Suspect
    picture: Thumbnail
    taught_as: Sequence[Thumbnail]
    would_be: Sequence[Thumbnail]


def page(
    found: Suspects,
    top: int,
    learner: ExLL,
    title: str,
    thumbnails: Thumbnails,
    step: Callable[[], None] = lambda: None,
) -> str:
    """The whole file as text; ``step`` is called after each suspect."""
    named = found.contradicted()
    cases = []
    for suspect in named[:top]:
        cases.append(_case(suspect, learner, thumbnails))
        step()
    return render(
        "suspects.html",
        title=title,
        summary=found.summary(),
        cases=cases,
        left_out=len(named) - len(cases),
        contradictions=[_several_labels(one, thumbnails) for one in found.contradictions[:top]],
        contradictions_left_out=max(0, len(found.contradictions) - top),
    )


def _several_labels(one: Contradiction, thumbnails: Thumbnails) -> tuple[Thumbnail, list[tuple[str, Label]]]:
    """The image, and its names with their labels."""
    return thumbnails.some(one.names, 1)[0], list(zip(one.names, one.labels, strict=True))


def _case(suspect: Suspect, learner: ExLL, thumbnails: Thumbnails) -> Case:
    (record,) = learner.records_at([suspect.position])
    assert record.vector is not None  # without vectors nothing is suspected
    x = record.vector.astype("float64")

    def shown(label: Label) -> Sequence[Thumbnail]:
        names = [name for name in _nearest(learner, label, x) if name != suspect.name]
        return thumbnails.some(names, PICTURES)

    return Case(suspect, thumbnails.of(suspect.name), shown(suspect.label), shown(suspect.would_be))


def _nearest(learner: ExLL, label: Label, x: Vector) -> list[str]:
    """The names of the examples of a class that are most similar to x."""
    with learner.lock:
        prototypes = learner.megacloud(learner.labels.index(label)).prototypes.tolist()
        found = [pair for prototype in prototypes for pair in learner.closest_records(prototype, x, LOOKED_AT)]
    found.sort(key=lambda pair: -(pair[1] or 0.0))
    return [record.name for record, _ in found]

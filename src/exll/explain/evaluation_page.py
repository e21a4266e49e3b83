"""An evaluation as a page: totals, confidence, classes, confusions, and the worst mistakes in pictures."""

from dataclasses import dataclass

from exll.explain.evaluation import WORST, Evaluation, Mistake
from exll.explain.page import render
from exll.explain.thumbnails import Thumbnail, Thumbnails
from exll.types import Label

CLASSES_OPEN = 15  # of the table by class; the others are folded
MOST_CONFUSED = 24  # classes in the matrix, so that it can be read
SHADES = 9


@dataclass(frozen=True)
class Cell:
    """How many examples of a class got one answer; ``shade`` from 0 to 9 is their share."""

    count: int
    shade: int
    right: bool = False


@dataclass(frozen=True)
class MatrixRow:
    """The answers for one class, in the order of the columns, then those that the columns leave out."""

    label: Label
    cells: tuple[Cell, ...]
    others: Cell
    unknown: Cell


@dataclass(frozen=True)
class PicturedMistake:
    mistake: Mistake
    asked: Thumbnail
    resembles: Thumbnail | None


def page(evaluation: Evaluation, title: str, thumbnails: Thumbnails) -> str:
    """The whole file as text."""
    columns = confused_classes(evaluation)
    return render(
        "evaluation.html",
        title=title,
        evaluation=evaluation,
        counts=evaluation.counts,
        open=evaluation.classes[:CLASSES_OPEN],
        folded=evaluation.classes[CLASSES_OPEN:],
        columns=columns,
        confused=len({label for one in evaluation.confusions for label in (one.truth, one.label)}),
        matrix=_matrix(evaluation, columns),
        mistakes=[
            PicturedMistake(
                one, thumbnails.of(one.name), None if one.resembles is None else thumbnails.of(one.resembles)
            )
            for one in evaluation.mistakes[:WORST]
        ],
    )


def confused_classes(evaluation: Evaluation) -> list[Label]:
    """The classes of the most frequent confusions, each beside the one that it is confused with."""
    found: dict[Label, None] = {}
    for confusion in evaluation.confusions:
        pair = {confusion.truth: None, confusion.label: None}
        if len(found | pair) > MOST_CONFUSED:
            break
        found |= pair
    return list(found)


def _matrix(evaluation: Evaluation, columns: list[Label]) -> list[MatrixRow]:
    answered = {(one.truth, one.label): one.count for one in evaluation.confusions}
    counts = {one.label: one.counts for one in evaluation.classes}
    rows = []
    for truth in columns:
        own = counts.get(truth)
        if own is None:  # a class that others are taken for, with no examples of its own here
            continue
        answered[truth, truth] = own.right + own.unusual_right

        def cell(count: int, right: bool = False, examples: int = own.examples) -> Cell:
            return Cell(count, -(-count * SHADES // examples), right)

        cells = tuple(cell(answered.get((truth, label), 0), truth == label) for label in columns)
        others = own.examples - own.unknown - sum(one.count for one in cells)
        rows.append(MatrixRow(truth, cells, cell(others), cell(own.unknown)))
    return rows

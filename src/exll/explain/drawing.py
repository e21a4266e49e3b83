"""The map of a model as shapes to draw: what every drawing of it, on a page or as a picture, is made from.

Coordinates run from 0 to ``SIDE``, y downwards as in SVG.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from exll.explain.topology import PlacedLabel, Topology, colours, place_labels, voronoi_of
from exll.explain.wording import counted, file_name, readable
from exll.types import Matrix, Vector

SIDE = 1000
CROWDED = 40  # classes: with more than so many a drawing needs a whole page to be read
LETTERS = ((12, 30.0), (CROWDED, 22.0), (float("inf"), 13.0))  # their height by the number of classes
LONGEST_LABEL, LONGEST_FULL = 24, 300
OTHERS = 0.75  # the height of a second name of a class, as a share of the first's
CIRCLES = "A circle is a prototype, its area the examples in it; lines join neighbours of a class."
REGIONS = (
    "Around each prototype, the points of this map that are nearest to it; strong lines where the class changes. These "
    "are not decision regions: the model decides in all dimensions."
)
NOT_DECISIONS = "Not decision regions: the model decides in all dimensions"


@dataclass(frozen=True)
class DrawnClass:
    label: str
    name: str  # the label, cut to fit a drawing
    colour: str
    examples: int
    prototypes: int


@dataclass(frozen=True)
class Circle:
    """The prototype in row ``row`` of the topology, of class ``k``; ``words`` say what it is."""

    row: int
    k: int
    x: float
    y: float
    radius: float
    words: str


@dataclass(frozen=True)
class Line:
    """An edge; ``strength`` is above 0, and 1 for the strongest."""

    k: int
    start: tuple[float, float]
    end: tuple[float, float]
    strength: float


@dataclass(frozen=True)
class Name:
    """The name of a class; where it does not fit, it shows only while its class is pointed at."""

    k: int
    x: float
    y: float
    height: float
    fits: bool


@dataclass(frozen=True)
class Cell:
    """The region of the prototype in row ``row``."""

    row: int
    k: int
    corners: list[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """One drawing of the map: edges and circles, or regions and the borders between classes."""

    classes: list[DrawnClass]
    names: list[Name]
    words: str
    lines: Sequence[Line] = ()
    circles: Sequence[Circle] = ()
    cells: Sequence[Cell] = ()
    borders: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()
    remark: str = ""  # what stands on the drawing itself, at the top: no prototype lies there

    @property
    def caption(self) -> str:
        if not self.left_out:
            return self.words
        return f"{self.words} There is no room for {self.left_out:,} of {counted(len(self.classes), 'name')}."

    @property
    def left_out(self) -> int:
        return len(self.classes) - len({name.k for name in self.names if name.fits})


def circles_of(topology: Topology) -> Panel:
    """The prototypes as circles."""
    x, y = (points.tolist() for points in _on_page(topology.positions))
    radii, classes = SIDE * topology.radii, topology.class_of.tolist()
    strongest = max((count for _, _, count in topology.edges), default=1)
    return Panel(
        drawn_classes(topology),
        _names(topology, topology.radii),
        CIRCLES,
        lines=[
            Line(classes[one], (x[one], y[one]), (x[other], y[other]), (count / strongest) ** 0.5)
            for one, other, count in topology.edges
        ],
        circles=[
            Circle(j, classes[j], x[j], y[j], float(radii[j]), description(topology, j)) for j in topology.largest_first
        ],
    )


def regions_of(topology: Topology) -> Panel:
    """The regions nearest each prototype."""
    voronoi = voronoi_of(topology)
    return Panel(
        drawn_classes(topology),
        _names(topology, None),
        REGIONS,
        remark=NOT_DECISIONS,
        cells=[Cell(j, int(topology.class_of[j]), _points(cell)) for j, cell in voronoi.cells.items()],
        borders=[(start, end) for start, end in map(_points, voronoi.borders)],
    )


def drawn_classes(topology: Topology) -> list[DrawnClass]:
    prototypes = np.bincount(topology.class_of).tolist()
    examples = np.bincount(topology.class_of, weights=topology.supports).astype(int).tolist()
    parts = zip(topology.labels, colours(len(topology.labels)), examples, prototypes, strict=True)
    return [
        DrawnClass(readable(label, LONGEST_FULL), readable(label, LONGEST_LABEL), colour, taught, groups)
        for label, colour, taught, groups in parts
    ]


def description(topology: Topology, j: int) -> str:
    """A prototype in words: "mug, prototype 7, 12 examples: a.jpg, b.jpg and 10 more"."""
    names, words = [file_name(name) for name in topology.names[j]], heading(topology, j)
    if not names:
        return words
    more = int(topology.supports[j]) - len(names)
    return f"{words}: {', '.join(names)}" + (f" and {more:,} more" if more else "")


def heading(topology: Topology, j: int) -> str:
    """A prototype in few words: "mug, prototype 7, 12 examples"."""
    label = readable(topology.labels[topology.class_of[j]], LONGEST_FULL)
    return f"{label}, prototype {topology.ids[j]}, {counted(int(topology.supports[j]), 'example')}"


def _names(topology: Topology, radii: Vector | None) -> list[Name]:
    height = next(height for most, height in LETTERS if len(topology.labels) <= most)
    placed = place_labels(topology, _sizes(topology, height), radii, OTHERS)
    return [*_placed_names(topology, placed, height), *_hidden_names(topology, placed, height)]


def _placed_names(topology: Topology, placed: list[PlacedLabel], height: float) -> Iterator[Name]:
    for label in placed:
        ((x, y),) = _points(np.array([label.centre]))
        yield Name(int(topology.class_of[label.prototype]), x, y, height if label.main else OTHERS * height, True)


def _hidden_names(topology: Topology, placed: list[PlacedLabel], height: float) -> Iterator[Name]:
    """At the largest prototype of each class whose name did not fit."""
    seen = {int(topology.class_of[label.prototype]) for label in placed}
    for j in topology.largest_first:
        k = int(topology.class_of[j])
        if k not in seen:
            seen.add(k)
            ((x, y),) = _points(topology.positions[[j]])
            yield Name(k, x, y, height, False)


def _on_page(points: Matrix) -> Matrix:
    """Rows x and y."""
    return np.stack([SIDE * points[:, 0], SIDE * (1 - points[:, 1])])


def _points(points: Matrix) -> list[tuple[float, float]]:
    return [(x, y) for x, y in _on_page(points).T.tolist()]


def _sizes(topology: Topology, height: float) -> Matrix:
    """The reader's font is not known here, so widths are estimates on the wide side."""
    share = height / SIDE
    labels = [readable(label, LONGEST_LABEL) for label in topology.labels]
    return np.array([(share * (0.3 + sum(map(_ems, label))), 1.2 * share) for label in labels])


def _ems(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.1
    return 0.72 if character.isupper() or character in "mwMW@%…" else 0.57

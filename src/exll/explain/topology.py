"""The map of a model: its prototypes laid out in two dimensions, and what both of its drawings need.

Positions come from the centres alone, by Euclidean distance. They show which are close; they are not what inference
measures, which happens in all dimensions and with the precision.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.errors import InputError
from exll.explain.wording import counted
from exll.learner.exll import ExLL
from exll.types import Indices, Label, Matrix, Vector

MethodName: TypeAlias = Literal["auto", "tsne", "pca"]

NAMES_KEPT = 5
FEWEST_FOR_TSNE = 12
FEWEST_FOR_TSNE_AT_ALL = 4
DIMENSIONS_BEFORE_TSNE = 50
PERPLEXITY = 30.0
LARGE = 2000  # from here on t-SNE takes half its usual steps: 5,000 prototypes in 20 seconds, on one thread
MARGIN = 0.06
SAME_PLACE = 1e-9
STRETCH = {"pca": 1.0, "tsne": 4.0}  # distances of t-SNE have no scale to keep, those of PCA do

FILLED, LARGEST, SMALLEST = 0.16, 0.05, 0.0045  # share of the frame, then radii
GAP = 0.004

# Okabe and Ito's palette, without its black: told apart with any kind of colour vision.
FEW_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442")
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


@dataclass(frozen=True)
class Topology:
    """Prototypes on the unit square; ``class_of`` counts into ``labels``, an edge is (one, other, count)."""

    positions: Matrix  # (P, 2)
    ids: Indices
    supports: Indices
    class_of: Indices
    labels: tuple[Label, ...]
    edges: list[tuple[int, int, int]]
    names: list[tuple[str, ...]]
    method: str

    @property
    def radii(self) -> Vector:
        """Of the circles: their areas stand to each other as the supports do, down to the smallest one can see."""
        roots = np.sqrt(self.supports)
        scale = min(math.sqrt(FILLED / (math.pi * self.supports.sum())), LARGEST / roots.max())
        return np.asarray(np.maximum(scale * roots, SMALLEST))

    @property
    def largest_first(self) -> list[int]:
        """The order to draw in, so that a small circle lies on top of a large one."""
        return sorted(range(len(self.supports)), key=lambda j: (-self.supports[j], j))

    def summary(self) -> str:
        method = {"tsne": "t-SNE", "pca": "PCA"}[self.method]
        parts = ((len(self.supports), "prototype"), (len(self.labels), "class"), (int(self.supports.sum()), "example"))
        prototypes, classes, examples = (counted(*part) for part in parts)
        return f"{prototypes} in {classes}, from {examples}, by {method}"


def topology_of(learner: ExLL, method: MethodName = "auto", seed: int = 0) -> Topology:
    """Lay out a learner's prototypes: t-SNE, or PCA where there are fewer than 12 of them or it is asked for.

    The learner is held only while its tables are copied. The same learner and seed give the same positions.
    """
    if method not in ("auto", "tsne", "pca"):
        raise InputError(f"The 'method' of a map must be 'auto', 'tsne' or 'pca'. Got {method!r} instead.")
    with learner.lock:
        if not learner.prototype_count:
            raise InputError("a map needs at least one prototype; this model has learned nothing yet.")
        centres, ids, class_of = learner.centres
        supports = np.array(list(learner.supports.values()), np.int64)
        row_of = {prototype: row for row, prototype in enumerate(ids.tolist())}
        edges = [
            (min(row_of[one], row_of[other]), max(row_of[one], row_of[other]), n)
            for k in range(learner.class_count)
            for (one, other), n in learner.megacloud(k).edges.items()
        ]
        names = [tuple(r.name for r in learner.records(j)[:NAMES_KEPT]) for j in ids.tolist()]
        labels = learner.labels
    fewest = FEWEST_FOR_TSNE_AT_ALL if method == "tsne" else FEWEST_FOR_TSNE
    used = "pca" if method == "pca" or len(centres) < fewest else "tsne"
    positions = _in_frame(_flat(centres, used, seed), STRETCH[used])
    return Topology(positions, ids, supports, class_of, labels, sorted(edges), names, used)


def _flat(centres: Matrix, method: str, seed: int) -> Matrix:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    count, width = centres.shape
    if np.ptp(centres, axis=0).max() < SAME_PLACE:  # one prototype, or all in one place
        return np.zeros((count, 2))
    kept = min(DIMENSIONS_BEFORE_TSNE if method == "tsne" else 2, count, width)
    with threadpool_limits(1):  # sums of several threads would differ in their last bits from run to run
        reduced: Matrix = PCA(kept, random_state=seed).fit_transform(centres)
        flat = np.pad(reduced[:, :2], ((0, 0), (0, max(0, 2 - kept))))
        if method == "pca":
            return flat
        # from the first two components, as small as t-SNE wants it, and shaken a little by the seed
        start = flat / flat.std() + 0.1 * np.random.default_rng(seed).normal(size=flat.shape)
        tsne = TSNE(
            perplexity=min(PERPLEXITY, (count - 1) / 3),
            init=1e-4 * start,
            max_iter=1000 if count < LARGE else 500,
            random_state=seed,
        )
        return np.asarray(tsne.fit_transform(reduced))


def _in_frame(points: NDArray[np.floating], stretch: float) -> Matrix:
    """Into the square, the shorter axis drawn out by ``stretch`` at most; rounded to what a drawing can show."""
    points = points.astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    longest = max(float((high - low).max()), SAME_PLACE)
    extents = np.maximum(high - low, longest / stretch)
    return np.asarray(np.round(0.5 + (1 - 2 * MARGIN) * (points - (low + high) / 2) / extents, 6))


@dataclass(frozen=True)
class Voronoi:
    """Regions of the unit square nearest each prototype, and the borders where the class changes.

    Prototypes in one and the same place share a region; it is the one of the largest, the others have none.
    """

    cells: dict[int, Matrix]
    borders: list[Matrix]


def voronoi_of(topology: Topology) -> Voronoi:
    """Mirrored in the four sides of the square, the points bound each other's regions exactly at its frame."""
    from scipy.spatial import Voronoi as Diagram

    owners: dict[tuple[float, float], int] = {}
    for j in topology.largest_first:
        owners.setdefault(tuple(topology.positions[j].tolist()), j)
    owner = list(owners.values())
    points = topology.positions[owner]
    mirrored = [points * (-1, 1), points * (1, -1), points * (-1, 1) + (2, 0), points * (1, -1) + (0, 2)]
    diagram = Diagram(np.concatenate([points, *mirrored]))
    vertices = diagram.vertices.clip(0, 1)
    cells = {j: vertices[diagram.regions[diagram.point_region[i]]] for i, j in enumerate(owner)}
    borders = [
        vertices[ridge]
        for (one, other), ridge in zip(diagram.ridge_points.tolist(), diagram.ridge_vertices, strict=True)
        if max(one, other) < len(owner) and topology.class_of[owner[one]] != topology.class_of[owner[other]]
    ]
    return Voronoi(cells, borders)


@dataclass(frozen=True)
class PlacedLabel:
    """The label of a prototype's class in a box around ``centre``; ``main`` at the class's largest prototype."""

    prototype: int
    centre: tuple[float, float]
    size: tuple[float, float]
    main: bool


def place_labels(
    topology: Topology, sizes: Matrix, radii: Vector | None, others: float | None = None
) -> list[PlacedLabel]:
    """Boxes that overlap no other and stay inside the frame; what does not fit is left out.

    ``sizes`` (classes, 2) are the labels' widths and heights. Every class gets its label at its largest prototype,
    large classes first: inside the circle, else beside it, where it covers the fewest circles; without ``radii``,
    centred on the prototype. Only where every class got its label, and ``others`` says at which scale, the other
    prototypes get theirs too, as far as they cover no other circle.
    """
    placing = _Placing(topology, np.zeros(len(topology.supports)) if radii is None else radii, radii is None)
    largest = {int(topology.class_of[j]): j for j in reversed(topology.largest_first)}  # of each class
    counts = np.bincount(topology.class_of, weights=topology.supports)
    for k, j in sorted(largest.items(), key=lambda item: (-counts[item[0]], item[0])):
        placing.place(j, sizes[k], True)
    if others is not None and len(placing.placed) == len(largest):
        for j in topology.largest_first:
            if j != largest[k := int(topology.class_of[j])]:
                placing.place(j, others * sizes[k], False)
    return placing.placed


class _Placing:
    def __init__(self, topology: Topology, radii: Vector, on_top: bool) -> None:
        self._topology, self._radii, self._on_top = topology, radii, on_top
        self.placed: list[PlacedLabel] = []
        self._boxes = np.empty((len(radii), 4))  # centre and size

    def place(self, j: int, size: Vector, main: bool) -> None:
        free = [centre for centre in self._candidates(j, size) if self._is_free(centre, size)]
        covered = [self._covered(j, centre, size) for centre in free]
        if not free or (not main and min(covered) > 0):
            return
        x, y = free[covered.index(min(covered))]
        self._boxes[len(self.placed)] = x, y, *size
        self.placed.append(PlacedLabel(j, (x, y), (float(size[0]), float(size[1])), main))

    def _candidates(self, j: int, size: Vector) -> list[tuple[float, float]]:
        (x, y), r, (w, h) = self._topology.positions[j].tolist(), float(self._radii[j]), size.tolist()
        right, up = r + GAP + w / 2, r + GAP + h / 2
        slant_right, slant_up = 0.7 * r + GAP + w / 2, 0.7 * r + GAP + h / 2
        inside = [(0.0, 0.0)] if self._on_top or math.hypot(w, h) <= 2 * r else []
        beside = [(right, 0.0), (-right, 0.0), (0.0, up), (0.0, -up)]
        slanted = [(a * slant_right, b * slant_up) for a in (1, -1) for b in (1, -1)]
        return [(x + dx, y + dy) for dx, dy in inside + beside + slanted]

    def _is_free(self, centre: tuple[float, float], size: Vector) -> bool:
        if any(abs(c - 0.5) + s / 2 > 0.5 for c, s in zip(centre, size, strict=True)):
            return False
        boxes = self._boxes[: len(self.placed)]
        apart = 2 * np.abs(boxes[:, :2] - centre) >= boxes[:, 2:] + size
        return bool(apart.any(axis=1).all())

    def _covered(self, j: int, centre: tuple[float, float], size: Vector) -> int:
        """How many other circles the box touches."""
        if self._on_top:
            return 0
        beyond = np.maximum(np.abs(self._topology.positions - centre) - size / 2, 0)
        touched = (beyond**2).sum(axis=1) < self._radii**2
        touched[j] = False
        return int(touched.sum())


def colours(count: int) -> list[str]:
    """One colour per class: Okabe and Ito's for few, else hues a golden angle apart in three lightnesses (OKLCH).

    Many colours cannot all be told apart, so no drawing relies on them: the labels say the same.
    """
    if count <= len(FEW_COLOURS):
        return list(FEW_COLOURS[:count])
    k = np.arange(count)
    lightness, hue = np.array([0.62, 0.76, 0.50])[k % 3], GOLDEN_ANGLE * k + 0.4
    a, b = 0.13 * np.cos(hue), 0.13 * np.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    linear = np.stack([red, green, blue], axis=1).clip(0, 1)
    shown = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return ["#{:02X}{:02X}{:02X}".format(*row) for row in np.round(255 * shown).astype(int).tolist()]

"""Draws the README's picture of how an answer comes about: python docs/make_how.py FOLDER PHOTO.

The folder has one sub-folder of photos per class, three at best. Everything in the picture is taken from a model that
is taught these photos; only the places in the plane are a projection. The picture in the README shows GroceryStore's
training photos of lemon, orange and red grapefruit, ten of each, and its test photo Orange_043.jpg. Needs the extra
"dev".
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch, FancyBboxPatch
from PIL import Image, ImageOps
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline

from exll import ImageLearner
from exll.types import Matrix, Vector

TARGET = Path(__file__).with_name("pictures") / "how.png"
COLOURS = ("#c79a00", "#d1690e", "#b3324f", "#2166ac")
INK, MUTED, BLUE = "#222222", "#666666", "#2166ac"
TITLES = {
    "local": "local: the nearest prototype",
    "global": "global: the nearest class",
    "fused": "the answer: both combined",
}
MOST, DPI, COLOURS_KEPT, ROUNDS = 10, 130, 256, 200


def square(path: Path, side: int) -> Image.Image:
    with Image.open(path) as image:
        return ImageOps.fit(image.convert("RGB"), (side, side))


def put(axes: Axes, path: Path, at: tuple[float, float], side: int, edge: str, width: float = 1.6) -> None:
    box = AnnotationBbox(OffsetImage(square(path, side * 2), zoom=0.5), at, pad=0.08, frameon=True, zorder=3)
    box.patch.set(edgecolor=edge, linewidth=width)
    axes.add_artist(box)


def bare(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
    axes.set_frame_on(False)


def draw_photo(axes: Axes, photo: Path, vector: Vector) -> None:
    bare(axes)
    put(axes, photo, (0.5, 0.78), 120, INK, 1)
    axes.text(0.5, 0.985, "a new photo", ha="center", color=INK)
    axes.add_patch(FancyArrowPatch((0.5, 0.575), (0.5, 0.50), arrowstyle="-|>", mutation_scale=14, color=MUTED))
    axes.add_patch(
        FancyBboxPatch((0.2, 0.41), 0.6, 0.06, boxstyle="round,pad=0.02", facecolor="#e8eff8", edgecolor=BLUE)
    )
    axes.text(0.5, 0.44, "fixed network", ha="center", va="center", color=INK)
    axes.add_patch(FancyArrowPatch((0.5, 0.385), (0.5, 0.31), arrowstyle="-|>", mutation_scale=14, color=MUTED))
    some = vector[:: len(vector) // 26][:26]
    heights = 0.14 * (some - some.min()) / np.ptp(some)
    axes.bar(np.linspace(0.12, 0.88, len(some)), heights, 0.02, bottom=0.14, color=BLUE)
    axes.text(0.5, 0.09, f"a vector of {len(vector):,} numbers", ha="center", color=INK)


def draw_plane(
    axes: Axes, learner: ImageLearner, places: dict[str, Vector], at: Vector, vector: Vector, photo: Path
) -> None:
    """The photos where the plane has them, their prototypes and MegaClouds, and the way of both inferences."""
    fused = learner.classifier
    best = {name: fused.predict_proba([vector], name)[0].argmax() for name in ("local", "global")}
    everywhere = np.mean([place[1] for place in places.values()])
    nearest = learner.explain(str(photo)).hit.prototype
    for k, label in enumerate(fused.classes_):
        own = [rule for rule in fused.rules() if rule.label == label]
        points = np.array([places[ref] for rule in own for condition in rule.conditions for ref in condition.names])
        middle = points.mean(axis=0)
        spread = 3.6 * points.std(axis=0) + 1.2
        axes.add_patch(Ellipse(middle, *spread, facecolor=COLOURS[k], alpha=0.13, zorder=0))
        side = np.sign(middle[1] - everywhere) or 1  # above or below, where the other classes are not
        at_label = (middle[0], middle[1] + side * (spread[1] / 2 + 0.25))
        axes.text(*at_label, label, ha="center", va="center", color=COLOURS[k], weight="bold", zorder=6)
        for rule in own:
            for condition in rule.conditions:
                group = np.array([places[ref] for ref in condition.names])
                centre = group.mean(axis=0)
                for point in group:
                    axes.plot(*zip(centre, point, strict=True), color=COLOURS[k], lw=0.8, alpha=0.7, zorder=1)
                axes.add_patch(Circle(centre, 0.14, facecolor="white", edgecolor=COLOURS[k], linewidth=2.5, zorder=5))
                if condition.prototype == nearest:
                    axes.plot(*zip(at, centre, strict=True), color=INK, lw=1.8, zorder=4)
        if k == best["global"]:
            axes.plot(*zip(at, middle, strict=True), color=INK, lw=1.8, ls=":", zorder=4)
            axes.plot(*middle, marker="+", ms=13, mew=3, color=COLOURS[k], zorder=5)
    for ref, place in places.items():
        put(axes, Path(ref), (place[0], place[1]), 26, "white", 0.5)
    put(axes, photo, (at[0], at[1]), 44, INK, 2.2)
    axes.set(xticks=[], yticks=[])
    axes.set_frame_on(False)
    axes.margins(0.08)
    axes.set_aspect("equal", "datalim")
    draw_legend(axes)


def apart(places: Matrix, gaps: Vector) -> Matrix:
    """Pictures that would cover each other are moved apart; ``gaps`` is how much room each needs."""
    places = places.copy()
    for _ in range(ROUNDS):
        between = places[:, None] - places[None]
        far = np.linalg.norm(between, axis=2)
        wanted = (gaps[:, None] + gaps[None]) / 2
        push = np.clip(wanted - far, 0, None) / np.maximum(far, 1e-9)
        places += 0.25 * (push[:, :, None] * between).sum(axis=1)
    return places


def draw_legend(axes: Axes) -> None:
    marks = [
        Line2D(
            [], [], marker="o", ls="", mfc="white", mec=MUTED, mew=2.2, ms=9, label="prototype: photos that look alike"
        ),
        Line2D([], [], marker="o", ls="", color=MUTED, alpha=0.25, ms=16, label="MegaCloud: the whole class"),
        Line2D([], [], color=INK, lw=1.8, label="local inference"),
        Line2D([], [], color=INK, lw=1.8, ls=":", label="global inference"),
    ]
    axes.legend(handles=marks, loc="lower left", frameon=False, fontsize=9, labelcolor=INK, labelspacing=0.9)


def draw_answer(axes: Axes, learner: ImageLearner, vector: Vector, photo: Path) -> None:
    bare(axes)
    labels = learner.classifier.classes_
    for row, (name, title) in enumerate(TITLES.items()):
        chances = learner.classifier.predict_proba([vector], name)[0]
        top = 0.97 - 0.2 * row
        axes.text(0, top, title, color=INK, weight="bold" if name == "fused" else "normal", va="center")
        for k, chance in enumerate(chances):
            y = top - 0.045 - 0.036 * k
            axes.barh(y, 0.5, 0.022, left=0.36, color="#ececec")
            axes.barh(y, 0.5 * chance, 0.022, left=0.36, color=COLOURS[k])
            axes.text(0.34, y, labels[k], ha="right", va="center", size=8.5, color=MUTED)
            axes.text(0.99, y, f"{chance:.0%}", ha="right", va="center", size=8.5, color=MUTED)
    explained = learner.explain(str(photo))
    axes.text(0, 0.33, f'"{explained.label}", because it is like', color=INK, va="center")
    for row, evidence in enumerate((explained.hit, explained.near_miss)):
        if evidence is None:
            continue
        y = 0.24 - 0.2 * row
        for column, example in enumerate(evidence.examples[:3]):
            put(axes, Path(example.name), (0.16 + 0.32 * column, y), 44, COLOURS[labels.tolist().index(evidence.label)])
        if row == 0:
            axes.text(0, 0.14, "and less like", color=INK, va="center")


def main(folder: Path, photo: Path) -> None:
    paths = [path for label in sorted(folder.iterdir()) for path in sorted(label.iterdir())[:MOST]]
    learner = ImageLearner(max_prototypes=3)
    learner.learn([*map(str, paths)], [path.parent.name for path in paths], ref=[*map(str, paths)])
    vectors: Matrix = learner.vectors([*map(str, paths), str(photo)]).astype(float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    flat = make_pipeline(PCA(8), LinearDiscriminantAnalysis(n_components=2))
    places = flat.fit(vectors[:-1], [path.parent.name for path in paths]).transform(vectors)
    places = apart(places, np.array([1.0] * len(paths) + [2.4]))
    figure = plt.figure(figsize=(12, 5.4))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.1, 3.4, 1.7))
    draw_photo(left, photo, vectors[-1])
    draw_plane(middle, learner, dict(zip(map(str, paths), places[:-1], strict=True)), places[-1], vectors[-1], photo)
    draw_answer(right, learner, vectors[-1], photo)
    figure.subplots_adjust(0.01, 0.02, 0.99, 0.97, 0.03)
    figure.savefig(TARGET, dpi=DPI)
    with Image.open(TARGET) as image:
        image.convert("RGB").quantize(COLOURS_KEPT, kmeans=1).save(TARGET, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python docs/make_how.py FOLDER PHOTO")
    main(Path(sys.argv[1]), Path(sys.argv[2]))

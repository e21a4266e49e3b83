"""Draws the figures of docs/concepts: python docs/make_concept_figures.py. Needs the extra "bench" (matplotlib).

Colours are of classes throughout. The figures are SVG with a white ground; the site turns them dark (tools/site.css).
"""

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Ellipse
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from exll import ExLLClassifier
from exll.learner.glocal.ward import ward_groups

FIGURES = Path(__file__).parent / "concepts" / "figures"
MUG, KEY, CUP = "#0072b2", "#d55e00", "#009e73"
INK, FAINT = "#222222", "#999999"
STYLE = {
    "svg.fonttype": "none",  # letters stay letters
    "svg.hashsalt": "exll",  # the same file every time
    "font.family": "sans-serif",
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
Points = NDArray[np.float64]


def prototypes() -> None:
    """One class as samples, prototypes and a MegaCloud."""
    mugs, keys = _mugs_and_keys()
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharex=True, sharey=True)
    for axis, title in zip(axes, ("1. samples", "2. prototypes", "3. MegaClouds"), strict=True):
        _plain(axis, title)
    for points, colour, name in ((mugs, MUG, "mug"), (keys, KEY, "key")):
        groups = ward_groups(points, np.ones(len(points), np.int64), 4)
        centres = np.array([points[groups == g].mean(axis=0) for g in range(groups.max() + 1)])
        supports = np.bincount(groups)
        axes[0].scatter(*points.T, s=16, color=colour)
        axes[0].annotate(name, points.mean(axis=0) - [0.3, 1.3], color=colour, weight="bold")
        for point, group in zip(points, groups, strict=True):
            axes[1].plot(*np.array([point, centres[group]]).T, color=colour, lw=0.6, alpha=0.5)
        axes[1].scatter(*centres.T, s=14 * supports, color=colour, edgecolor="white", zorder=3)
        mean = points.mean(axis=0)
        for centre in centres:
            axes[2].plot(*np.array([mean, centre]).T, color=colour, lw=1, ls=":")
        axes[2].scatter(*centres.T, s=14 * supports, color=colour, alpha=0.35, edgecolor="none")
        axes[2].scatter(*mean, s=170, marker="*", color=colour, edgecolor="white", zorder=3)
    axes[1].set_xlabel("a dot is a mean of similar samples;\nits size is its support")
    axes[2].set_xlabel("a star is the mean of the class")
    axes[0].set_xlabel("a dot is one photo")
    _save(figure, "prototypes")


def inference() -> None:
    """Where local and global inference answer differently."""
    mugs, keys = _mugs_and_keys()
    both = np.concatenate([mugs, keys])
    within = np.concatenate([mugs - mugs.mean(axis=0), keys - keys.mean(axis=0)])
    precision = np.linalg.inv(within.T @ within / len(both) + 0.1 * np.eye(2))
    asked = np.array([-2.6, 3.8])
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), sharex=True, sharey=True)
    means = np.array([mugs.mean(axis=0), keys.mean(axis=0)])
    centres, owners = _centres(mugs, keys)
    for axis, title, points, of in (
        (axes[0], "global: the nearest class mean", means, np.array([0, 1])),
        (axes[1], "local: the nearest prototype", centres, owners),
    ):
        _plain(axis, title)
        _regions(axis, points, of, precision)
        axis.scatter(*mugs.T, s=9, color=MUG, alpha=0.5)
        axis.scatter(*keys.T, s=9, color=KEY, alpha=0.5)
        colours = [(MUG, KEY)[k] for k in of]
        axis.scatter(*points.T, s=190 if points is means else 80, marker="*" if points is means else "o",
                     c=colours, edgecolor="white", zorder=3)  # fmt: skip
        nearest = points[_distances(asked[None], points, precision)[0].argmin()]
        axis.plot(*np.array([asked, nearest]).T, color=INK, lw=1.5)
        axis.scatter(*asked, s=60, marker="D", color=INK, zorder=4)
        axis.annotate("x", asked + 0.15, color=INK, weight="bold")
    axes[0].set_xlabel("x is taken for a key: the mugs' mean is farther away")
    axes[1].set_xlabel("x is taken for a mug: one group of mugs is near")
    _save(figure, "inference")


def fusion() -> None:
    """How scores are added, and how much local inference counts."""
    figure, (sums, shares) = plt.subplots(1, 2, figsize=(10.5, 3.9))
    classes, global_scores, local_scores = ("mug", "cup", "key"), (3.1, 3.4, 0.9), (1.5, 0.6, 0.2)
    place = np.arange(3)
    sums.barh(place, global_scores, color=[MUG, CUP, KEY], alpha=0.45, height=0.6)
    sums.barh(place, local_scores, left=global_scores, color=[MUG, CUP, KEY], height=0.6)
    for at, total in enumerate(np.add(global_scores, local_scores)):
        sums.annotate(f"{total:.1f}", (total + 0.08, at), va="center", weight="bold" if at == 0 else "normal")
    sums.set_yticks(place, classes)
    sums.invert_yaxis()
    sums.set(xlim=(0, 5.6), xticks=[], title="the scores of a class are added")
    sums.set_xlabel("light: global   dark: what local inference adds")
    novelty = np.linspace(-2, 4, 200)
    shares.plot(novelty, np.clip((2.0 - novelty) / 2.0, 0, 1), color=INK, lw=2)
    shares.axvline(2.0, color=FAINT, ls="--")
    shares.annotate("unusual\nfrom here", (2.1, 0.72), color=INK)
    shares.annotate("half of the\nexamples are\nbelow this", (-1.9, 0.4), color=INK)
    shares.axvline(0.0, color=FAINT, ls=":")
    shares.set(yticks=[0, 1], yticklabels=["none", "full"], xticks=[], xlabel="novelty of the input",
               title="how much local inference counts", ylim=(0, 1.1))  # fmt: skip
    _save(figure, "fusion")


def precision() -> None:
    """The same distance on paper and under the precision; and shrinkage."""
    rng = np.random.default_rng(4)
    spread = np.array([[2.2, 0.0], [1.5, 0.5]])
    mugs, keys = rng.normal(size=(60, 2)) @ spread.T * 0.55, rng.normal(size=(60, 2)) @ spread.T * 0.55 + (1.0, 2.4)
    within = np.concatenate([mugs - mugs.mean(axis=0), keys - keys.mean(axis=0)])
    covariance = within.T @ within / len(within)
    values, vectors = np.linalg.eigh(covariance)
    whiten = vectors / np.sqrt(values) @ vectors.T
    asked = np.array([1.5, 1.7])
    figure, (plain, white, bars) = plt.subplots(1, 3, figsize=(11.5, 3.9))
    for axis, turn, title in ((plain, np.eye(2), "as the vectors are"), (white, whiten, "under the precision")):
        _plain(axis, title)
        axis.set_aspect("equal")
        for points, colour in ((mugs, MUG), (keys, KEY)):
            axis.scatter(*(points @ turn).T, s=10, color=colour, alpha=0.6)
            mean = points.mean(axis=0) @ turn
            axis.scatter(*mean, s=170, marker="*", color=colour, edgecolor="white", zorder=3)
            axis.plot(*np.array([asked @ turn, mean]).T, color=colour, lw=1.5)
            if turn is whiten:
                axis.add_patch(plt.Circle(mean, 2, fill=False, color=colour))
            else:
                angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
                axis.add_patch(Ellipse(mean, 4 * np.sqrt(values[1]), 4 * np.sqrt(values[0]), angle=angle, fill=False,
                                       color=colour))  # fmt: skip
        axis.scatter(*(asked @ turn), s=60, marker="D", color=INK, zorder=4)
    plain.set_xlabel("the classes are long and thin:\nthe plain distance misleads")
    white.set_xlabel("they are round:\nthe distance counts in spreads")
    few = np.sort(np.linalg.eigvalsh(np.cov(rng.normal(size=(12, 10)).T)))[::-1]
    place, ridge = np.arange(10), 0.4
    bars.bar(place - 0.2, few, 0.4, color=FAINT, label="measured from 12 samples")
    bars.bar(place + 0.2, (1 - ridge) * few + ridge * few.mean(), 0.4, color=MUG, label="shrunk")
    bars.axhline(1.0, color=KEY, lw=1.5, label="true")
    bars.set(xticks=[], yticks=[0, 1, 2, 3], title="shrinkage", xlabel="directions, by their variance")
    bars.legend(fontsize=10)
    _save(figure, "precision")


def unknown() -> None:
    """Novelty of digits that were taught and of digits that were not; and confidence before and after calibrating."""
    X, y = load_digits(return_X_y=True)
    taught = y < 7
    rows = np.random.default_rng(0).permutation(np.flatnonzero(taught))
    clf = ExLLClassifier(lengths="ignored").fit(X[rows[:500]], y[rows[:500]])
    known, others = clf.novelty(X[rows[500:]]), clf.novelty(X[~taught])
    limit = clf.novelty_threshold()
    figure, (levels, reliable) = plt.subplots(1, 2, figsize=(10.5, 4.0))
    bins = np.linspace(-2.5, 6, 40)
    levels.hist(known, bins, density=True, color=MUG, alpha=0.6, label="digits 0 to 6, taught")
    levels.hist(others, bins, density=True, color=KEY, alpha=0.6, label="digits 7 to 9, never taught")
    levels.axvline(limit, color=INK, ls="--")
    levels.annotate("unusual\nfrom here", (limit + 0.15, levels.get_ylim()[1] * 0.95))
    levels.set(yticks=[], xlabel="novelty", title="what was never taught is more novel")
    levels.set_ylim(0, levels.get_ylim()[1] * 1.3)
    levels.legend(fontsize=10, loc="upper left")
    hidden = np.where(np.random.default_rng(1).random(X.shape) < 0.4, 0.0, X)
    here, test = rows[500:650], rows[650:]
    reliable.plot([0.3, 1], [0.3, 1], color=FAINT, ls="--", label="right as often as stated")
    for label, colour, marker in (("before", KEY, "o"), ("after calibrating", MUG, "s")):
        if label != "before":
            clf.calibrate(hidden[here], y[here])
        answers = clf.answers(hidden[test])
        stated = np.array([answer.probability for answer in answers])
        right = np.array([answer.label for answer in answers]) == y[test]
        parts = [part for part in np.array_split(np.argsort(stated), 6) if len(part)]
        reliable.plot([stated[p].mean() for p in parts], [right[p].mean() for p in parts], color=colour,
                      marker=marker, label=label)  # fmt: skip
    reliable.set(xlabel="confidence", ylabel="share that is right", title="digits, 40% of the pixels hidden")
    reliable.legend(fontsize=10)
    _save(figure, "unknown")


def overview() -> None:
    """The way from a photo to an answer."""
    figure, axis = plt.subplots(figsize=(11, 2.6))
    axis.set(xlim=(0, 11), ylim=(0, 2.6))
    axis.axis("off")
    boxes = (
        (0.1, 0.85, "photo", INK),
        (2.0, 0.85, "network,\nnever trained", INK),
        (4.1, 0.85, "vector", INK),
        (6.2, 1.55, "local: nearest\nprototype", MUG),
        (6.2, 0.15, "global: nearest\nclass mean", MUG),
        (8.9, 0.85, "fused answer,\nconfidence, level", KEY),
    )
    for x, y, text, colour in boxes:
        axis.text(x + 0.8, y + 0.4, text, ha="center", va="center", color=colour, weight="bold",
                  bbox={"boxstyle": "round,pad=0.55", "facecolor": "white", "edgecolor": colour})  # fmt: skip
    for start, end in (((1.45, 1.25), (2.0, 1.25)), ((3.65, 1.25), (4.25, 1.25)), ((5.5, 1.4), (6.1, 1.8)),
                       ((5.5, 1.1), (6.1, 0.7)), ((7.95, 1.8), (8.75, 1.45)), ((7.95, 0.7), (8.75, 1.05))):  # fmt: skip
        axis.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK})
    _save(figure, "overview")


def _mugs_and_keys() -> tuple[Points, Points]:
    """Two groups of mugs, with the keys between them."""
    rng = np.random.default_rng(3)
    left, right = rng.normal((-2.7, 2.3), (0.5, 0.8), (26, 2)), rng.normal((2.7, 1.7), (0.5, 0.8), (20, 2))
    return np.concatenate([left, right]), rng.normal((0.0, 4.6), (0.6, 0.45), (28, 2))


def _centres(*classes: Points) -> tuple[Points, NDArray[np.int64]]:
    centres, owners = [], []
    for k, points in enumerate(classes):
        groups = ward_groups(points, np.ones(len(points), np.int64), 4)
        centres += [points[groups == g].mean(axis=0) for g in range(groups.max() + 1)]
        owners += [k] * (groups.max() + 1)
    return np.array(centres), np.array(owners)


def _distances(rows: Points, points: Points, precision: Points) -> Points:
    apart = rows[:, None] - points
    return np.einsum("rpi,ij,rpj->rp", apart, precision, apart)


def _regions(axis: Axes, points: Points, owners: NDArray[np.int64], precision: Points) -> None:
    x, y = np.meshgrid(np.linspace(-5, 5, 260), np.linspace(-0.4, 6.2, 200))
    nearest = owners[_distances(np.stack([x.ravel(), y.ravel()], axis=1), points, precision).argmin(axis=1)]
    axis.contourf(x, y, nearest.reshape(x.shape), levels=[-0.5, 0.5, 1.5], cmap=ListedColormap([MUG, KEY]), alpha=0.15)


def _plain(axis: Axes, title: str) -> None:
    axis.set(xticks=[], yticks=[], title=title)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _save(figure: plt.Figure, name: str) -> None:
    FIGURES.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    drawings: tuple[Callable[[], None], ...] = (overview, prototypes, inference, fusion, precision, unknown)
    with mpl.rc_context(STYLE):
        for draw in drawings:
            draw()

"""Training examples whose label the rest of the data contradicts, and the same image under two labels.

Every example is judged by a model that has never seen it: with the class means and the within-class covariance of all
the others. Both follow exactly from those of all examples (a mean loses one vector, a covariance one rank, and in a
second judgement a class), so n examples cost little more than one model. From the labels it is then estimated how far
that model can be trusted, how many labels are wrong, and how probable it is for each label.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from exll.errors import InputError
from exll.explain.notebook import one_line, paragraph, table
from exll.explain.wording import counted
from exll.learner.exll import ExLL
from exll.learner.records import Record
from exll.linalg.lapack import cholesky, solve_factor, solve_rows
from exll.linalg.softmax import softmax_rows
from exll.linalg.threads import one_blas_thread
from exll.types import Indices, Label, Matrix, Vector

SHRINKAGE = 1e-3
CHUNK_ROWS = 1024
CONTRADICTED = 0.5  # a label is said to be contradicted that is more probably wrong than right
POWERS, SHARES = (0.05, 1.0), (1e-6, 0.5)  # within which calibration looks for its two numbers
START = (0.5, 0.02)
SHOWN = 10
MOST_TIMES = 1e6
SAME = 1 - 1e-6  # the cosine from which on two vectors are of one image
SMALLEST_PROBABILITY = 1e-300  # its logarithm is finite


@dataclass(frozen=True)
class Suspect:
    """An example that the others would call something else. ``doubt`` is 1 minus the probability of its label,
    ``times`` how many times likelier ``would_be`` is, ``wrong`` the probability that the label is wrong at all."""

    name: str
    position: int
    label: Label
    would_be: Label
    doubt: float
    times: float = 1.0
    wrong: float = 0.0

    def __str__(self) -> str:
        return f'{self.name}: taught as "{self.label}", the others say "{self.would_be}"'

    @property
    def odds(self) -> str:
        """How many times likelier the other class is, in words.

        >>> Suspect("1.jpg", 0, "mug", "pan", 0.9, times=1234.5).odds
        '1,230 times likelier'
        """
        if self.times > MOST_TIMES:
            return "over a million times likelier"
        three_digits = float(f"{self.times:.3g}")
        return f"{three_digits:,g} times likelier" if three_digits < 100 else f"{three_digits:,.0f} times likelier"


@dataclass(frozen=True)
class Contradiction:
    """One image that was taught under several labels."""

    names: tuple[str, ...]
    labels: tuple[Label, ...]

    def __str__(self) -> str:
        return ", ".join(f'{name} ("{label}")' for name, label in zip(self.names, self.labels, strict=True))


@dataclass(frozen=True)
class Suspects:
    """What to look at again."""

    ranked: list[Suspect]  # every example, the most doubtful first
    contradictions: list[Contradiction]
    wrong_labels: float = 0.0  # the share of labels that seem wrong

    def contradicted(self) -> list[Suspect]:
        """Those whose label is more probably wrong than right."""
        return [
            suspect for suspect in self.ranked if suspect.would_be != suspect.label and suspect.wrong >= CONTRADICTED
        ]

    def text(self, top: int = SHOWN) -> str:
        """Contradictions, then the most doubtful examples, one per line, and how many there are."""
        doubtful = self.contradicted()
        lines = [one_line(f"one image, several labels: {contradiction}") for contradiction in self.contradictions]
        lines += [one_line(f"{suspect}, {suspect.odds}") for suspect in doubtful[:top]]
        rest = len(doubtful) - min(top, len(doubtful))
        lines.append(self.summary() + (f"; {rest:,} not shown" if rest else ""))
        return "\n".join(lines)

    def summary(self) -> str:
        """How many, of how many, and what that means."""
        if not (named := len(self.contradicted())):
            return f"no label looks wrong; {counted(len(self.ranked), 'example')} checked"
        return (
            f"{named:,} of {counted(len(self.ranked), 'example')} may have a wrong label, judged by all the others: "
            f"worth a look, though some may be right; about {self.wrong_labels:.1%} of all labels seem wrong"
        )

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        header = ("example", "taught as", "the others say", "which is")
        rows = [(s.name, s.label, s.would_be, s.odds) for s in self.contradicted()[:SHOWN]]
        both = [(str(contradiction), "", "one image, several labels", "") for contradiction in self.contradictions]
        return f"{table(header, [*both, *rows])}{paragraph(self.text().splitlines()[-1])}"


def suspects_of(learner: ExLL, spread: Callable[[Matrix], Matrix] = lambda X: X) -> Suspects:
    """From what the model remembers; needs records="vectors". ``spread`` makes of its unit vectors what is judged."""
    if learner.parameters.records != "vectors":
        raise InputError(
            f"this model keeps records={learner.parameters.records!r} and so has no vectors of its examples to judge; "
            'learn with records="vectors" (exll learn --records vectors), or pass the data again, suspects(X, y, refs).'
        )
    vectors, found = _unit_vectors(learner)
    return find_suspects(
        spread(vectors),
        [label for _, label in found],
        [record.name for record, _ in found],
        [record.position for record, _ in found],
    )


def nearest_examples(
    learner: ExLL, asked: Iterable[tuple[str, Label]], most: int
) -> dict[tuple[str, Label], list[str]]:
    """For pairs of an example's name and a class: the names of the examples of that class that are most like it, by
    cosine, without itself and its copies."""
    vectors, found = _unit_vectors(learner)
    names = np.array([record.name for record, _ in found], object)
    row_of = {name: row for row, name in enumerate(names)}
    rows_of: dict[Label, list[int]] = defaultdict(list)
    for row, (_, label) in enumerate(found):
        rows_of[label].append(row)
    nearest = {}
    for name, label in asked:
        rows = np.array(rows_of[label], np.intp)
        cosines = vectors[rows] @ vectors[row_of[name]]
        others = cosines < SAME
        order = np.argsort(-cosines[others], kind="stable")[:most]
        nearest[name, label] = names[rows[others][order]].tolist()
    return nearest


def _unit_vectors(learner: ExLL) -> tuple[Matrix, list[tuple[Record, Label]]]:
    """What the model remembers, in the order it was learned."""
    with learner.lock:
        labels = learner.labels
        found = [
            (record, labels[k])
            for k in range(len(labels))
            for prototype in learner.megacloud(k).prototypes
            for record in learner.records(int(prototype))
        ]
    found.sort(key=lambda item: item[0].position)
    vectors = np.array([record.vector for record, _ in found], np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), found


def find_suspects(
    X: Matrix, labels: Sequence[Label], names: Sequence[str], positions: Sequence[int] | None = None
) -> Suspects:
    """Judge vectors of about length 1 with their labels."""
    kinds = list(dict.fromkeys(labels))
    number = {label: k for k, label in enumerate(kinds)}
    y = np.array([number[label] for label in labels])
    with one_blas_thread():
        posteriors = leave_one_out_posteriors(X, y, len(kinds))
    rows = np.arange(len(X))
    alone = np.bincount(y)[y] == 1  # nothing of its class is left to speak for it, so nothing contradicts it
    posteriors[~alone], wrong_labels = calibrated(posteriors[~alone], y[~alone])
    own = posteriors[rows, y]
    winners = np.where(alone, y, posteriors.argmax(axis=1))
    times = posteriors[rows, winners] / np.maximum(own, SMALLEST_PROBABILITY)
    by_chance = wrong_labels / len(kinds)
    wrong = np.where(alone, 0.0, by_chance / np.maximum((1 - wrong_labels) * own + by_chance, SMALLEST_PROBABILITY))
    order = np.argsort(own, kind="stable")  # of doubts near 1 the difference would be lost
    places = rows if positions is None else np.asarray(positions)
    ranked = [
        Suspect(
            names[i],
            int(places[i]),
            kinds[y[i]],
            kinds[winners[i]],
            float(1.0 - own[i]),
            float(times[i]),
            float(wrong[i]),
        )
        for i in order
    ]
    return Suspects(ranked, _contradictions(X, labels, names), wrong_labels)


class Calibrated(NamedTuple):
    posteriors: Matrix
    wrong_labels: float  # the share of labels that are not what the posteriors would draw


def calibrated(posteriors: Matrix, y: Indices) -> Calibrated:
    r"""The posteriors raised to a power, and a share of wrong labels: the two under which the labels y are most likely.

    A label is drawn from the posterior $p$, or with the share $w$ it is wrong: any of the K classes. Its likelihood is
    $(1-w) p_y + w/K$, and so it is wrong with the probability $(w/K) / ((1-w) p_y + w/K)$. On labels of which 2, 5 or
    10 % were replaced at random the share comes out as 2 to 3, 5 to 6 and 10 to 11 % (docs/results.md).
    """
    from scipy.optimize import minimize

    if not len(y):
        return Calibrated(posteriors, 0.0)
    logs, rows, classes = np.log(np.maximum(posteriors, SMALLEST_PROBABILITY)), np.arange(len(y)), posteriors.shape[1]

    def surprise(parameters: Vector) -> float:
        power, share = parameters
        own = softmax_rows(power * logs)[0][rows, y]
        return -float(np.log((1 - share) * own + share / classes).mean())

    found = minimize(
        surprise, START, method="Nelder-Mead", bounds=(POWERS, SHARES), options={"xatol": 1e-4, "fatol": 1e-7}
    )
    power, share = found.x
    return Calibrated(softmax_rows(power * logs)[0], float(share))


def leave_one_out_posteriors(X: Matrix, y: Indices, classes: int) -> Matrix:
    r"""The posterior of every row under linear discriminant analysis of all *other* rows, exactly.

    Leaving x out of class k moves its mean to $(i_k\mu_k - x)/(i_k-1)$ and takes
    $\tfrac{i_k}{i_k-1}(x-\mu_k)(x-\mu_k)^T$ off the within-class scatter. Several wrong examples of one kind hide each
    other there: they widen the scatter in their own direction. So x is judged a second time, without the scatter of its
    whole class. The fewer rows there are, the more they can hide, and the more the second judgement counts. A row that
    is alone in its class cannot be judged: its posterior is uniform.
    """
    count, width = X.shape
    counts = np.bincount(y, minlength=classes).astype(np.float64)
    sums = np.zeros((classes, width))
    np.add.at(sums, y, X)
    means = sums / counts[:, None]
    residuals = X - means[y]
    covariance = (1 - SHRINKAGE) * residuals.T @ residuals / count
    covariance[np.diag_indices(width)] += SHRINKAGE
    factor = np.asfortranarray(covariance)
    cholesky(factor)
    weights = _solved(factor, means)  # (classes, d)
    model = _Discriminant(counts, means, weights, np.vecdot(means, weights), factor)
    second = width / (count + 2 * width)  # the share of the second judgement: a half with few rows, none with many
    posteriors = np.full((count, classes), 1.0 / classes)
    for k in np.flatnonzero(counts > 1):
        of_class = np.flatnonzero(y == k)
        T = _added_without(factor, residuals[of_class], count)
        for start in range(0, len(of_class), CHUNK_ROWS):
            rows = of_class[start : start + CHUNK_ROWS]
            own = X[rows], y[rows], residuals[rows]
            scores = (1 - second) * _scores_without_own(model, *own, count)
            scores += second * _scores_without_class(model, *own, T)
            posteriors[rows] = softmax_rows(scores)[0]
    return posteriors


class _Discriminant(NamedTuple):
    """A linear discriminant of all rows; L is the precision that ``factor`` is of."""

    counts: Vector
    means: Matrix  # (classes, d)
    weights: Matrix  # L m for every mean m
    squared_norms: Vector  # m' L m
    factor: Matrix

    def means_without(self, y: Indices, residuals: Matrix) -> Matrix:
        """The mean of its own class without each row."""
        return self.means[y] - residuals / (self.counts[y] - 1)[:, None]


def _scores_without_class(model: _Discriminant, X: Matrix, y: Indices, residuals: Matrix, T: Matrix) -> Matrix:
    """x' P m - m' P m / 2 for every class, with x taken out of its own mean, and P = L + T'T."""
    means_t = model.means @ T.T
    squared_norms = model.squared_norms + np.square(means_t).sum(axis=1)
    scores: Matrix = X @ model.weights.T + (X @ T.T) @ means_t.T - 0.5 * squared_norms
    left = model.means_without(y, residuals)
    left_weights = _solved(model.factor, left) + (left @ T.T) @ T
    scores[np.arange(len(X)), y] = np.vecdot(X - 0.5 * left, left_weights)
    return scores


def _added_without(factor: Matrix, residuals: Matrix, count: int) -> Matrix:
    """T, for which L + T'T is the precision without these residuals, where L is that with them."""
    if len(residuals) > residuals.shape[1]:
        residuals = np.linalg.qr(residuals).R  # the same scatter
    U = _solved(factor, residuals)
    room = -U @ residuals.T
    room[np.diag_indices(len(room))] += count / (1 - SHRINKAGE)  # positive: they are part of what was inverted
    room = np.asfortranarray((room + room.T) / 2)
    cholesky(room)
    solve_factor(room, U)
    return U


def _scores_without_own(model: _Discriminant, X: Matrix, y: Indices, residuals: Matrix, count: int) -> Matrix:
    """x' L m - m' L m / 2 for every class, with x taken out of its own mean and out of the precision L (rank one)."""
    own = model.counts[y]
    v = residuals * np.sqrt(own / (own - 1))[:, None]
    U = _solved(model.factor, v)
    room = count / (1 - SHRINKAGE) - np.vecdot(v, U)  # above 0: v is part of what was inverted
    room = np.maximum(room, 1e-12)
    x_u, means_u = np.vecdot(X, U), U @ model.means.T
    squared_norms = model.squared_norms + means_u**2 / room[:, None]
    scores: Matrix = X @ model.weights.T + (x_u / room)[:, None] * means_u - 0.5 * squared_norms
    left = model.means_without(y, residuals)
    left_weights, left_u = _solved(model.factor, left), np.vecdot(U, left)
    dots = np.vecdot(X, left_weights) + x_u * left_u / room
    scores[np.arange(len(X)), y] = dots - 0.5 * (np.vecdot(left, left_weights) + left_u**2 / room)
    return scores


def _solved(factor: Matrix, rows: Matrix) -> Matrix:
    """Every row times the inverse of the factored matrix; other threads run meanwhile, unlike with scipy's solver."""
    solved = np.array(rows, order="C")
    solve_rows(factor, solved)
    solve_rows(factor, solved, transposed=True)
    return solved


def _contradictions(X: Matrix, labels: Sequence[Label], names: Sequence[str]) -> list[Contradiction]:
    """Vectors that are equal to half precision under labels that are not."""
    same: dict[bytes, list[int]] = defaultdict(list)
    for i, row in enumerate(X.astype(np.float16)):
        same[row.tobytes()].append(i)
    groups = [rows for rows in same.values() if len({labels[i] for i in rows}) > 1]
    return [Contradiction(tuple(names[i] for i in rows), tuple(labels[i] for i in rows)) for rows in groups]

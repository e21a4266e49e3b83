"""What waits in the Inbox, as the model sees it now: in groups of photos that look alike, those that would teach most
first; and apart from them the photos that would teach nothing new."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exll.estimator import ExLLClassifier, Prediction
from exll.studio.inbox_rows import AskedPhoto
from exll.types import Level, Matrix
from exll.vectors import normalise

# No two photos of a group differ by more, as one less the cosine under the model's precision: of the pairs of groceries
# that share a group then, 4 in 5 are of one class (docs/studio.md).
UNLIKE = 0.65
UNLIKE_WITHOUT_MODEL = 0.25  # of plain cosines
CONFIDENT = 0.85
MOST_GUESSES = 3


@dataclass(frozen=True)
class JudgedPhoto:
    """``now`` is what the model answers now; None where it knows nothing. ``is_nothing``: it looks like an example of
    nothing."""

    photo: AskedPhoto
    now: Prediction | None
    is_nothing: bool

    @property
    def teaches_nothing(self) -> bool:
        now = self.now
        return self.is_nothing or (now is not None and now.level == "usual" and now.probability >= CONFIDENT)


@dataclass(frozen=True)
class Group:
    """Photos that look alike. ``guesses`` are the most probable classes, with the mean probability over the photos;
    ``level`` is that of most of them. ``worth``: how novel the centre is, times the number of photos."""

    photos: Sequence[JudgedPhoto]
    guesses: Sequence[tuple[str, float]]
    level: Level
    worth: float


@dataclass(frozen=True)
class Sorted:
    groups: Sequence[Group]
    known: Sequence[JudgedPhoto]


def judge(photos: Sequence[AskedPhoto], classifier: ExLLClassifier | None, false_alarms: float) -> list[JudgedPhoto]:
    """``classifier`` is None while nothing is taught."""
    if classifier is None or not photos:
        return [JudgedPhoto(photo, None, False) for photo in photos]
    X = _vectors(photos)
    answers, of_nothing = classifier.answers(X, false_alarms=false_alarms), classifier.like_nothing(X)
    return [JudgedPhoto(photo, now, bool(names)) for photo, now, names in zip(photos, answers, of_nothing, strict=True)]


def sort_photos(photos: Sequence[AskedPhoto], classifier: ExLLClassifier | None, false_alarms: float) -> Sorted:
    """The same photos and the same model give the same order."""
    if not photos:
        return Sorted([], [])
    X = _vectors(photos)
    judged = judge(photos, classifier, false_alarms)
    known = [photo for photo in judged if photo.teaches_nothing]
    rows = np.array([row for row, photo in enumerate(judged) if not photo.teaches_nothing], np.intp)
    members = [rows[group] for group in _alike(X[rows], classifier)]
    groups = _groups([[judged[row] for row in group] for group in members], X, members, classifier)
    groups.sort(key=lambda group: (-group.worth, -len(group.photos), group.photos[0].photo.id))
    known.sort(
        key=lambda photo: ("" if photo.is_nothing or photo.now is None else str(photo.now.label), photo.photo.id)
    )
    return Sorted(groups, known)


def _vectors(photos: Sequence[AskedPhoto]) -> NDArray[np.float32]:
    return np.array([photo.vector for photo in photos])


def _alike(X: NDArray[np.float32], classifier: ExLLClassifier | None) -> list[NDArray[np.intp]]:
    """Rows by group. By complete linkage, so that no two photos of a group are too unlike."""
    if len(X) < 2:
        return [np.arange(len(X))] if len(X) else []
    from scipy.cluster.hierarchy import fcluster, linkage  # takes a while to load

    apart = 1.0 - _cosines(X, classifier)
    above = apart[np.triu_indices(len(X), 1)].clip(0.0)
    limit = UNLIKE_WITHOUT_MODEL if classifier is None else UNLIKE
    numbers = fcluster(linkage(above, "complete"), limit, "distance")
    return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]


def _cosines(X: NDArray[np.float32], classifier: ExLLClassifier | None) -> Matrix:
    """As local inference compares: from the model's origin, under its precision."""
    rows = normalise(X)
    products = rows
    if classifier is not None:
        inference = classifier.learner_.inference()
        rows = rows - inference.origin
        products = inference.precision.apply(rows)
    dots: Matrix = rows @ products.T
    lengths = np.sqrt(dots.diagonal().clip(1e-12))
    cosines: Matrix = dots / lengths / lengths[:, None]
    return cosines


def _groups(
    photos: Sequence[Sequence[JudgedPhoto]],
    X: NDArray[np.float32],
    members: Sequence[NDArray[np.intp]],
    classifier: ExLLClassifier | None,
) -> list[Group]:
    """``members`` are the rows of each group."""
    if classifier is None or not members:
        return [Group(group, [], "unknown", float(len(group))) for group in photos]
    units, shares, labels = normalise(X), classifier.predict_proba(X), classifier.classes_
    centres = classifier.answers(np.array([units[group].mean(axis=0) for group in members]))
    groups = []
    for group, of_group, centre in zip(members, photos, centres, strict=True):
        mean = shares[group].mean(axis=0)
        best = np.argsort(-mean, kind="stable")[:MOST_GUESSES]
        guesses = [(str(labels[k]), min(1.0, float(mean[k]))) for k in best]
        levels = Counter(photo.now.level for photo in of_group if photo.now is not None)
        level = max(levels, key=lambda level: levels[level])
        groups.append(Group(of_group, guesses, level, len(of_group) * max(0.0, centre.novelty or 0.0)))
    return groups

"""Models that were taught apart become one, or one sentence says why they cannot."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from exll import ExLLClassifier, ImageLearner, conflicts, load, merge
from exll.errors import ExLLError
from exll.merging import check_mergeable
from networks import write_network
from pictures import picture

X = np.random.default_rng(0).normal(size=(12, 70))
Y = ["a", "b", "c"] * 4


def taught(first: int = 0, count: int = 12, labels: Any = Y, **parameters: Any) -> ExLLClassifier:
    rows = slice(first, first + count)
    refs = [f"{i}.jpg" for i in range(12)]
    return ExLLClassifier(**{"records": "vectors", **parameters}).fit(X[rows], labels[rows], refs=refs[rows])


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ([], "at least two models; got 0"),
        (taught(), "must be a list of models; got ExLLClassifier"),
        ([taught(), 3], "got int"),
        ([taught(), ExLLClassifier()], "has learned nothing"),
        ([taught(), taught(preset="paper")], "model 1 has the preset 'glocal', and model 2 has 'paper'"),
        ([taught(), taught(), taught(records="refs")], "model 1 has the records 'vectors', and model 3 has 'refs'"),
        ([taught(), taught(labels=[0, 1, 2] * 4)], "kind of labels string, and model 2 has integer"),
        ([taught(), ExLLClassifier(records="vectors").fit(X[:, :68], Y)], "has the width 70, and model 2 has 68"),
        ([taught(lengths="kept")] * 2, "each in its own units"),
    ],
)
def test_models_that_cannot_be_one_are_refused_in_a_sentence(models: Any, sentence: str) -> None:
    with pytest.raises(ExLLError, match=sentence):
        merge(models)


def test_models_of_other_features_are_refused() -> None:
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(70)])
    one, other = (ExLLClassifier().fit(some, Y) for some in (table, table[table.columns[::-1]]))
    with pytest.raises(ExLLError, match=r"names of features f0, f1, f2, ..., and model 2 has f69"):
        merge([one, other])


def test_a_network_is_the_same_by_whatever_name(tmp_path: Path) -> None:
    networks = [write_network(tmp_path / f"{name}.onnx", factor) for name, factor in (("x", 1), ("y", 1), ("z", 2))]
    learners = [ImageLearner(network) for network in networks]
    for kind, learner in enumerate(learners):
        learner.learn(picture(kind, 0), f"kind {kind}")
    assert len(merge(learners[:2]).classes_) == 2
    with pytest.raises(ExLLError, match=r"x.exll has the network x \(identity .{12}\), and z.exll has z"):
        check_mergeable([learners[0], learners[2]], ["x.exll", "z.exll"])


def test_the_models_stay_as_they_are_and_may_be_given_one_by_one() -> None:
    parts = [taught(0, 6), taught(6, 6)]
    before = [part.predict_proba(X) for part in parts]
    merged = merge(part for part in parts)
    assert merged.learner_.sample_count == 12
    merged.forget("0.jpg").partial_fit(X[:1], ["d"])
    assert all(np.array_equal(part.predict_proba(X), old) for part, old in zip(parts, before, strict=True))


def test_conflicts_are_found_by_name_and_by_vector_and_need_models_that_were_taught() -> None:
    one, other = taught(0, 6), ExLLClassifier(records="vectors").fit(X[[0, 7]], ["b", "a"], refs=["copy.jpg", "1.jpg"])
    assert [str(conflict) for conflict in conflicts([one, other])] == [
        "0.jpg was learned as 'a' and as 'b'",
        "1.jpg was learned as 'b' and as 'a'",
    ]
    assert conflicts([one, taught(6, 6)]) == []
    with pytest.raises(ExLLError, match="has learned nothing"):
        conflicts([one, ExLLClassifier()])


def test_thumbnails_of_several_sizes_are_kept_and_can_be_loaded(tmp_path: Path) -> None:
    parts = [ImageLearner("nano", thumbnail_side=side, thumbnails=count) for side, count in ((24, 1), (40, 2))]
    for kind, part in enumerate(parts):
        part.learn([picture(kind, i) for i in range(2)], f"kind {kind}", [f"{kind}-{i}.png" for i in range(2)])
    merged = merge(parts)
    merged.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll", ImageLearner)
    assert (again.thumbnails, again.thumbnail_side) == (2, 40)
    assert again.kept_thumbnails() == {**parts[0].kept_thumbnails(), **parts[1].kept_thumbnails()}


def test_lessons_keep_their_examples_also_those_that_do_not_say_where_they_are() -> None:
    digests = base64.b64encode(bytes(range(16)) * 6).decode()
    one, other = taught(0, 6), taught(6, 6)
    one.lessons_, other.lessons_ = [{"digests": digests}], [{"digests": digests, "spans": [[0, 6]]}]
    merged = merge([one, other])
    assert merged.lessons_ == [{"digests": digests}, {"digests": digests, "spans": [[6, 6]]}]
    assert merged.forget("7.jpg").lessons_[1]["spans"] == [[6, 1], [8, 4]]

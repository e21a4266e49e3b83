"""Vectors as they are: where lengths are kept, neither offsets nor units matter."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from exll import ExLLClassifier, load
from exll.errors import InputError, ModelFileError
from exll.saving.model_file import read_model, write_model
from exll.scaling import FIRST, First, Scaling
from exll.types import Matrix, RecordsKind
from support import assert_equal_models

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 4, 300)
X = 1.5 * RNG.normal(size=(4, 8))[Y] + RNG.normal(size=(300, 8))
LABELS = [f"c{k}" for k in Y]
REFS = [f"{i}.jpg" if i % 3 else None for i in range(300)]
TAUGHT, ASKED = slice(0, 150), slice(150, 300)


def accuracy(rows: Matrix, order: NDArray[np.intp], **parameters: Any) -> float:
    model = ExLLClassifier(**parameters).fit(rows[TAUGHT][order], Y[TAUGHT][order])
    return float(model.score(rows[ASKED], Y[ASKED]))


@pytest.mark.parametrize("order", [np.arange(150), np.argsort(Y[TAUGHT], kind="stable")], ids=["any order", "by class"])
def test_offsets_and_scales_make_no_difference(order: NDArray[np.intp]) -> None:
    expected = LinearDiscriminantAnalysis().fit(X[TAUGHT], Y[TAUGHT]).score(X[ASKED], Y[ASKED])
    units = 10.0 ** np.arange(-4, 4)
    for scale, offset in ((1.0, 1e4), (1e-3, 1.0), (1e3, 0.0), (units, -7.0)):
        assert accuracy(scale * X + offset, order) == pytest.approx(accuracy(X, order), abs=0.005)
    assert accuracy(units * X, order, lengths="ignored") < expected - 0.1


@pytest.mark.parametrize("by_class", [False, True], ids=["any order", "by class"])
def test_clouds_are_told_apart_as_by_linear_discriminant_analysis(by_class: bool) -> None:
    differences = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 4, 600)
        rows = 1.5 * rng.normal(size=(4, 8))[y] + rng.normal(size=(600, 8))
        order = np.argsort(y[:150], kind="stable") if by_class else np.arange(150)
        model = ExLLClassifier().fit(rows[order], y[order])
        expected = LinearDiscriminantAnalysis().fit(rows[:150], y[:150])
        differences.append(model.score(rows[150:], y[150:]) - expected.score(rows[150:], y[150:]))
    assert abs(np.mean(differences)) < 0.01


def test_iris_is_answered_as_by_linear_discriminant_analysis() -> None:
    data = load_iris()
    order = np.random.default_rng(0).permutation(150)
    taught, asked = order[:75], order[75:]
    expected = LinearDiscriminantAnalysis().fit(data.data[taught], data.target[taught])
    model = ExLLClassifier().fit(data.data[taught], data.target[taught])
    right = model.score(data.data[asked], data.target[asked])
    assert right > expected.score(data.data[asked], data.target[asked]) - 0.02


@pytest.mark.parametrize("sizes", [[1], [7, 3], [15, 1, 30], [40]], ids=str)
@pytest.mark.parametrize("records", ["refs", 2])
def test_how_the_first_samples_are_cut_into_calls_makes_no_difference(sizes: list[int], records: RecordsKind) -> None:
    whole = ExLLClassifier(records=records).fit(X[:40], LABELS[:40], refs=REFS[:40])
    pieces, start = ExLLClassifier(records=records), 0
    while start < 40:
        stop = min(start + sizes[start % len(sizes)], 40)
        pieces.partial_fit(X[start:stop], LABELS[start:stop], refs=REFS[start:stop])
        if stop <= FIRST:
            young = ExLLClassifier(records=records).fit(X[:stop], LABELS[:stop], refs=REFS[:stop])
            assert_equal_models(pieces, young)
        pieces.predict(X[ASKED])
        start = stop
    np.testing.assert_allclose(pieces.predict_proba(X[ASKED]), whole.predict_proba(X[ASKED]), atol=1e-9)


@pytest.mark.parametrize("stop", [1, 5, FIRST - 1, FIRST, FIRST + 5])
def test_saved_among_the_first_samples_it_goes_on_as_if_it_had_not_stopped(stop: int, tmp_path: Path) -> None:
    straight = ExLLClassifier(records=2).fit(X[:stop], LABELS[:stop], refs=REFS[:stop])
    straight.save(tmp_path / "young.exll")
    stopped = load(tmp_path / "young.exll", ExLLClassifier)
    for start, end in ((stop, stop), (stop, stop + 3), (stop + 3, 40)):
        if end > start:
            for model in (straight, stopped):
                model.partial_fit(X[start:end], LABELS[start:end], refs=REFS[start:end])
        assert_equal_models(straight, stopped)
        assert stopped.n_features_in_ == 8
        assert stopped.nbytes_ == straight.nbytes_


def test_a_class_renamed_among_the_first_samples_keeps_its_name() -> None:
    model = ExLLClassifier().fit(X[:6], LABELS[:6])
    old, other = model.learner_.labels[:2]
    model.rename_class(old, "new").rename_class(other, "new", merge=True)
    model.partial_fit(X[6:7], ["last"])
    assert model.megacloud("new").count == sum(label in (old, other) for label in LABELS[:6])
    assert old not in model.classes_


def test_lessons_and_names_of_features_outlast_the_first_samples(tmp_path: Path) -> None:
    names = [f"feature {i}" for i in range(8)]
    model = ExLLClassifier().fit(pd.DataFrame(X[:5], columns=names), LABELS[:5])
    model.lessons_ = [{"source": "somewhere"}]
    model.save(tmp_path / "model.exll")
    model = load(tmp_path / "model.exll", ExLLClassifier)
    model.partial_fit(pd.DataFrame(X[5:30], columns=names), LABELS[5:30])
    assert model.feature_names_in_.tolist() == names
    assert model.lessons_ == [{"source": "somewhere"}]
    table = pd.DataFrame(X[30:31], columns=names)
    assert model.explain(table) == model.explain(table.iloc[0])


def test_everything_can_be_asked_where_lengths_are_kept() -> None:
    model = ExLLClassifier(records="vectors").fit(X[TAUGHT] + 1000.0, LABELS[TAUGHT])
    x = X[200] + 1000.0
    hit = model.explain(x).hit
    assert hit.label == model.predict([x])[0]
    assert model.without(x, hit.prototype).global_label_after in model.classes_
    assert len(model.suspects().ranked) == len(model.suspects(X[TAUGHT] + 1000.0, LABELS[TAUGHT]).ranked) == 150
    assert model.novelty([x + 50.0])[0] > model.novelty([x])[0]
    assert model.predict([np.zeros(8)]).shape == (1,)
    with pytest.raises(InputError, match="expecting 8 features"):
        model.predict(np.ones((1, 9)))


def test_wrong_labels_are_found_among_measurements() -> None:
    data = load_wine()
    labels = data.target.copy()
    wrong = [5, 60, 100, 150]
    labels[wrong] = (labels[wrong] + 1) % 3
    model = ExLLClassifier(records="vectors").fit(data.data, labels)
    for found in (model.suspects(), model.suspects(data.data, labels)):
        assert {suspect.position for suspect in found.ranked[:4]} == set(wrong)
        assert len(found.contradicted()) >= 3


def test_wide_vectors_and_the_paper_ignore_lengths_unless_told_otherwise() -> None:
    wide = RNG.normal(size=(20, 64))
    for rows, preset in ((wide, "glocal"), (X[:20], "paper")):
        auto = ExLLClassifier(preset).fit(rows, Y[:20])
        ignored = ExLLClassifier(preset, lengths="ignored").fit(rows, Y[:20])
        kept = ExLLClassifier(preset, lengths="kept").fit(rows, Y[:20])
        np.testing.assert_array_equal(auto.predict_proba(rows), ignored.predict_proba(rows))
        assert kept.learner_.width == ignored.learner_.width + 1
        with pytest.raises(InputError, match="row 0 is all zeros"):
            auto.predict(np.zeros_like(rows))


def test_a_feature_that_does_not_vary_has_the_median_unit_of_the_others() -> None:
    rows = np.array([[0.1, 5.0, 1e9, 0.0], [0.1, 7.0, 1e9 + 4.0, 0.0], [0.1, 9.0, 1e9 + 8.0, 0.0]])
    scaling = Scaling.of(First(rows))
    ((_, units),) = scaling.chunks(rows[:1] + np.array([2.0, 0.0, 0.0, 1e90]))
    assert np.isfinite(units).all()
    median = np.median([np.std([5, 7, 9]), np.std([0, 4, 8])])
    ((_, near),) = scaling.chunks(rows[1:2] + np.array([median, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(near[0] / near[0, -1], [1 / 16, 0, 0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("lengths", ["long", None, True])
def test_another_word_for_lengths_is_refused(lengths: Any) -> None:
    with pytest.raises(InputError, match="'lengths' parameter of ExLLClassifier must be 'auto', 'kept' or 'ignored'"):
        ExLLClassifier(lengths=lengths).fit(X, Y)


def test_lengths_are_fixed_at_the_first_example() -> None:
    model = ExLLClassifier().fit(X, Y).set_params(lengths="ignored")
    with pytest.raises(InputError, match=r"'lengths' parameter .* fixed at the first example"):
        model.partial_fit(X, Y)
    assert model.fit(X, Y).learner_.width == 8


FORGED: dict[str, Any] = {
    "lengths that are ignored": lambda f, t: f.update(lengths="ignored"),
    "lengths of no kind": lambda f, t: f.update(lengths="long"),
    "no scaling": lambda f, t: [t.pop(name) for name in list(t) if name.startswith("scaling.")],
    "more first samples": lambda f, t: t.update({"scaling.rows": np.ones((20, 8))}),
    "none of them": lambda f, t: t.update({name: t[name][:0] for name in t if name.startswith("scaling.")}),
    "a row that is no number": lambda f, t: t.update({"scaling.rows": t["scaling.rows"] * np.nan}),
    "a row beyond all numbers": lambda f, t: t.update({"scaling.rows": t["scaling.rows"] + 1e200}),
    "classes below all": lambda f, t: t.update({"scaling.classes": t["scaling.classes"] - 1}),
    "classes above all": lambda f, t: t.update({"scaling.classes": t["scaling.classes"] + 1}),
    "one class": lambda f, t: t.update({"scaling.classes": t["scaling.classes"] * 0}),
    "another number of samples": lambda f, t: [
        t.pop("scaling.rows"),
        t.update({"scaling.mean": np.zeros(8), "scaling.unit": np.ones(8)}),
    ],
}
FORGED_LATER: dict[str, Any] = {
    "a mean of another width": lambda f, t: t.update({"scaling.mean": np.zeros(9)}),
    "a mean that is no number": lambda f, t: t.update({"scaling.mean": np.full(8, np.nan)}),
    "a unit of nothing": lambda f, t: t.update({"scaling.unit": np.zeros(8)}),
    "a unit below nothing": lambda f, t: t.update({"scaling.unit": np.full(8, -1.0)}),
    "no unit": lambda f, t: t.pop("scaling.unit"),
    "first samples": lambda f, t: t.update(
        {"scaling.rows": X[:5], "scaling.classes": np.zeros(5, int), "scaling.refs.utf8": np.zeros(0, np.uint8)}
        | {"scaling.refs.offsets": np.zeros(6, int)}
    ),
}


@pytest.mark.parametrize(
    ("fault", "samples"), [*((name, 9) for name in FORGED), *((name, 40) for name in FORGED_LATER)], ids=str
)
def test_a_file_with_an_impossible_scaling_is_refused(fault: str, samples: int, tmp_path: Path) -> None:
    path = tmp_path / "model.exll"
    ExLLClassifier(lengths="kept").fit(X[:samples], LABELS[:samples]).save(path)
    file = read_model(path)
    metadata, tensors = {k: v for k, v in file.metadata.items() if k != "format"}, dict(file.tensors)
    {**FORGED, **FORGED_LATER}[fault](metadata, tensors)
    write_model(path, metadata, tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


def test_a_young_model_is_saved_whole_while_another_thread_renames_a_class(tmp_path: Path) -> None:
    model = ExLLClassifier().fit([[1.0, 2.0], [3.0, 1.0]], ["a", "b"])
    with model.known_.lock:
        other = threading.Thread(target=model.save, args=(tmp_path / "m.exll",))
        other.start()
        model.rename_class("a", "c")
    other.join()
    assert load(tmp_path / "m.exll").classes_.tolist() == ["b", "c"]

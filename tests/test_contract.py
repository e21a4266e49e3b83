"""What every learner of ours keeps to: ExLL and all that it is compared with."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from exll import ExLLClassifier, ModelFileError, checks, load
from exll.baselines import (
    CBCL,
    KLDA,
    KNN,
    NAMES,
    NCM,
    SLDA,
    XDNN,
    FeCAM,
    FineTune,
    LeastSquares,
    NaiveBayes,
    Perceptron,
    RanPAC,
    Replay,
    SOvR,
    StreamingRDA,
    baseline_class,
)
from exll.errors import InputError
from exll.saving.model_file import read_model, write_model
from exll.types import Tensors
from support import assert_equal_models, random_stream

STREAM = random_stream(30, width=12, classes=5, samples=150)
QUERIES = STREAM.queries

LEARNERS: dict[str, Any] = {
    "glocal": ExLLClassifier(preset="glocal"),
    "paper": ExLLClassifier(preset="paper"),
    "ncm": NCM(),
    "slda": SLDA(),
    "slda-centred": SLDA("centred"),
    "sovr": SOvR(),
    "naive-bayes": NaiveBayes(),
    "naive-bayes-hayes": NaiveBayes("hayes"),
    "perceptron": Perceptron(),
    "fine-tune": FineTune(),
    "replay-2": Replay(per_class=2),
    "replay-60": Replay(capacity=60),
    "cbcl": CBCL(distance=3.0),
    "slda-normalised": SLDA(normalise=True),
    "replay-normalised": Replay(per_class=15, normalise=True, random_state=5),
    "rls": LeastSquares(),
    "rls-penalty": LeastSquares(penalty=0.1, normalise=True),
    "ranpac": RanPAC(features=30),
    "ranpac-normalised": RanPAC(features=200, normalise=True, random_state=5),
    "klda": KLDA(features=30, gamma=0.01),
    "klda-cosine": KLDA("cosine", features=30, normalise=True),
    "fecam": FeCAM(),
    "rda": StreamingRDA(),
    "knn": KNN(k=3, capacity=60),
    "xdnn": XDNN(normalise=True),
    "xdnn-mended": XDNN("mended"),
}
OURS = ("glocal", "paper")
BASELINES = [name for name in LEARNERS if name not in OURS]


def taught(learner: Any, rows: slice = slice(None)) -> Any:
    return clone(learner).partial_fit(STREAM.X[rows], STREAM.y[rows])


def test_every_baseline_is_under_contract_and_has_its_name() -> None:
    assert {LEARNERS[name].name for name in BASELINES} == set(NAMES)
    assert all(baseline_class(name).name == name for name in NAMES)
    with pytest.raises(InputError, match="there is no baseline 'svm'; there are 'ncm', "):
        baseline_class("svm")


ZEROS = (
    "rounds its data to integers, which leaves rows of zeros; a zero vector has no direction (docs/decisions.md, 12)"
)
EXPECTED_FAILURES = {
    (name, "check_estimators_dtypes"): ZEROS for name in LEARNERS if name not in OURS and LEARNERS[name].normalise
}


@pytest.mark.parametrize(
    ("name", "estimator", "check"),
    [
        pytest.param(name, estimator, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
        for name in BASELINES  # for ours see test_estimator.py
        for estimator, check in estimator_checks_generator(LEARNERS[name])
    ],
)
def test_scikit_learn_contract(name: str, estimator: Any, check: Any) -> None:
    if (name, getattr(check, "func", check).__name__) in EXPECTED_FAILURES:
        with pytest.raises(InputError, match="all zeros"):
            check(estimator)
    else:
        check(estimator)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_every_learner_passes_every_check(name: str, check: Callable[[checks.Make], None]) -> None:
    check(lambda: clone(LEARNERS[name]))


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_refused_is_an_input_error_of_one_line(name: str) -> None:
    model = taught(LEARNERS[name])
    refused: list[Callable[[], Any]] = [partial(model.predict_proba, X) for X in checks.BAD_QUERIES.values()]
    refused += [partial(model.partial_fit, bad.X, bad.y, **bad.options) for bad in checks.BAD_EXAMPLES.values()]
    for call in refused:
        with pytest.raises(InputError) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", LEARNERS)
def test_answers_held_by_a_reader_do_not_change_while_learning_goes_on(name: str) -> None:
    learner = clone(LEARNERS[name])
    if isinstance(learner, ExLLClassifier):
        learner.set_params(lengths="ignored")  # the parts inside are asked with unit vectors
    check_held_answers(learner)


def check_held_answers(learner: Any) -> None:
    """By the parts inside a learner, which other people's need not have."""
    learner.partial_fit(STREAM.X[:80], STREAM.y[:80])
    if isinstance(learner, ExLLClassifier):
        held = learner.learner_.inference()
        ask: Callable[[], Any] = lambda: held.posteriors(STREAM.unit_queries, "global")[1]  # noqa: E731
    else:
        answers = learner.learner_.answers()
        ask = lambda: answers.posteriors(QUERIES)  # noqa: E731
    before = ask()
    learner.partial_fit(STREAM.X[80:], STREAM.y[80:])
    np.testing.assert_array_equal(ask(), before)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("sizes", [[1], [7, 64, 3], [65, 1]])
def test_how_a_stream_is_cut_into_calls_does_not_matter_to_the_last_bit(name: str, sizes: list[int]) -> None:
    # For ExLL, which decides alike but adds in another order, see learner/test_invariants.py.
    model, start = clone(LEARNERS[name]), 0
    while start < len(STREAM.y):
        size = sizes[start % len(sizes)]
        model.partial_fit(STREAM.X[start : start + size], STREAM.y[start : start + size])
        start += size
    assert_equal_models(model, taught(LEARNERS[name]))


@pytest.mark.parametrize("name", ["ncm", "cbcl"])
def test_raw_vectors_far_from_zero_are_told_apart(name: str) -> None:
    rng = np.random.default_rng(3)
    means = 1e4 + 0.1 * rng.normal(size=(4, 6))
    model = clone(LEARNERS[name]).fit(means, list(range(4)))
    queries = means + 0.01 * rng.normal(size=means.shape)
    assert model.predict(queries).tolist() == list(range(4))
    np.testing.assert_allclose(model.predict_proba(queries).sum(axis=1), 1, atol=1e-12)
    distances = np.square(queries[:, None] - means).sum(axis=2)
    likely = np.exp(-distances) / np.exp(-distances).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(queries), likely, atol=1e-9)


# A gradient step and a perceptron's correction tell two classes with the same vectors apart; means cannot. The paper's
# table of pairs can (see test_estimator.py for its local and global inference).
@pytest.mark.parametrize("name", ["glocal", *(n for n in BASELINES if "tune" not in n and "replay" not in n)])
def test_the_same_vector_under_two_labels_goes_to_the_class_seen_first(name: str) -> None:
    x = [[0.3, 0.5, 0.2]]
    model = clone(LEARNERS[name]).partial_fit(np.repeat(x, 2, axis=0), ["zebra", "ant"])
    assert model.predict(x).tolist() == ["zebra"]
    assert model.classes_[model.predict_proba(x).argmax()] == "zebra"


@pytest.mark.parametrize("name", [name for name in BASELINES if not LEARNERS[name].normalise])
def test_raw_vectors_may_be_zero_but_not_of_any_size(name: str) -> None:
    model = taught(LEARNERS[name])
    model.partial_fit(np.zeros((1, 12)), [0]).predict(np.zeros((1, 12)))
    for X in (np.full((1, 12), 1e101), np.full((1, 12), 1e308)):
        with pytest.raises(InputError, match="at most 1e\\+100 in size; row 0"):
            model.partial_fit(X, [0])
    if name.startswith("slda"):  # see below
        return
    model.partial_fit(np.full((1, 12), 1e99), [1])
    assert np.isfinite(model.predict_proba(QUERIES)).all()


def test_slda_says_so_when_its_shrinkage_is_lost_in_rounding() -> None:
    model = SLDA().fit(1e12 * STREAM.X[:3], [0, 1, 2]).partial_fit(np.full((9, 12), 1e20), [0] * 9)
    with pytest.raises(InputError, match=r"too large for a shrinkage of 0.0001.* take normalise=True"):
        model.predict(QUERIES)


@pytest.mark.parametrize("name", ["slda", "cbcl", "perceptron"])
def test_normalise_is_the_same_as_giving_unit_vectors(name: str) -> None:
    model = clone(LEARNERS[name])
    inside = clone(model).set_params(normalise=True).fit(STREAM.X, STREAM.y).predict_proba(QUERIES)
    outside = model.fit(STREAM.unit, STREAM.y).predict_proba(STREAM.unit_queries)
    np.testing.assert_allclose(inside, outside, atol=1e-9)
    model.set_params(normalise=True)
    with pytest.raises(InputError, match=r"'normalise' parameter .* fixed at the first example \(False\)"):
        model.predict(QUERIES)


PARAMETERS: list[tuple[Any, str]] = [
    (NCM(normalise="yes"), "'normalise' parameter of NCM must be True or False. Got 'yes' instead."),  # type: ignore[arg-type]
    (SLDA("batch"), "'variant' .* 'published' or 'centred'. Got 'batch'"),  # type: ignore[arg-type]
    (SLDA(["centred"]), "'variant' .* 'published' or 'centred'. Got \\['centred'\\]"),  # type: ignore[arg-type]
    (SLDA(shrinkage=0), "'shrinkage' parameter of SLDA must be a number between 0 and 1. Got 0 instead."),
    (SLDA(shrinkage=float("nan")), "'shrinkage' .* Got nan"),
    (NaiveBayes("bernoulli"), "'variant' .* 'gaussian' or 'hayes'. Got 'bernoulli'"),  # type: ignore[arg-type]
    (FineTune(learning_rate=-1), "'learning_rate' .* Got -1"),
    (FineTune(random_state=-1), "'random_state' .* Got -1"),
    (Replay(per_class=0), "'per_class' .* at least 1. Got 0"),
    (Replay(capacity=2.5), "'capacity' .* Got 2.5"),  # type: ignore[arg-type]
    (CBCL(distance="far"), "'distance' .* Got 'far'"),  # type: ignore[arg-type]
    (LeastSquares(penalty=0), "'penalty' parameter of LeastSquares must be 'auto' or a number above 0. Got 0"),
    (RanPAC(features=0), "'features' parameter of RanPAC must be an integer from 1 to 20000. Got 0 instead."),
    (KLDA("linear"), "'variant' .* 'lda' or 'cosine'. Got 'linear'"),  # type: ignore[arg-type]
    (KLDA(gamma=-1), "'gamma' .* Got -1"),
    (FeCAM(gamma1=0), "'gamma1' .* Got 0"),
    (StreamingRDA(share=1.5), "'share' parameter of StreamingRDA must be a number from 0 to 1. Got 1.5 instead."),
    (KNN(k=0), "'k' parameter of KNN must be an integer of at least 1. Got 0"),
    (XDNN("text"), "'variant' .* 'published' or 'mended'. Got 'text'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("model", "message"), PARAMETERS, ids=[str(model) for model, _ in PARAMETERS])
def test_bad_parameters_are_named_at_the_first_example(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(STREAM.X, STREAM.y)


@pytest.mark.parametrize("name", BASELINES)
def test_sizes_are_those_of_what_is_held(name: str) -> None:
    model = taught(LEARNERS[name])
    expected = {
        "ncm": 5 * 12,
        "slda": 5 * 12 + 12 * 12,
        "slda-centred": 5 * 12 + 12 * 12,
        "sovr": 5 * 12,
        "naive-bayes": 2 * 5 * 12,
        "perceptron": 5 * 12,
        "fine-tune": 5 * 13,
        "replay-2": 5 * 13 + 10 * 12,
        "replay-60": 5 * 13 + 60 * 12,
        "rls": 2 * 12 * (12 + 5),
        "rls-penalty": 12 * (12 + 5),
        "ranpac": 12 * 30 + 2 * 30 * (30 + 5),
        "klda": 13 * 30 + 30 * (30 + 5),
        "fecam": 5 * 12 + 5 * 12 * 12,
        "rda": 5 * 12 + 5 * 12 * 12,
        "knn": 60 * 12,
    }
    if name in expected:
        assert model.n_parameters_ == expected[name]
    # Of a symmetric matrix half is held, and of few samples the samples.
    width = getattr(model, "features", 12)
    matrices = {"slda": 1, "rls": 2, "ranpac": 2, "klda": 1, "fecam": 5, "rda": 5}.get(name.split("-")[0], 0)
    sums = 2 * 5 * width if name == "ranpac-normalised" else 0
    assert model.nbytes_ >= 8 * (model.n_parameters_ - matrices * width**2 - sums)


def forged(fault: str, metadata: dict[str, Any], tensors: Tensors) -> None:
    array = next(
        n for n in ("rule.means", "rule.weights", "rule.centroids", "rule.pending", "rule.kept") if n in tensors
    )
    if fault == "a class too many":
        tensors[array] = np.vstack([tensors[array], tensors[array][:1]])
    elif fault == "not finite":
        tensors[array] = np.full_like(tensors[array], np.nan)
    elif fault == "another width":
        metadata["width"] += 1
    elif fault == "more samples":
        tensors["samples"] = np.array(10**6) if "rule.counts" in tensors else np.array(1)
    elif fault == "an unknown learner":
        metadata["learner"] = "oracle of delphi"
    elif fault == "an unknown parameter":
        metadata["parameters"]["colour"] = "red"
    elif fault == "a bad parameter":
        metadata["parameters"]["normalise"] = 3
    elif fault == "another kind of label":
        metadata["labels"] = "boolean"
    elif fault == "a label twice":
        tensors["labels"] = np.zeros_like(tensors["labels"])
    else:
        del tensors[array]


FAULTS = [
    "a class too many",
    "not finite",
    "another width",
    "more samples",
    "an unknown learner",
    "an unknown parameter",
    "a bad parameter",
    "another kind of label",
    "a label twice",
    "a part missing",
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", BASELINES)
def test_a_well_formed_file_with_an_impossible_model_is_refused(name: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "m.exll"
    taught(LEARNERS[name]).save(path)
    file = read_model(path)
    metadata, tensors = {k: v for k, v in file.metadata.items() if k != "format"}, dict(file.tensors)
    assert metadata["kind"] == "baseline"
    forged(fault, metadata, tensors)
    write_model(path, metadata, tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


SPOILT: dict[str, tuple[str, str, Any]] = {
    "a generator of another kind": ("fine-tune", "rule.generator", np.zeros(6, np.int64)),
    "a generator with an even step": ("replay-2", "rule.generator", np.zeros(6, np.uint64)),
    "a velocity missing": ("fine-tune", "rule.velocity", np.zeros((4, 13))),
    "too few kept": ("replay-2", "rule.kept", np.zeros((2, 12))),
    "kept of no class": ("replay-2", "rule.kept_classes", np.full(10, 99)),
    "negative squares": ("naive-bayes", "rule.squares", np.full((5, 12), -1.0)),
    "an empty class": ("cbcl", "rule.sizes", np.array([0, 0, 0, 0, 0])),
    "a count of nothing": ("ncm", "rule.counts", np.array([0, 0, 0, 0, 150])),
    "rows missing": ("slda", "rule.statistics.pending", np.zeros((1, 12))),
    "sums of a class missing": ("rls", "rule.sums", np.zeros((4, 12))),
    "held out too often": ("rls", "rule.held.counts", np.array([128, 0, 0, 0, 0])),
    "products of another width": ("ranpac", "rule.triangle", np.zeros(12)),
    "no products": ("klda", "rule.triangle", np.zeros(0)),
    "pending of no class": ("klda", "rule.pending_classes", np.full(22, 5)),
    "features of no generator": ("klda", "rule.generator", np.zeros(6, np.uint64)),
    "a scatter of fewer": ("rda", "rule.scatter0.rows_added", np.array(3)),
    "fewer neighbours": ("knn", "rule.kept_classes", np.zeros(59, np.int64)),
    "a mean too many": ("xdnn", "rule.means", np.zeros((6, 12))),
    "a count of another stream": ("slda", "rule.statistics.count", np.array(86)),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_file_with_a_spoilt_part_is_refused(fault: str, tmp_path: Path) -> None:
    name, part, value = SPOILT[fault]
    path = tmp_path / "m.exll"
    taught(LEARNERS[name]).save(path)
    file = read_model(path)
    assert part in file.tensors
    write_model(path, {k: v for k, v in file.metadata.items() if k != "format"}, {**file.tensors, part: value})
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)

"""The lift, against the same sums over the whole history."""

from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.glocal.inference import GlocalInference
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.lift import (
    FEATURES_PER_NUMBER,
    MOST_FEATURES,
    RIDGE,
    Lift,
    LiftedProducts,
    directions,
    lifted,
)
from exll.learner.glocal.reservoir import MOST
from exll.types import Matrix, Vector
from support import glocal_learner, random_stream

WIDTH, CLASSES, SAMPLES = 6, 4, 1200
FIRST_NUMBERS = [
    1.479213,
    0.843822,
    0.528715,
]  # of the first three directions of 20 numbers, as model files count on them


def rings(samples: int, seed: int = 0) -> tuple[Matrix, Any]:
    """Two classes that no plane separates: the first has a large first number, on either side."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, samples)
    X = rng.normal(0, 0.15, size=(samples, WIDTH)) + 1.0
    X[:, 0] = np.where(y == 0, rng.choice([-1.5, 1.5], samples), 0.0) + rng.normal(0, 0.3, samples)
    return X, y


def some_samples(samples: int = SAMPLES, seed: int = 0) -> tuple[Matrix, Any]:
    stream = random_stream(seed, width=WIDTH, classes=CLASSES, samples=samples, queries=0)
    return stream.unit, np.array(stream.y)


def taught(X: Matrix, y: Any) -> Lift:
    lift = Lift(X.shape[1])
    lift.begin(X.mean(axis=0))
    lift.learn_all(X, y)
    return lift


def slow_lift(X: Matrix) -> Matrix:
    Z: Matrix = (X - np.rint(X.mean(axis=0))) @ directions(X.shape[1]).astype(np.float64)
    return np.maximum(0.0, Z)


def slow_means(Z: Matrix, y: Any) -> Matrix:
    return np.array([Z[y == k].mean(axis=0) for k in range(max(y) + 1)])


def slow_scatter(Z: Matrix, y: Any) -> Matrix:
    residuals = Z - slow_means(Z, y)[y]
    return np.asarray(residuals.T @ residuals)


def test_directions_are_even_and_always_the_same() -> None:
    P = directions(20).astype(np.float64)
    assert P.shape == (20, 20 * FEATURES_PER_NUMBER)
    for block in np.split(P, FEATURES_PER_NUMBER, axis=1):
        np.testing.assert_allclose(block @ block.T, 20 * np.eye(20), atol=1e-4)
    assert directions(600).shape == (600, MOST_FEATURES)
    np.testing.assert_allclose(P[0, :3], FIRST_NUMBERS, atol=1e-5)


@pytest.mark.parametrize("samples", [1025, 1100, 1200])
def test_classes_are_those_of_all_samples_whether_or_not_some_still_wait(samples: int) -> None:
    X, y = some_samples(samples)
    Z, classes = slow_lift(X), taught(X, y).classes()
    scatter = slow_scatter(Z, y)
    covariance = scatter / samples + RIDGE * np.trace(scatter) / (samples * len(scatter)) * np.eye(len(scatter))
    means, origin = slow_means(Z, y), Z.mean(axis=0)
    np.testing.assert_allclose(classes.origin, origin, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(classes.means + classes.origin, means, rtol=1e-4, atol=1e-4)
    products = np.linalg.solve(covariance, (means - origin).T).T
    np.testing.assert_allclose(classes.products, products, rtol=2e-3, atol=2e-3 * np.abs(products).max())
    np.testing.assert_allclose(classes.dots(X[:5]), (Z[:5] - origin) @ products.T, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("together", [False, True])
def test_leaving_out_is_learning_without(together: bool) -> None:
    """Alone, or with three others of its class, which only the mean of the class loses."""
    X, y = some_samples(SAMPLES)
    some = np.concatenate([np.flatnonzero(y == k)[:4] for k in range(CLASSES)])
    products, rows = LiftedProducts(taught(X, y).classes(), X[some], y[some]), np.arange(len(some))
    missing = np.full(len(some), 4.0 if together else 1.0)
    towards, nearness, norms = products.left_out(rows, missing, y[some] if together else None)
    Z = slow_lift(X)
    whole, width = slow_scatter(Z, y), Z.shape[1]
    ridge, origin, means = RIDGE * np.trace(whole) / (SAMPLES * width), Z.mean(axis=0), slow_means(Z, y)
    for row, i in enumerate(some.tolist()):
        rest = np.arange(SAMPLES) != i
        covariance = slow_scatter(Z[rest], y[rest]) / SAMPLES + ridge * np.eye(width)
        without = means.copy()
        gone = some[y[some] == y[i]] if together else [i]
        without[y[i]] = np.delete(Z, gone, axis=0)[np.delete(y, gone) == y[i]].mean(axis=0)
        z = Z[i] - origin
        dots = np.linalg.solve(covariance, z) @ (without - origin).T
        squares = np.array([mean @ np.linalg.solve(covariance, mean) for mean in means - origin])
        np.testing.assert_allclose(towards[row], dots / np.sqrt(squares), rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(nearness[row], dots - 0.5 * squares, rtol=2e-3, atol=2e-3)
        assert norms[row] == pytest.approx(np.sqrt(z @ np.linalg.solve(covariance, z)), rel=1e-3)


def test_it_begins_when_the_reservoir_is_full_and_how_the_stream_is_cut_does_not_matter() -> None:
    X, y = rings(MOST + 300)
    whole, pieces = ExLLClassifier(), ExLLClassifier()
    whole.fit(X, y)
    for start in range(0, len(X), 77):
        pieces.partial_fit(X[start : start + 77], y[start : start + 77])
    young = glocal_learner(ExLLClassifier().fit(X[: MOST - 1], y[: MOST - 1]))
    assert not young._lift.begun
    assert young._lift.nbytes == 0
    assert glocal_learner(whole)._lift.begun
    one, other = (glocal_learner(model).state() for model in (whole, pieces))
    names = [name for name in one if name.startswith("lift.")]
    assert len(names) > 5
    for name in names:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_it_tells_apart_what_no_plane_can() -> None:
    X, y = rings(3000)
    queries, truth = rings(1000, seed=1)
    model = ExLLClassifier(max_prototypes=1).fit(X, y)
    assert glocal_learner(model)._judgement.lifts
    assert (model.predict(queries, "global") == truth).mean() < 0.8
    assert (model.predict(queries) == truth).mean() > 0.85


def linear_parts(learner: GlocalLearner, x: Vector, k: int) -> tuple[float, float]:
    """The score by weights and offset, and the fused score less what prototypes add."""
    asked = learner.inference()
    assert isinstance(asked, GlocalInference)
    weights, offset = asked.linear_score(x, k)
    parts = asked.parts(x[None, :], asked.dots(x[None, :]))
    return float(weights @ x + offset), float((parts.fused - parts.local)[0, k])


def test_the_score_is_linear_around_every_input_and_sums_to_the_explanation() -> None:
    X, y = rings(2000)
    model = ExLLClassifier().fit(X, y)
    learner = glocal_learner(model)
    lifted_scores = []
    for row in X[:20]:
        x = learner_input(model, row)
        for k in range(2):
            by_weights, by_parts = linear_parts(learner, x, k)
            assert by_weights == pytest.approx(by_parts, rel=1e-3, abs=1e-3)
        explanation = model.explain(row)
        assert explanation.class_share is not None
        assert explanation.local_score is not None
        assert explanation.lifted_score is not None
        asked = learner.inference()
        assert isinstance(asked, GlocalInference)
        fused, _ = asked.fused_scores(x[None, :])
        total = explanation.class_share * explanation.global_score + explanation.local_score + explanation.lifted_score
        assert total == pytest.approx(fused[0, asked.labels.index(explanation.label)], rel=1e-6, abs=1e-6)
        lifted_scores.append(explanation.lifted_score)
    assert max(np.abs(lifted_scores)) > 0.1


def learner_input(model: ExLLClassifier, row: Vector) -> Vector:
    """The unit vector that the learner sees."""
    return model._ask_one(row)[1]


def test_merged_classes_are_those_of_one_label() -> None:
    X, y = some_samples()
    merged, one = taught(X, y), taught(X, np.where(y == 3, 1, y))
    merged.merge(1, 3)
    for array, other in zip(merged.classes().__dict__.values(), one.classes().__dict__.values(), strict=True):
        if isinstance(array, np.ndarray):
            np.testing.assert_allclose(array, other, rtol=2e-2, atol=2e-2 * max(1.0, float(np.abs(other).max())))


def test_lifted_vectors_have_no_negative_number() -> None:
    X, _ = some_samples(100)
    Z = lifted(X, X.mean(axis=0).astype(np.float32))
    assert Z.min() == 0
    assert 0.3 < (Z > 0).mean() < 0.7


FORGED: dict[str, Any] = {
    "a class too many": lambda s: (
        s | {"counts": np.append(s["counts"], 1), "means": np.append(s["means"], s["means"][:1], 0)}
    ),
    "a class of nothing": lambda s: s | {"counts": np.array([0, *s["counts"][1:]])},
    "a count below zero": lambda s: s | {"counts": -s["counts"]},
    "a waiting sample of no class": lambda s: s | {"waiting_classes": s["waiting_classes"] * 0 - 1},
    "a waiting sample of a later class": lambda s: s | {"waiting_classes": s["waiting_classes"] * 0 + CLASSES + 1},
    "a sample too many": lambda s: s | {"counts": s["counts"] + 1},
    "a waiting sample without a vector": lambda s: s | {"waiting": s["waiting"][1:]},
    "a centre of another width": lambda s: s | {"centre": s["centre"][1:]},
    "a triangle of another width": lambda s: s | {"triangle": s["triangle"][1:]},
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_lift_is_refused(case: str) -> None:
    X, y = some_samples(1100)
    state = taught(X, y).state()
    Lift(WIDTH).restore(state, np.bincount(y))
    with pytest.raises(ValueError, match=r"the lift|of no class|triangle|shape"):
        Lift(WIDTH).restore(FORGED[case](state), np.bincount(y))


def test_a_class_without_a_lifted_sample_is_refused_although_its_waiting_samples_make_up_for_it() -> None:
    X, y = some_samples(1100)
    y = np.where(np.arange(1100) < 1090, y % 2, 2)
    state = taught(X, y).state()
    Lift(WIDTH).restore(state, np.bincount(y))
    forged = state | {
        "counts": np.append(state["counts"], 0),
        "means": np.append(state["means"], state["means"][:1], 0),
    }
    with pytest.raises(ValueError, match="the lift does not hold all samples"):
        Lift(WIDTH).restore(forged, np.bincount(y))


def test_the_reason_says_where_the_lift_decides() -> None:
    X, y = rings(2000)
    model, found = ExLLClassifier(max_prototypes=1).fit(X, y), 0
    for row in X[:60]:
        explanation = model.explain(row)
        if explanation.label not in (explanation.global_label, explanation.local_label):
            found += 1
            added = f'with the lift added, a second score of the classes, "{explanation.label}" has the largest sum'
            assert added in explanation.reason
        elif explanation.lifted_score:
            assert "of the lift" in explanation.reason
    assert found > 5
    assert "the lift" in explanation.combination.rule
    young = ExLLClassifier(max_prototypes=1).fit(X[:500], y[:500]).explain(X[0])
    assert "lift" not in young.reason + young.combination.rule


def test_classes_that_hardly_vary_are_told_apart_without_huge_numbers() -> None:
    y = np.arange(1200) % 2
    X = np.array([[1.0, 2.0, 3.0, 0.5], [3.0, -1.0, 0.5, 2.0]])[y]
    model = ExLLClassifier(lengths="ignored").fit(X, y)
    judged = glocal_learner(model)._judgement
    assert max(judged.lifted_weight, judged.lifted_nearness_weight) < 1e3
    assert model.predict(X[:2]).tolist() == [0, 1]


def test_it_has_no_weight_where_all_came_in_groups() -> None:
    X, y = rings(2000)
    groups = [f"{k} in place {i // 100}" for i, k in enumerate(y.tolist())]
    model = ExLLClassifier().fit(X, y)
    grouped = ExLLClassifier().partial_fit(X, y, groups=groups)
    assert glocal_learner(model)._judgement.lifts
    assert glocal_learner(grouped)._lift.begun
    assert not glocal_learner(grouped)._judgement.lifts

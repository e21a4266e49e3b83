import numpy as np
import pytest

from exll.learner.prototypes import START_RADIUS, Prototypes, density_condition
from exll.types import Matrix, Vector
from support import learned, random_stream, untaught


def prototypes_at(*centres: Vector) -> Prototypes:
    prototypes = Prototypes(len(centres[0]))
    for centre in centres:
        prototypes.add(centre)
        prototypes.open(0)
        prototypes.euclidean_squares[-1] = centre @ centre
    return prototypes


def unit(*values: float) -> Vector:
    return np.asarray(np.array(values) / np.linalg.norm(values))


def test_the_starting_radius_is_the_chord_of_30_degrees() -> None:
    assert pytest.approx(0.5176, abs=1e-4) == START_RADIUS


def test_the_second_sample_of_a_class_never_opens_a_cloud() -> None:
    # x and the first prototype are then equally far from their mean; rounding must not decide (decision 3).
    rng = np.random.default_rng(0)
    for _ in range(500):
        pair: Matrix = rng.normal(size=(2, 16))
        pair /= np.linalg.norm(pair, axis=1, keepdims=True)
        learner = untaught(16, "paper", 0.0, "none")
        learner.learn(pair, [0, 0])
        assert learner.prototype_count == 1


def test_denser_or_sparser_than_all_opens_a_cloud_and_between_does_not() -> None:
    mean = np.array([0.9, 0.0])
    near, far = unit(1.0, 0.2), unit(1.0, 0.8)
    prototypes = prototypes_at(near, far)
    members = prototypes.members(np.array([0, 1]))
    assert density_condition(unit(1.0, 0.1), mean, members)
    assert density_condition(unit(1.0, 0.9), mean, members)
    assert not density_condition(unit(1.0, 0.5), mean, members)
    assert not density_condition(far, mean, members)


def test_the_density_shortcut_equals_eq_9() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        X: Matrix = rng.normal(size=(6, 5))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        mean, sigma = X.mean(axis=0), float(np.mean(np.einsum("ij,ij->i", X, X)))
        centres = [X[:2].mean(axis=0), X[2], X[3:5].mean(axis=0)]

        def density(v: Vector, mean: Vector = mean, sigma: float = sigma) -> float:
            return float(1 / (1 + (v - mean) @ (v - mean) + sigma - mean @ mean))

        densities = [density(centre) for centre in centres]
        expected = density(X[5]) > max(densities) or density(X[5]) < min(densities)
        assert density_condition(X[5], mean, prototypes_at(*centres).members(np.arange(3))) == expected


def test_a_repeated_vector_joins_its_own_cloud() -> None:
    stream = random_stream(5, width=8, classes=1, samples=1)
    X = np.repeat(stream.unit, 50, axis=0)
    learner = untaught(8, "paper")
    learner.learn(X, [0] * 50)
    assert learner.supports == {0: 50}
    assert learner.megacloud(0).edges == {}


def test_prototype_ids_are_permanent() -> None:
    stream = random_stream(11, samples=300, classes=4)
    half = untaught(stream.X.shape[1], "paper")
    half.learn(stream.unit[:150], stream.y[:150])
    early = {record.position: j for j in range(half.prototype_count) for record in half.records(j)}
    half.learn(stream.unit[150:], stream.y[150:])
    late = {record.position: j for j in range(half.prototype_count) for record in half.records(j)}
    assert all(late[position] == j for position, j in early.items())
    assert learned(stream, "paper").prototype_count == half.prototype_count

"""The stronger baselines, each computed from the whole history in one batch.

Every function takes all vectors X and their classes y (numbers in the order of first sight) and the queries Q, and
gives the scores of the queries, (queries, classes).
"""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Classes = NDArray[np.int64]
SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def means_of(X: Matrix, y: Classes) -> Matrix:
    return np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])


def ridge(X: Matrix, Y: Matrix, penalty: float) -> Matrix:
    return np.asarray(np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ Y))


def fifth_of_each_class(y: Classes) -> NDArray[np.bool_]:
    return np.array([np.sum(y[: i + 1] == k) % 5 == 0 for i, k in enumerate(y)])


def least_squares(X: Matrix, y: Classes, Q: Matrix, penalty: float | None = None) -> Matrix:
    """Without a penalty, that of the seven with the least squared error on every fifth sample of a class."""
    Y = np.eye(y.max() + 1)[y]
    if penalty is None:
        held = fifth_of_each_class(y)
        scale = (X[~held] ** 2).sum(axis=0).mean()
        errors = [np.sum((X[held] @ ridge(X[~held], Y[~held], share * scale) - Y[held]) ** 2) for share in SHARES]
        share = 0.3 if held.sum() < 10 else SHARES[int(np.argmin(errors))]
        penalty = share * scale
    return np.asarray(Q @ ridge(X, Y, penalty))


def drawn(seed: int, inputs: int, features: int) -> tuple[Matrix, Matrix]:
    generator = np.random.Generator(np.random.PCG64(seed))
    return generator.normal(size=(inputs, features)), generator.uniform(0, 2 * np.pi, features)


def ranpac(X: Matrix, y: Classes, Q: Matrix, features: int, seed: int, penalty: float | None = None) -> Matrix:
    projection, _ = drawn(seed, X.shape[1], features)
    return least_squares(np.maximum(X @ projection, 0), y, np.maximum(Q @ projection, 0), penalty)


def within_covariance(X: Matrix, y: Classes) -> Matrix:
    residuals = X - means_of(X, y)[y]
    return np.asarray(residuals.T @ residuals / len(X))


def klda(
    X: Matrix, y: Classes, Q: Matrix, features: int, seed: int, gamma: float, shrinkage: float, cosine: bool
) -> Matrix:
    frequencies, phases = drawn(seed, X.shape[1], features)
    frequencies = frequencies * np.sqrt(2 * gamma)
    X, Q = (np.sqrt(2 / features) * np.cos(A @ frequencies + phases) for A in (X, Q))
    within = within_covariance(X, y)
    shrunk = (1 - shrinkage) * within + shrinkage * np.trace(within) / features * np.eye(features)
    precision = np.linalg.inv(shrunk)
    means = means_of(X, y)
    if not cosine:
        return np.asarray(Q @ precision @ means.T - 0.5 * np.diag(means @ precision @ means.T))
    means, Q = means - X.mean(axis=0), Q - X.mean(axis=0)
    lengths = np.sqrt(np.diag(Q @ precision @ Q.T))[:, None] * np.sqrt(np.diag(means @ precision @ means.T))
    return np.asarray(Q @ precision @ means.T / lengths)


def fecam(X: Matrix, y: Classes, Q: Matrix, gamma1: float, gamma2: float, power: float) -> Matrix:
    X, Q = (np.sign(A) * np.abs(A) ** power for A in (X, Q))
    Q = Q / np.linalg.norm(Q, axis=1, keepdims=True)
    width = X.shape[1]
    one = np.eye(width)
    columns = []
    for k in range(y.max() + 1):
        own = X[y == k]
        covariance = np.cov(own.T, bias=True).reshape(width, width) if len(own) > 1 else np.zeros((width, width))
        mean_diagonal = np.trace(covariance) / width
        mean_rest = (covariance.sum() - np.trace(covariance)) / (width * (width - 1))
        shrunk = covariance + gamma1 * mean_diagonal * one + gamma2 * mean_rest * (1 - one)
        deviations = np.sqrt(np.diag(shrunk))
        correlation = shrunk / np.outer(deviations, deviations) + 1e-6 * one if mean_diagonal > 0 else one
        steps = Q - own.mean(axis=0) / np.linalg.norm(own.mean(axis=0))
        columns.append(-0.5 * np.sum(steps @ np.linalg.inv(correlation) * steps, axis=1))
    return np.array(columns).T


def rda(X: Matrix, y: Classes, Q: Matrix, share: float, shrinkage: float) -> Matrix:
    shared = within_covariance(X, y)
    width = X.shape[1]
    columns = []
    for k in range(y.max() + 1):
        own = X[y == k] - X[y == k].mean(axis=0)
        mixed = (1 - share) * own.T @ own / len(own) + share * shared
        covariance = (1 - shrinkage) * mixed + shrinkage * np.trace(shared) / width * np.eye(width)
        steps = Q - X[y == k].mean(axis=0)
        distances = np.sum(steps @ np.linalg.inv(covariance) * steps, axis=1)
        columns.append(-0.5 * distances - 0.5 * np.linalg.slogdet(covariance)[1])
    return np.array(columns).T


def knn(X: Matrix, y: Classes, Q: Matrix, k: int, weighted: bool) -> Matrix:
    """The logarithm of the shares of the votes; all samples are kept."""
    rows = []
    centre = X.mean(axis=0)
    largest = max(np.sum((x - centre) ** 2) for x in X)
    for q in Q:
        least = 1e-12 * (np.sum((q - centre) ** 2) + largest)
        squares = np.array([max(np.sum((q - x) ** 2), least) for x in X])
        kth = sorted(squares)[min(k, len(X)) - 1]
        votes = np.zeros(y.max() + 1)
        for square, truth in zip(squares, y, strict=True):
            if square <= kth * (1 + 1e-9):
                votes[truth] += 1 / np.sqrt(square) if weighted else 1
        rows.append(np.log(np.maximum(votes / votes.sum(), 1e-12)))
    return np.array(rows)


def xdnn_prototypes(X: Matrix, farthest: bool) -> list[list[Matrix]]:
    """What joined each prototype of one class, from all its vectors in order."""
    members: list[list[Matrix]] = []
    for i, x in enumerate(X):
        mean = X[: i + 1].mean(axis=0)
        centres = [np.mean(joined, axis=0) for joined in members]
        away = [float(np.sum((centre - mean) ** 2)) for centre in centres]
        own = float(np.sum((x - mean) ** 2))
        if not members or own > max(away) + 1e-9 or own < min(away) - 1e-9:
            members.append([x])
            continue
        distances = [float(np.sum((x - centre) ** 2)) for centre in centres]
        best = max(distances) if farthest else min(distances)
        members[next(j for j, distance in enumerate(distances) if abs(distance - best) <= 1e-9)].append(x)
    return members


def xdnn(X: Matrix, y: Classes, Q: Matrix, farthest: bool) -> Matrix:
    columns = []
    for k in range(y.max() + 1):
        centres = [np.mean(joined, axis=0) for joined in xdnn_prototypes(X[y == k], farthest)]
        columns.append(np.max([-np.sum((Q - centre) ** 2, axis=1) for centre in centres], axis=0))
    return np.array(columns).T

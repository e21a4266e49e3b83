"""Fine-Tune: a linear layer, one step per sample, without any protection against forgetting."""

import numpy as np

from exll.baselines.gradient import GradientBaseline
from exll.baselines.linear_layer import LinearLayer
from exll.baselines.rule import LearningRule, LinearScores
from exll.types import Tensors, Vector


class FineTune(GradientBaseline):
    """One SGD step on the cross entropy of each sample as it comes (:class:`~exll.baselines.linear_layer.LinearLayer`).

    The model depends on the order of the stream: after classes that come one by one, it knows only the last.
    ``random_state`` draws the weights of new classes; with the same one the same stream gives the same model.

    >>> X = [[5.0, 0.0], [0.0, 5.0]] * 50
    >>> FineTune().fit(X, ["right", "up"] * 50).predict([[3.0, 1.0], [1.0, 3.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "fine-tune"

    def __init__(self, learning_rate: float = 0.001, random_state: int | None = 0, normalise: bool = False) -> None:
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return FineTuneRule(self._new_layer(width))


class FineTuneRule(LearningRule):
    def __init__(self, layer: LinearLayer) -> None:
        self._layer = layer

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self._layer):
            self._layer.add_class()
        self._layer.step(x[None, :], np.array([k]))

    def scores(self) -> LinearScores:
        return self._layer.scores()

    @property
    def n_parameters(self) -> int:
        return self._layer.n_parameters

    def state(self) -> Tensors:
        return self._layer.state()

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._layer.restore(state, classes)

"""What the learners that step along a gradient have in common."""

from exll.baselines.base import Baseline
from exll.baselines.linear_layer import LinearLayer


class GradientBaseline(Baseline):
    """A linear layer, its learning rate and its seed."""

    learning_rate: float
    random_state: int | None

    def _new_layer(self, width: int) -> LinearLayer:
        return LinearLayer(width, float(self.learning_rate), self.random_state)

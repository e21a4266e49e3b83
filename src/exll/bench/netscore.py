r"""NetScore (Eq. 24): one number from accuracy, size and time.

$$\Omega = 20 \ln \frac{a^2}{p^{0.25} c^{0.25}}$$

Two conventions exist for the same formula. Hayes and Kanan take a in percent and p as a plain count; the table of the
ExLL paper fits a as a fraction and p in millions, which lowers every value by the same 115.1. In both, p includes the
backbone and c is the seconds of the whole low-shot run.
"""

from math import log
from typing import Literal

Convention = Literal["paper", "hayes"]

SCALE, ACCURACY_POWER, SIZE_POWER, TIME_POWER = 20.0, 2.0, 0.25, 0.25
UNITS: dict[Convention, tuple[float, float]] = {"paper": (1.0, 1e-6), "hayes": (100.0, 1.0)}  # of a and of p

# Parameters of the backbones without their last layer: our own as counted in its file, the others as published.
BACKBONE_PARAMETERS = {
    "nano": 2_971_430,
    "mobilenet-v3-small": 927_008,
    "mobilenet-v3-large": 2_971_952,
    "efficientnet-b0": 4_007_548,
    "efficientnet-b1": 6_513_184,
    "resnet-18": 11_176_512,
}


def netscore(accuracy: float, parameters: float, seconds: float, convention: Convention = "paper") -> float | None:
    """Higher is better; ``accuracy`` is a fraction and ``parameters`` a count, whatever the convention. None for a
    learner that was never right: the logarithm of nothing.

    >>> round(netscore(0.5, 2_000_000, 10.0), 1), round(netscore(0.5, 2_000_000, 10.0, "hayes"), 1)
    (-42.7, 72.4)
    """
    if min(accuracy, parameters, seconds) <= 0:
        return None
    percent, millions = UNITS[convention]
    a, p = accuracy * percent, parameters * millions
    return SCALE * (ACCURACY_POWER * log(a) - SIZE_POWER * log(p) - TIME_POWER * log(seconds))

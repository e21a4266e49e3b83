from math import log

import pytest

from exll.bench.netscore import BACKBONE_PARAMETERS, netscore
from exll.bench.paper_results import ACCURACIES, NETSCORES


def test_a_case_by_hand_in_both_conventions() -> None:
    # a = 0.5, p = 2 million, c = 16 s: 20 (2 ln 0.5 - ln(2)/4 - ln(16)/4), and 20 (2 ln 50 - ln(2e6)/4 - ln(16)/4)
    assert netscore(0.5, 2_000_000, 16.0) == pytest.approx(20 * (-2 * log(2) - log(2) / 4 - log(2)))
    assert netscore(0.5, 2_000_000, 16.0, "hayes") == pytest.approx(20 * (2 * log(50) - log(2e6) / 4 - log(2)))


def test_the_conventions_differ_by_a_constant() -> None:
    for accuracy, size, seconds in ((0.1, 1e6, 3.0), (0.9, 5e7, 4000.0)):
        paper, hayes = netscore(accuracy, size, seconds), netscore(accuracy, size, seconds, "hayes")
        assert paper is not None
        assert hayes is not None
        assert hayes - paper == pytest.approx(115.13, abs=0.01)


def test_a_learner_that_was_never_right_has_none() -> None:
    assert netscore(0.0, 1e6, 1.0) is None


def test_the_paper_s_table_fits_its_convention() -> None:
    """From the paper's accuracies and sizes follow the seconds that its NetScores of NCM must have come from: minutes,
    more for larger backbones, and not the fractions of a second or the years of the other convention."""
    accuracies = ACCURACIES["openloris", "low-shot-instance"]["NCM"]
    widths = (576, 960, 1280, 1280, 512)
    published = list(BACKBONE_PARAMETERS.values())[1:]
    for accuracy, width, size, score in zip(accuracies, widths, published, NETSCORES["NCM"], strict=False):
        without_time = netscore(accuracy, size + 40 * width, 1.0)
        assert without_time is not None
        assert 1 < (without_time - score) / 5 < 10  # the natural logarithm of the seconds

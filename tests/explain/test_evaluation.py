"""What is counted of answers, and what stands in the report."""

import json
from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier, InputError, Prediction
from exll.explain.evaluation import evaluation_of
from exll.explain.evaluation_page import MOST_CONFUSED, confused_classes, page
from exll.explain.thumbnails import Thumbnails
from support import random_stream

# truth, answer
SAID = [
    ("mug", Prediction("mug", 0.9, "pan", "usual", 0.0)),
    ("mug", Prediction("pan", 0.8, "mug", "usual", 0.1)),
    ("mug", Prediction("pan", 0.6, "mug", "unusual", 2.0)),
    ("mug", Prediction("pan", 0.9, "mug", "unknown", 9.0)),
    ("pan", Prediction("pan", 0.7, "mug", "unusual", 2.0)),
    ("pan", Prediction("pan", 0.7, "mug", "unknown", 9.0)),
    ("pot", Prediction("mug", 1.0, "pan", "usual", 0.2)),
]
EVALUATED = evaluation_of([answer for _, answer in SAID], [truth for truth, _ in SAID], list("abcdefg"), ("mug", "pan"))


def test_every_answer_is_right_wrong_unusual_or_unknown() -> None:
    counts = EVALUATED.counts
    assert (counts.right, counts.wrong, counts.unusual, counts.unknown) == (1, 2, 2, 2)
    assert counts.right + counts.wrong + counts.unusual + counts.unknown == counts.examples == len(SAID)
    assert (counts.unusual_right, counts.unknown_right, counts.best_guess_right) == (1, 1, 3)
    for name in ("examples", "right", "wrong", "unusual", "unusual_right", "unknown", "unknown_right"):
        assert sum(getattr(one.counts, name) for one in EVALUATED.classes) == getattr(counts, name)


def test_classes_come_hardest_first_and_name_what_they_are_taken_for() -> None:
    assert [(one.label, one.taken_for, one.taken_for_count, one.taught) for one in EVALUATED.classes] == [
        ("pot", "mug", 1, False),
        ("mug", "pan", 2, True),
        ("pan", None, 0, True),
    ]
    assert [str(one) for one in EVALUATED.confusions] == ["mug taken for pan: 2", "pot taken for mug: 1"]


def test_mistakes_are_the_most_confident_first_and_never_unknown() -> None:
    assert [mistake.name for mistake in EVALUATED.mistakes] == ["g", "b", "c"]
    assert str(EVALUATED.mistakes[0]) == "g: pot taken for mug (over 99.9%)"


def test_confidence_is_set_beside_the_share_that_is_right() -> None:
    assert EVALUATED.confidence == pytest.approx(np.mean([0.9, 0.8, 0.6, 0.7, 1.0]))
    assert EVALUATED.right_of_known == 2 / 5
    assert [(one.low, one.answers, one.right) for one in EVALUATED.calibration] == [
        (0.5, 1, 0.0),
        (0.7, 1, 1.0),
        (0.8, 1, 0.0),
        (0.9, 1, 1.0),
        (0.99, 1, 0.0),
    ]


def test_a_model_that_always_names_a_class_is_not_asked_for_levels() -> None:
    stream = random_stream(3, samples=90, classes=3)
    model = ExLLClassifier("paper").fit(stream.X, stream.y)
    evaluated = model.evaluate(stream.X, stream.y)
    assert evaluated.counts.best_guess_right == evaluated.counts.right == (model.predict(stream.X) == stream.y).sum()
    assert "unknown" not in str(evaluated)
    local, whole = (model.predict(stream.X, name) == stream.y for name in ("local", "global"))
    assert (evaluated.local_right, evaluated.global_right) == (local.sum(), whole.sum())
    assert evaluated.either_right == (local | whole).sum()
    assert json.loads(json.dumps(evaluated.to_dict()))["right"] == evaluated.counts.right
    with pytest.raises(InputError, match="same number of rows; got 90 and 1"):
        model.evaluate(stream.X, [1])


def test_the_report_holds_every_count(tmp_path: Path) -> None:
    written = page(EVALUATED, "things", Thumbnails([tmp_path]))
    assert "best guess is the true class for 3 of 7 examples" in written
    assert (
        '<th scope="row"><bdi>mug</bdi></th><td>4</td><td>1</td><td>1</td><td>1 <small>0 right</small></td>' in written
    )
    assert '<tr><th scope="row"><bdi>mug</bdi></th><td class="right s3">1</td><td class="shade s5">2</td>' in written
    assert "100.0%" not in written
    assert "over 99.9%" in written


def test_of_many_confused_classes_those_of_the_largest_confusions_are_drawn() -> None:
    answers = [Prediction(f"{k + 1}", 0.9, "x") for k in range(100) for _ in range(k + 1)]
    truths = [f"{k}" for k in range(100) for _ in range(k + 1)]
    shown = confused_classes(evaluation_of(answers, truths, truths, truths))
    assert shown[:3] == ["99", "100", "98"]
    assert len(shown) == MOST_CONFUSED

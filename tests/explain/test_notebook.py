"""Results in a terminal and in a notebook, with labels and names that want to do harm."""

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier, Prediction

HOSTILE = "<script>alert('x')</script>\n\x1b[31m\u202e&\"</td>"
NAME = "<img src=x onerror=alert(1)>\x07.jpg"
RNG = np.random.default_rng(5)
CENTRES = RNG.normal(size=(3, 8))
Y = RNG.integers(0, 3, 90)
X = CENTRES[Y] + 0.3 * RNG.normal(size=(90, 8))
LABELS = np.array([HOSTILE, "pan", "pot"])


@pytest.fixture(scope="module")
def model() -> ExLLClassifier:
    y = LABELS[Y].tolist()
    y[:2] = ["pan", "pot"] if y[0] != "pan" else ["pot", "pan"]
    X[2] = X[3]
    y[2], y[3] = HOSTILE, "pan"
    return ExLLClassifier(records="vectors").fit(X, y, refs=[NAME] * 90)


def results(model: ExLLClassifier) -> dict[str, Any]:
    hostile = int((Y == 0).nonzero()[0][5])
    return {
        "explanation": model.explain(X[hostile]),
        "unknown": model.explain(RNG.normal(size=8)),
        "prediction": model.answers(X[hostile : hostile + 1])[0],
        "rule": next(rule for rule in model.rules() if rule.label == HOSTILE),
        "class rule": next(rule for rule in model.rules("class") if rule.label == HOSTILE),
        "progress": next(entry for entry in model.progress() if entry.label == HOSTILE),
        "suspects": model.suspects(),
    }


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", ["explanation", "unknown", "prediction", "rule", "class rule", "progress", "suspects"])
def test_a_notebook_shows_a_small_table_and_nothing_of_a_label_runs(model: ExLLClassifier, name: str) -> None:
    tags = Tags()
    page = results(model)[name]._repr_html_()
    tags.feed(page)
    assert tags.open == []
    assert "table" in tags.seen
    assert tags.seen <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert not any(character in page for character in "\x1b\u202e\x07")
    if name != "unknown":
        assert "<script>alert('x')</script>" in tags.text


def test_the_words_of_an_explanation_a_prediction_and_suspects_are_whole_lines(model: ExLLClassifier) -> None:
    found = results(model)
    for name in ("explanation", "unknown", "prediction", "suspects"):
        words = str(found[name])
        assert not any(character in words for character in "\x1b\u202e\x07")
    assert len(str(found["prediction"]).splitlines()) == 1
    lines = str(found["explanation"]).splitlines()
    assert lines[0].startswith('"<script>')
    assert [line[:12].strip() for line in lines[2:]] == list(found["explanation"].evidence)
    suspects = str(found["suspects"]).splitlines()
    assert suspects[0].startswith("one image, several labels: <img")
    assert "may have a wrong label" in suspects[-1]


def test_what_is_known_and_what_is_not_is_said_in_the_first_line(model: ExLLClassifier) -> None:
    far = RNG.normal(size=(200, 8))
    levels = [answer.level for answer in model.answers(far)]
    explanation = model.explain(far[levels.index("unknown")])
    assert str(explanation).startswith('unknown (nearest is "')
    assert str(Prediction("kiwi", 0.5, "apple")) == "kiwi (50.0%, else apple)"
    assert str(Prediction("kiwi", 0.926, "apple")) == "kiwi (92.6%, else apple)"
    assert str(Prediction("kiwi", 0.9, "apple", "unknown")) == "unknown (nearest is kiwi)"


def test_suspects_show_no_more_than_asked(model: ExLLClassifier) -> None:
    found = model.suspects()
    doubtful = len(found.contradicted())
    assert doubtful > 1
    assert len(found.text(top=1).splitlines()) == len(found.contradictions) + 2
    assert found.text(top=1).endswith(f"; {doubtful - 1} not shown")
    assert str(found) == found.text()

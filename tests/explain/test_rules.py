import numpy as np
import pytest

from exll import ExLLClassifier
from exll.errors import InputError
from exll.types import RuleLevel
from support import PRESET_NAMES, random_stream

STREAM = random_stream(9, samples=200, classes=4, width=8)


@pytest.fixture(params=PRESET_NAMES)
def model(request: pytest.FixtureRequest) -> ExLLClassifier:
    refs = [f"{i}.jpg" for i in range(200)]
    return ExLLClassifier(request.param).fit(STREAM.X, [f"c{k}" for k in STREAM.y], refs=refs)


def test_there_is_a_rule_for_every_prototype_largest_first(model: ExLLClassifier) -> None:
    rules = model.rules("prototype")
    assert sorted(rule.conditions[0].prototype for rule in rules) == sorted(model.learner_.supports)
    for label in model.classes_:
        own = [rule for rule in rules if rule.label == label]
        assert [rule.support for rule in own] == sorted((rule.support for rule in own), reverse=True)
        assert sum(rule.share for rule in own) == pytest.approx(1)


def test_class_and_megacloud_rules_hold_all_prototypes_of_their_class(model: ExLLClassifier) -> None:
    levels: tuple[RuleLevel, ...] = ("class", "megacloud")
    for level in levels:
        rules = model.rules(level)
        assert sorted(str(rule.label) for rule in rules) == model.classes_.tolist()
        for rule in rules:
            ids = sorted(condition.prototype for condition in rule.conditions)
            assert ids == model.megacloud(rule.label).prototypes.tolist()
            assert rule.support == rule.class_count


def test_rules_read_as_sentences() -> None:
    X = np.array([[1.0, 0.0], [1.0, 0.01], [1.0, 0.02], [1.0, 0.01], [0.0, 1.0]])
    model = ExLLClassifier("paper").fit(X, ["mug"] * 4 + ["pan"], refs=["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"])
    pan = next(rule for rule in model.rules() if rule.label == "pan")
    assert str(pan) == 'IF it resembles e.jpg THEN it is "pan" (1 of its 1 example, 100%)'
    mug = model.rules("megacloud")[0]
    clouds = len(mug.conditions)
    assert str(mug).startswith(f'IF it resembles the MegaCloud of "mug" (4 examples in {clouds} prototype')
    either = str(model.rules("class")[0])
    assert either.count(" OR ") == clouds - 1
    assert either.endswith('THEN it is "mug"')


def test_long_lists_are_cut_and_counted(model: ExLLClassifier) -> None:
    rule = max(model.rules(), key=lambda rule: rule.support)
    assert f"and {rule.support - 3} more" in str(rule)
    assert len(rule.to_dict()["conditions"][0]["names"]) == rule.support


def test_an_unknown_level_is_named(model: ExLLClassifier) -> None:
    with pytest.raises(InputError, match="Got 'country' instead"):
        model.rules("country")  # type: ignore[arg-type]

"""The checks find what they are made to find: one broken learner for each."""

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from exll import checks
from exll.baselines import NCM

numbers = itertools.count()


class AnswersTooEarly(NCM):
    def predict(self, X: Any) -> Any:
        return super().predict(X) if hasattr(self, "learner_") else np.zeros(len(X))


class WantsTwoClasses(NCM):
    def predict_proba(self, X: Any) -> Any:
        found = super().predict_proba(X)
        return found if len(self.classes_) > 1 else found / 2


class ScalesItsInput(NCM):
    def partial_fit(self, X: Any, y: Any, **more: Any) -> Any:
        super().partial_fit(X, y, **more)
        if isinstance(X, np.ndarray):
            X *= 2
        return self


class GivesItsClassesAway(NCM):
    kept: Any = None

    @property
    def classes_(self) -> Any:
        if self.kept is None or len(self.kept) != len(super().classes_):
            self.kept = super().classes_
        return self.kept


class CountsItsCalls(NCM):
    calls = 0

    def partial_fit(self, X: Any, y: Any, **more: Any) -> Any:
        self.calls += 1
        return super().partial_fit(np.asarray(X, float) + self.calls, y, **more)


class LearnsFromQuestions(NCM):
    def predict(self, X: Any) -> Any:
        answers = super().predict(X)
        self.partial_fit(X, answers)
        return answers


class PrefersTheFirstName(NCM):
    def predict(self, X: Any) -> Any:
        best_two = self.predict_proba(X).argsort(axis=1)[:, -2:]
        return self.classes_[best_two.min(axis=1)]


class LearnsWhatItCan(NCM):
    def partial_fit(self, X: Any, y: Any, **more: Any) -> Any:
        try:
            return super().partial_fit(X, y, **more)
        except ValueError:
            super().partial_fit(np.ones((1, 12)), [0])
            raise


class AnswersNothing(NCM):
    def predict(self, X: Any) -> Any:
        try:
            return super().predict(X)
        except ValueError:
            if not hasattr(self, "learner_"):
                raise
            return np.zeros(len(X))


class SavesLess(NCM):
    def save(self, path: Any) -> None:
        twin = (
            NCM().partial_fit(np.ones((1, self.n_features_in_)), self.classes_[:1])
            if hasattr(self, "learner_")
            else self
        )
        NCM.save(twin, path)


class SavesTheHour(NCM):
    def save(self, path: Any) -> None:
        super().save(path)
        Path(path).write_bytes(Path(path).read_bytes() + str(time.perf_counter_ns()).encode())


class ForgetsWhenPickled(NCM):
    def __getstate__(self) -> Any:
        return vars(NCM().partial_fit(np.ones((1, self.n_features_in_)), self.classes_[:1]))


class SumsToTwo(NCM):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) * (2 if len(self.classes_) > 1 else 1)


class AnswersInWords(NCM):
    def predict(self, X: Any) -> Any:
        return super().predict(X).astype(str).astype(object)


class NeverForgets(NCM):
    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        return self.partial_fit(X, y, **more)


class RoundsNarrowRows(NCM):
    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        return super().fit(np.round(X, 1) if np.asarray(X).dtype == np.float32 else X, y, **more)


BROKEN: list[tuple[Any, str, str]] = [
    (
        AnswersTooEarly,
        "nothing_can_be_asked",
        "must raise NotFittedError; it raised nothing",
    ),
    (WantsTwoClasses, "one_example", "the probability of the only class must be 1"),
    (ScalesItsInput, "inputs_are_left_alone", "partial_fit changed its rows"),
    (GivesItsClassesAway, "what_is_given_out", "a caller changed the model through what it was given"),
    (CountsItsCalls, "cut_into_calls", "depends on how the stream was cut into calls"),
    (LearnsFromQuestions, "leave_no_trace", "a prediction changed the model"),
    (PrefersTheFirstName, "other_names", "the answers change when the classes have other names"),
    (LearnsWhatItCan, "bad_input", r"refused input \(NaN\) changed the model"),
    (AnswersNothing, "bad_queries", "predict with NaN must raise ValueError or TypeError; it raised nothing"),
    (SavesLess, "go_on", "load gave a NCM"),
    (SavesLess, "just_now", "other classes"),
    (SavesTheHour, "same_bytes", "the same stream gave two different files"),
    (ForgetsWhenPickled, "pickled", "a pickled copy learned differently from the original"),
    (SumsToTwo, "sum_to_one", "probabilities must sum to 1"),
    (AnswersInWords, "keep_their_kind", "labels like 'b' must give <U6"),
    (NeverForgets, "fit_forgets", "must forget|X has 4 features"),
    (RoundsNarrowRows, "float32", "float32 rows give another model than float64"),
]


def the_check(part: str) -> Any:
    (found,) = (check for check in checks.CHECKS if part in check.__name__)
    return found


@pytest.mark.parametrize(("broken", "part", "sentence"), BROKEN, ids=[part for _, part, _ in BROKEN])
def test_a_broken_learner_is_found(broken: Any, part: str, sentence: str) -> None:
    with pytest.raises((AssertionError, ValueError), match=sentence):
        the_check(part)(broken)


def test_every_check_is_in_the_list_and_has_a_broken_learner() -> None:
    named = {value for name, value in vars(checks).items() if name.startswith("check_") and name != "check_learner"}
    assert set(checks.CHECKS) == named == {the_check(part) for _, part, _ in BROKEN}


def test_a_learner_that_knows_nothing_of_exll_can_be_checked() -> None:
    """scikit-learn's own naive Bayes wants all classes at the first example."""
    with pytest.raises((AssertionError, ValueError), match="classes must be passed"):
        checks.check_learner(GaussianNB)


def test_nothing_of_pytest_or_hypothesis_is_needed() -> None:
    source = Path(checks.__file__).read_text()
    assert "pytest" not in source
    assert "hypothesis" not in source

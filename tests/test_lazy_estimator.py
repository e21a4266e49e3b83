"""Our classifiers before and after scikit-learn is imported. Before needs fresh processes: this one has it."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

CLASSIFIER = """
import sys
import numpy as np
from exll.estimator import ExLLClassifier

X, y = np.array([[1.0, 0.1], [0.1, 1.0]]), ["mug", "pan"]
clf = ExLLClassifier(preset="paper").fit(X, y)
"""
ALONE = CLASSIFIER + "assert not [name for name in sys.modules if name.partition('.')[0] == 'sklearn']\n"
FIRST = "import sklearn.base\n" + CLASSIFIER + "assert isinstance(clf, sklearn.base.BaseEstimator)\n"


def printed(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout
    return result.stdout


def sentence_of(*codes: str) -> str:
    return "\n".join(f"try: {code}\nexcept Exception as error: print(type(error).__mro__, error)" for code in codes)


SNIPPETS = {
    "repr": "print(clf)",
    "dir": "print(dir(clf))",
    "methods": "print(clf.score(X, y), clf.get_params(), clf.set_params(records='none'))",
    "tags": "from exll.baselines.one_vs_rest import SOvR; print(SOvR().__sklearn_tags__())",
    "class": "from exll import ExLLClassifier as C; print(C.score, C.get_params(clf))",
    "subclass": (
        "class Mine(ExLLClassifier):\n"
        "    def decision_function(self, X, mood=None): ...\n"
        "mine = Mine()\n"
        "import sklearn, sklearn.base, sklearn.pipeline\n"
        "sklearn.set_config(enable_metadata_routing=True)\n"
        "mine.set_decision_function_request(mood=True).set_partial_fit_request(refs=False)\n"
        "print(mine.get_metadata_routing(), sklearn.base.is_classifier(mine), sklearn.base.clone(mine))\n"
        "print(Mine.__mro__, sorted(vars(Mine)), sorted(vars(ExLLClassifier)))\n"
        "print(sklearn.pipeline.make_pipeline(mine).fit(X, y).predict(X))"
    ),
    "copies": "import copy, pickle\nprint(copy.deepcopy(clf).predict(X), pickle.loads(pickle.dumps(clf)).predict(X))",
    "feature names": (
        "import pandas\nclf.fit(pandas.DataFrame(X, columns=['a', 'b']), y)\nprint(clf.feature_names_in_)\n"
        "clf.fit(X[:, [0, 1, 1]], y)\nprint(clf.n_features_in_, hasattr(clf, 'feature_names_in_'))\n"
        "clf.fit(X.tolist(), np.array(y))\nprint(clf.n_features_in_)"
    ),
    "errors": sentence_of("clf.nothing_", "ExLLClassifier().classes_", "ExLLClassifier().predict(X)", "clf.nothing"),
    "more errors": sentence_of("clf.set_params(colour='red')", "clf.predict([['a', 'b']])"),
}


@pytest.fixture(scope="module")
def after() -> dict[str, str]:
    """What each of them prints where scikit-learn was imported first. One process is enough for all of them."""
    code = f"""
import contextlib, io, json, sklearn
printed = {{}}
for name, code in {SNIPPETS!r}.items():
    with sklearn.config_context(), contextlib.redirect_stdout(io.StringIO()) as said:
        exec({FIRST!r} + code, {{"__name__": "__main__"}})
    printed[name] = said.getvalue()
print(json.dumps(printed))
"""
    found: dict[str, str] = json.loads(printed(code))
    assert all(found.values())
    return found


@pytest.mark.parametrize("name", SNIPPETS)
def test_it_makes_no_difference_when_scikit_learn_is_imported(after: dict[str, str], name: str) -> None:
    assert without_addresses(printed(ALONE + SNIPPETS[name])) == without_addresses(after[name])


def without_addresses(text: str) -> str:
    return " ".join(word for word in text.split() if not word.startswith("0x"))


def test_threads_may_ask_for_the_first_time_together() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
def ask(number):
    if number % 2:
        import sklearn.base
    return clf.get_params()["preset"], str(clf)
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor(8) as pool:
    print(set(pool.map(ask, range(8))))
"""
    assert printed(ALONE + code) == """{('paper', "ExLLClassifier(preset='paper')")}\n"""

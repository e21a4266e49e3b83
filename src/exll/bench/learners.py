"""The learners of a benchmark by name. Anything with ``partial_fit(X, y)`` and ``predict(X)`` can take part."""

import hashlib
import importlib
import inspect
import sys
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from exll.errors import BenchError
from exll.version import __version__

EXLL = "exll.estimator:ExLLClassifier"
RAW_GAMMA = 1.5e-4  # KLDA's 0.1 over the mean squared length of the development features


@dataclass(frozen=True)
class LearnerSpec:
    """A class, what it is made with, and the variants that answer for it.

    One learner may be asked in several ways: ExLL learns once and answers as ExLL-M, ExLL-P and ExLL-F.
    """

    name: str
    target: str  # "module:Class"
    arguments: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)  # name in reports -> arguments of predict
    search: str | None = None  # a folder to import from: that of the configuration
    offline: bool = False  # no stream learner: it keeps all data and learns when it is asked

    @property
    def reported(self) -> dict[str, dict[str, Any]]:
        return self.variants or {self.name: {}}

    def new(self, seed: int) -> Any:
        """A learner that knows nothing; the seed is for one that draws at random."""
        learner = self._class()(**self.arguments)
        if "random_state" in _parameters(learner) and "random_state" not in self.arguments:
            learner.set_params(random_state=seed)
        return learner

    def check(self) -> None:
        """Raise now what would be raised in the middle of a run."""
        try:
            learner = self.new(0)
        except TypeError as error:
            raise BenchError(f"the learner {self.name} cannot be made from {self.arguments}: {error}.") from error
        for method in ("partial_fit", "predict"):
            if not callable(getattr(learner, method, None)):
                raise BenchError(f"a learner must have partial_fit and predict; {self.target} has no {method}.")

    def metadata(self) -> dict[str, Any]:
        """What determines its answers. Of a class of your own, that is its source file too."""
        return {
            "target": self.target,
            "arguments": self.arguments,
            "variants": self.reported,
            "source": _source(self._class()),
        }

    def _class(self) -> type[Any]:
        module, _, name = self.target.partition(":")
        if self.search is not None and self.search not in sys.path:
            sys.path.insert(0, self.search)
        try:
            found: type[Any] = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise BenchError(f"the learner {self.name}: {self.target} cannot be imported ({error}).") from error
        return found


def _exll(name: str, preset: str) -> LearnerSpec:
    variants = {f"{name}-M": "global", f"{name}-P": "local", f"{name}-F": "fused"}
    return LearnerSpec(
        name, EXLL, {"preset": preset}, {variant: {"inference": way} for variant, way in variants.items()}
    )


def _baselines() -> dict[str, LearnerSpec]:
    """Each on raw features, as the paper's protocols have it, and on unit vectors, as ExLL sees them."""
    variants: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("perceptron", "Perceptron", "Perceptron", {}),
        ("fine-tune", "Fine-Tune", "FineTune", {}),
        ("naive-bayes", "Naive Bayes", "NaiveBayes", {}),
        ("naive-bayes-hayes", "Naive Bayes (Hayes)", "NaiveBayes", {"variant": "hayes"}),
        ("sovr", "SOvR", "SOvR", {}),
        ("cbcl", "CBCL", "CBCL", {}),
        ("ncm", "NCM", "NCM", {}),
        ("replay-2pc", "Replay (2pc)", "Replay", {"per_class": 2}),
        ("replay-20pc", "Replay (20pc)", "Replay", {"per_class": 20}),
        ("slda", "SLDA", "SLDA", {}),
        ("slda-centred", "SLDA (centred)", "SLDA", {"variant": "centred"}),
        ("rls", "RLS", "LeastSquares", {}),
        ("ranpac", "RanPAC", "RanPAC", {}),
        ("klda", "KLDA", "KLDA", {}),
        ("klda-cosine", "KLDA (cosine)", "KLDA", {"variant": "cosine"}),
        ("fecam", "FeCAM", "FeCAM", {}),
        ("rda", "RDA", "StreamingRDA", {}),
        ("knn", "k-NN", "KNN", {}),
        ("xdnn", "xDNN", "XDNN", {}),
        ("xdnn-mended", "xDNN (mended)", "XDNN", {"variant": "mended"}),
    )
    found = {}
    for name, shown, cls, arguments in variants:
        target = f"exll.baselines:{cls}"
        raw = {"gamma": RAW_GAMMA} if cls == "KLDA" else {}
        found[name] = LearnerSpec(shown, target, {**arguments, **raw, "normalise": False})
        found[f"{name}-unit"] = LearnerSpec(f"{shown}, unit", target, {**arguments, "normalise": True})
    return found


BUILT_IN: dict[str, LearnerSpec] = {
    "exll": _exll("ExLL", "paper"),
    "glocal": LearnerSpec("glocal", EXLL, {"preset": "glocal"}),
    **_baselines(),
    "offline-logistic": LearnerSpec("Logistic regression, offline", "exll.bench.offline:OfflineLogistic", offline=True),
    "offline-lda": LearnerSpec("LDA, offline", "exll.bench.offline:OfflineLDA", offline=True),
}


def find_learner(name: str, search: str | None = None) -> LearnerSpec:
    """A learner by its name here, or a class of your own as ``module:Class``."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, _, cls = name.partition(":")
    if module and cls:
        return LearnerSpec(cls, name, search=search)
    known = ", ".join(known for known in BUILT_IN if not known.endswith("-unit"))
    raise BenchError(
        f"there is no learner {name!r}; there are: {known} (baselines also with -unit). A class of your own "
        "is named my_module:MyLearner."
    )


def with_arguments(learner: LearnerSpec, arguments: dict[str, Any]) -> LearnerSpec:
    return replace(learner, arguments={**learner.arguments, **arguments})


def parameters_of(learner: Any) -> int | None:
    """Numbers that a learner keeps, where it says so or is ExLL: means of classes and prototypes, the covariance, what
    its records and reservoir hold, and its lift (docs/bench.md)."""
    own = getattr(learner, "n_parameters_", None)
    if own is not None:
        return int(own)
    inner = getattr(learner, "learner_", None)
    if inner is None or not hasattr(inner, "prototype_count"):
        return None
    state, kept = inner.state(), ("records.", "reservoir.")
    records = sum(array.size for name, array in state.items() if name.startswith(kept))
    classes, features = state["lift.means"].shape if "lift.means" in state else (0, 0)
    lift = features * (classes + features + inner.width)  # means, covariance and directions
    return int(inner.width * (inner.class_count + inner.prototype_count) + inner.width**2 + records + lift)


def bytes_of(learner: Any) -> int | None:
    own = getattr(learner, "nbytes_", None)
    return None if own is None else int(own)


def _parameters(learner: Any) -> dict[str, Any]:
    return learner.get_params() if hasattr(learner, "get_params") else {}


def _source(cls: type[Any]) -> str:
    if cls.__module__.startswith("exll."):
        return f"exll {__version__} {_source_of_learners()}"
    file = inspect.getsourcefile(cls)
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()


@cache
def _source_of_learners() -> str:
    """A hash of all code that a learner of ours consists of."""
    package = Path(__file__).parents[1]
    files = [path for folder in ("learner", "baselines", "linalg") for path in (package / folder).rglob("*.py")]
    files += [package / "bench" / "offline.py", *package.glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]

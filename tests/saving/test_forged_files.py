"""Model files with a right checksum that somebody else's program wrote: refused in one sentence, or finite answers."""

import os
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from exll import ExLLClassifier, load
from exll.baselines import KLDA, KNN, NCM, SLDA, XDNN, FeCAM, FineTune, LeastSquares, NaiveBayes, RanPAC, StreamingRDA
from exll.errors import ExLLError
from exll.saving.model_file import ModelFile, read_model, write_model
from support import random_stream, stream_of_clips

STORIES = int(os.environ.get("EXLL_FORGED_FILES", "400"))  # in all
Forge = Callable[[np.random.Generator, NDArray[Any]], NDArray[Any]]


def some(change: Callable[[np.random.Generator, Any], Any]) -> Forge:
    """Change some entries of an array."""

    def forge(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
        forged = array.copy()
        places = rng.integers(0, array.size, max(1, array.size // int(rng.choice([1, 2, 20, array.size]))))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forged.flat[places] = np.asarray(change(rng, forged.flat[places])).astype(array.dtype)
        return forged

    return forge


FORGES: dict[str, Forge] = {
    "huge": some(lambda rng, x: x * 10.0 ** rng.integers(3, 300)),
    "tiny": some(lambda rng, x: x * 10.0 ** -rng.integers(3, 300)),
    "largest": some(lambda rng, x: np.full(len(x), rng.choice([1e308, -1e308, 2**31 - 1, -(2**31)]))),
    "not finite": some(lambda rng, x: np.full(len(x), rng.choice([np.nan, np.inf, -np.inf]))),
    "negative": some(lambda rng, x: -np.abs(x.astype(float)) - rng.integers(0, 2)),
    "zero": some(lambda rng, x: np.zeros(len(x))),
    "off by some": some(lambda rng, x: x + rng.integers(-3, 4, len(x))),
    "shuffled": lambda rng, x: rng.permutation(x.reshape(-1)).reshape(x.shape),
    "shorter": lambda rng, x: x[: rng.integers(0, len(x))] if x.ndim else x,
    "longer": lambda rng, x: np.concatenate([x, x[: rng.integers(1, len(x) + 1)]]) if x.ndim and len(x) else x,
    "flat": lambda rng, x: x.reshape(-1),
    "nested": lambda rng, x: x[None],
    "floats": lambda rng, x: x.astype(np.float32),
    "whole numbers": lambda rng, x: np.clip(np.nan_to_num(x.astype(float)), -(2**60), 2**60).astype(np.int64),
}


@cache
def models() -> dict[str, tuple[Any, Any]]:
    clips, _ = stream_of_clips(2, clips=4)
    photos = random_stream(3, width=8, classes=4, samples=120)
    many = random_stream(5, width=8, classes=4, samples=150)
    young = random_stream(4, width=40, classes=3, samples=15)
    made: dict[str, tuple[Any, Any]] = {
        "clips": (ExLLClassifier(records="vectors"), clips),
        "photos": (ExLLClassifier(records=2, max_prototypes=4), photos),
        "young": (ExLLClassifier(), young),
        "examples of nothing": (ExLLClassifier().learn_unknown(photos.queries[:5]), photos),
        "paper": (ExLLClassifier("paper", records="refs"), photos),
        "young paper": (ExLLClassifier("paper", refresh_growth=0.5), young),
        "slda": (SLDA("centred"), photos),
        "ncm": (NCM(), photos),
        "naive bayes": (NaiveBayes(), photos),
        "fine-tune": (FineTune(), photos),
        "rls": (LeastSquares(), many),
        "ranpac": (RanPAC(features=20), photos),
        "klda": (KLDA("cosine", features=20), many),
        "fecam": (FeCAM(), photos),
        "rda": (StreamingRDA(), photos),
        "knn": (KNN(), photos),
        "xdnn": (XDNN(), photos),
    }
    return {name: (model.partial_fit(stream.X, stream.y), stream) for name, (model, stream) in made.items()}


def files(folder: Path) -> dict[str, ModelFile]:
    found = {}
    for name, (model, _) in models().items():
        model.save(folder / "whole.exll")
        found[name] = read_model(folder / "whole.exll")
    return found


def check_finite(model: Any, X: NDArray[Any]) -> None:
    """Whoever opened such a file gets numbers, whatever they are worth."""
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    model.predict(X)
    if isinstance(model, ExLLClassifier):
        explanation = model.explain(X[0])
        assert np.isfinite([explanation.probability, explanation.global_score]).all()
        model.rules()
        if model.preset == "glocal":
            assert np.isfinite(model.novelty(X)).all()


@pytest.mark.fuzz
def test_a_forged_file_is_refused_or_gives_finite_answers(tmp_path: Path) -> None:
    rng = np.random.default_rng(int(os.environ.get("EXLL_FORGED_SEED", "0")))
    whole, path = files(tmp_path), tmp_path / "forged.exll"
    opened = 0
    for story in range(STORIES):
        name = str(rng.choice(list(whole)))
        tensors = dict(whole[name].tensors)
        said = []
        for tensor in rng.choice(sorted(tensors), int(rng.integers(1, 3)), replace=False).tolist():
            if not tensors[tensor].size:
                continue
            way = str(rng.choice(list(FORGES)))
            tensors[tensor] = FORGES[way](rng, tensors[tensor])
            said.append(f"{tensor} {way}")
        write_model(path, whole[name].metadata, tensors)
        stream = models()[name][1]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = load(path)
                check_finite(model, stream.X[:6])
            opened += 1
        except ExLLError:
            continue
        except Exception as error:
            raise AssertionError(
                f"story {story}, {name}: {', '.join(said)}: {type(error).__name__}: {error}"
            ) from error
    assert opened < STORIES / 2

"""A preset in one file, installed as a package would: nothing else of exll knows it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from commands import COMMAND
from exll import ExLLClassifier, ModelFileError, checks, load
from exll.errors import InputError
from exll.explain.case import Case
from exll.explain.explanation_page import page
from exll.explain.thumbnails import Thumbnails
from exll.learner.block import Block
from exll.learner.exll import ExLL, Placed
from exll.learner.head import linear_discriminant
from exll.learner.inference import Combination, Inference, Judged, Parts
from exll.learner.lagging import LaggingPrecision
from exll.learner.paper.learner import SHRINKAGE, PaperBlock
from exll.learner.preset import PRESETS, find_preset, preset_names
from exll.learner.statistics import within_residual
from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import first_of_largest, first_of_largest_rows, raise_winner
from exll.types import Indices, InferenceName, Matrix
from support import assert_equal_models, random_stream
from test_contract import check_held_answers

CLOUD = 10  # examples in a prototype before its class opens the next


@dataclass(frozen=True)
class SummedInference(Inference):
    """The fused score is the global one plus the local one."""

    combination: ClassVar[Combination] = Combination(
        rule="Both give every class a score, and the two are added.", decider="what local inference adds"
    )

    def fused_labels(self, X: Matrix, dots: Matrix) -> Indices:
        global_scores, local_scores = self.global_and_local(dots)
        return first_of_largest_rows(global_scores + local_scores)

    def judged(self, X: Matrix, dots: Matrix, inference: InferenceName) -> Judged:
        global_scores, local_scores = self.global_and_local(dots)
        scores = {"fused": global_scores + local_scores, "global": global_scores, "local": local_scores}[inference]
        labels, posteriors = first_of_largest_rows(scores), softmax_rows(scores)[0]
        raise_winner(posteriors, labels)
        return Judged(labels, posteriors, None)

    def parts(self, X: Matrix, dots: Matrix) -> Parts:
        return Parts.sum_of(*self.global_and_local(dots))

    def reason(self, k: int, global_k: int, local_k: int, local_counts: bool, lift_counts: bool = False) -> str:
        return f'{self.said(global_k, local_k)}; the sum of both scores is largest for "{self.labels[k]}".'


class SummedLearner(ExLL):
    """Prototypes are runs of ten examples of a class."""

    residual = staticmethod(within_residual)
    refuses: ClassVar = {**ExLL.refuses, "max_prototypes": "lets every tenth example open one"}

    def _new_precision(self) -> LaggingPrecision:
        return LaggingPrecision(self.width, SHRINKAGE, self.parameters.refresh_growth)

    def _block(self, X: Matrix) -> PaperBlock:
        return PaperBlock(X, self._statistics.total, self._precision.current, self._prototypes, self._megaclouds)

    def _answer(self, block: Block, row: int, k: int) -> int:
        assert isinstance(block, PaperBlock)
        scores = block.megaclouds.of_row(row) - 0.5 * self._megaclouds.squared_norms
        clouds = block.prototypes.of_row(row) - 0.5 * self._prototypes.squared_norms
        best = [clouds[self._megaclouds.members(c)].max() for c in range(self.class_count)]
        return first_of_largest(scores + best)

    def _refresh(self) -> None:
        self._precision.refresh(self._statistics, SHRINKAGE)
        self._prototypes.remeasure(self._precision.current)
        self._megaclouds.remeasure(self._precision.current)

    def _place(self, block: Block, row: int, k: int) -> Placed:
        assert isinstance(block, PaperBlock)
        if k == len(self._megaclouds):
            block.megaclouds.add(row)
            self._megaclouds.open()
        else:
            block.megaclouds.move(row, k)
            last = int(self._megaclouds.members(k)[-1])
            if self._prototypes.counts[last] < CLOUD:
                block.prototypes.move(row, last)
                self._prototypes.settle(last)
                return Placed(last, int(self._prototypes.ids[last]), False)
        place = block.prototypes.add(row)
        self._megaclouds.adopt(k, place)
        return Placed(place, self._prototypes.open(k), True)

    def _make_answers(self) -> SummedInference:
        return SummedInference.of(
            self.parameters.preset,
            self._labels,
            self._prototypes,
            self._megaclouds,
            self._precision.exact(self._statistics, SHRINKAGE),
            np.zeros(self.width),
            heads=(linear_discriminant, linear_discriminant),
        )


class Unfinished(ExLL):
    """A preset that has not been written yet."""


def install(folder: Path, **presets: str) -> None:
    """Leave there what an installed package leaves."""
    metadata = folder / "more_presets-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: more-presets\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in presets.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[exll.presets]", *lines, ""]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages."""
    folder = tmp_path_factory.mktemp("site")
    install(
        folder,
        summed=f"{__name__}:SummedLearner",
        missing="no_such_module:Preset",
        number=f"{__name__}:CLOUD",
        unfinished=f"{__name__}:Unfinished",
    )
    return folder


@pytest.fixture(autouse=True)
def _installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr("exll.learner.preset._found", {})


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_it_passes_the_checks_of_every_learner(check: Callable[[checks.Make], None]) -> None:
    check(lambda: ExLLClassifier(preset="summed"))


def test_its_answers_held_by_a_reader_do_not_change_while_learning_goes_on() -> None:
    check_held_answers(ExLLClassifier(preset="summed", lengths="ignored"))


STREAM = random_stream(14, width=10, classes=5, samples=300)


def taught() -> ExLLClassifier:
    return ExLLClassifier("summed", records="vectors", lengths="ignored").fit(STREAM.X, [f"c{k}" for k in STREAM.y])


def test_packages_are_searched_only_for_a_name_that_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise AssertionError("the packages were searched")

    monkeypatch.setattr("importlib.metadata.entry_points", fail)
    assert [find_preset(name) for name in PRESETS] == list(PRESETS.values())
    with pytest.raises(AssertionError, match="searched"):
        find_preset("summed")


def test_a_preset_of_a_package_is_found_once_and_named_after_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_preset("summed") is SummedLearner
    assert preset_names() == ["glocal", "paper", "missing", "number", "summed", "unfinished"]
    assert find_preset("summe") is None
    with pytest.raises(InputError, match=r"one of 'glocal', 'paper', 'missing', .* Got 'summe' instead"):
        ExLLClassifier("summe").fit(STREAM.X, STREAM.y)
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert find_preset("summed") is SummedLearner


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "no_such_module:Preset gives ModuleNotFoundError (No module named 'no_such_module')."),
        ("number", f"{__name__}:CLOUD is not a subclass of exll.learner.exll.ExLL."),
        ("unfinished", f"{__name__}:Unfinished lacks _answer, _block, _make_answers, "),
    ],
)
def test_a_broken_preset_is_refused_in_one_sentence(name: str, reason: str) -> None:
    sentence = f"the preset {name!r} of the package 'more-presets' cannot be used: {reason}"
    with pytest.raises(InputError, match=re.escape(sentence)):
        ExLLClassifier(name).fit(STREAM.X, STREAM.y)


def test_its_scores_are_summed_and_its_explanations_say_so() -> None:
    model = taught()
    asked, differ = model.learner_.inference(), 0
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        explanation = model.explain(x)
        total = asked.scores(unit[None], "global") + asked.scores(unit[None], "local")
        assert explanation.label == model.predict(x[None])[0] == asked.labels[total[0].argmax()]
        assert explanation.local_score is not None
        assert explanation.global_score + explanation.local_score == pytest.approx(total.max())
        assert sum(part.value for part in explanation.contributions) == pytest.approx(explanation.global_score)
        assert explanation.reason.endswith(f'; the sum of both scores is largest for "{explanation.label}".')
        assert (explanation.level, explanation.novelty, explanation.pair_counts) == ("usual", None, {})
        differ += not explanation.agreed
    assert differ


def test_its_page_claims_nothing_of_other_presets() -> None:
    model = taught()
    for x in STREAM.queries:
        text = page(Case("asked", model.explain(x)), Thumbnails([]))
        assert "and the two are added.</p>" in text
        assert "while learning" not in text.lower()
        assert "learned from the examples" not in text
        assert "such cases before" not in text


def test_its_errors_name_it() -> None:
    model = taught()
    asks: list[Any] = [
        lambda: model.predict(STREAM.queries, unknown="?"),
        lambda: model.novelty(STREAM.queries),
        lambda: model.novelty_threshold(),
    ]
    for ask in asks:
        with pytest.raises(InputError, match=r'^the preset "summed" always names a class it knows'):
            ask()
    with pytest.raises(InputError, match="None with the preset 'summed', which lets every tenth example open one"):
        ExLLClassifier("summed", max_prototypes=3).fit(STREAM.X, STREAM.y)


def test_its_file_needs_the_package(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = taught().rename_class("c0", "c1", merge=True)
    model.save(tmp_path / "m.exll")
    assert_equal_models(model, load(tmp_path / "m.exll", ExLLClassifier))
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(site)])
    monkeypatch.setattr("exll.learner.preset._found", {})
    with pytest.raises(ModelFileError, match=r"'preset' .* must be one of 'glocal', 'paper'. Got 'summed' instead"):
        load(tmp_path / "m.exll")


@pytest.mark.process
def test_the_command_line_takes_it(tmp_path: Path) -> None:
    install(tmp_path / "packages", summed=f"{Path(__file__).stem}:SummedLearner", missing="no_such_module:Preset")
    np.savez(tmp_path / "data.npz", X=STREAM.X, y=[f"c{k}" for k in STREAM.y])
    path = [str(tmp_path / "packages"), str(Path(__file__).parent), *filter(None, sys.path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "COLUMNS": "200"}

    def exll(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", COMMAND, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)

    learned = exll("learn", "data.npz", "-m", "m.exll", "--preset", "summed")
    assert learned.returncode == 0, learned.stderr
    evaluated = exll("evaluate", "m.exll", "data.npz")
    assert evaluated.returncode == 0, evaluated.stderr
    assert "unknown" not in evaluated.stdout
    for option, words in (
        (["--preset", "summed", "--max-prototypes", "3"], "the preset summed lets every tenth example open one;"),
        (["--preset", "missing"], "Invalid value for '--preset': the preset 'missing' of the package 'more-presets'"),
        (["--preset", "magic"], "'magic' is not one of 'glocal', 'paper', 'missing', 'summed'."),
    ):
        refused = exll("learn", "data.npz", "-m", "n.exll", *option)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert words in refused.stderr

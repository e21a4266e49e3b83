"""The generated part of docs/results.md."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.bench.results import Grid, ResultsFile, packed
from exll.bench.results_page import accuracy_table, cost_table, group_curves, result_lines
from exll.bench.summary import Summary

MACHINE = {"commit": "abc1234"}


def entry(dataset: str, learner: str, right: int, order: str = "iid", seed: int = 0, **more: Any) -> dict[str, Any]:
    """20 questions, so many of which are answered rightly."""
    facts: dict[str, Any] = {
        "accuracy": right / 20,
        "top_5": 0.9,
        "forgetting": 0.1,
        "backward_transfer": None,
        "test_then_train": 0.5,
    }
    facts |= {"right": packed(np.arange(20) < right), "right_by_part": [1] * 10}
    curve = [{"examples": n, "classes": 2, "accuracy": {learner: right / 20}} for n in (10, 50, 100)]
    return {
        "key": f"{dataset} {learner} {order} {seed} {more.get('options')}",
        "learner": learner,
        "dataset": dataset,
        "options": {},
        "order": order,
        "backbone": "b",
        "seed": seed,
        "axis": None,
        "variants": {learner: facts},
        "either_right": None,
        "curve": curve,
        "parameters": 1000,
        "asked": {"rows": packed(np.ones(20, np.bool_)), "of": 20, "vectors": dataset, "groups": None},
        "stream_parts": [10] * 10,
        "backbone_parameters": 0,
        "bytes": 1,
        "machine": MACHINE,
        "seconds": {"learning": 2.0, "last_asking": 0.5, "asking": 1.0, "total": 3.0},
        **more,
    }


def some() -> list[dict[str, Any]]:
    scores = {"SLDA": 12, "glocal": 14, "all at once": 16}
    return [
        entry(dataset, learner, right + seed, order, seed, offline=learner == "all at once")
        for dataset in ("grocery81", "mine")
        for order in ("iid", "class-iid")
        for learner, right in scores.items()
        for seed in (0, 1)
    ]


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("make_results", Path(__file__).parents[2] / "docs/make_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_best_stream_learner_is_bold_and_those_that_see_all_at_once_stand_below() -> None:
    summary = Summary.of([*some()[::-1], entry("grocery81", "NCM", 1)])
    table = accuracy_table(summary, summary.by_dataset["grocery81"])
    assert table.columns[0] == "mean"
    shown = {name: [value.text for value in values] for name, values in table.rows}
    assert list(shown)[-1] == "*all at once*"
    assert shown["glocal"] == ["**72.5**", "**72.5** ± 3.5", "**72.5** ± 3.5"]
    assert shown["*all at once*"][0] == "82.5"
    assert shown["NCM"] == ["-", "-", "5.0"]  # not run on all, so it has no mean


def test_time_is_that_of_tasks_that_all_were_run_on() -> None:
    slow = {"learning": 99.0, "last_asking": 1.0, "asking": 1.0, "total": 1.0}
    summary = Summary.of([entry("a", "SLDA", 5), entry("a", "glocal", 5), entry("b", "glocal", 5, seconds=slow)])
    table = cost_table(summary)
    assert [values[0].text for _, values in table.rows] == ["2.00", "2.00"]
    assert "over the 1 tasks" in table.note


def test_the_page_has_all_its_parts_and_no_table_is_wide() -> None:
    many = [entry("mine", learner, 12, f"few-shot {n}") for n in range(1, 30) for learner in ("SLDA", "glocal")]
    summary = Summary.of(some() + many)
    text = "\n".join(result_lines(summary, summary.by_dataset, "curves.png"))
    for words in (
        "#### grocery81",
        "### glocal against the others",
        "+10.0 (",
        "### Top-5",
        "### Forgetting",
        "![accuracy on the classes seen so far, by group of tasks and order](curves.png)",
        '<details markdown="1"><summary>Test then train: mine, few-shot 29',
        "### Time, size and NetScore",
        "- **iid**: all examples shuffled.",
    ):
        assert words in text, words
    assert "### Backward transfer" not in text  # nobody counted it
    assert max(line.count("|") for line in text.splitlines()) - 1 <= 15
    assert group_curves(Summary.of([e | {"curve": []} for e in some()]), summary.by_dataset) is None


def test_our_tasks_are_grouped_and_other_data_is_by_file(script: Any) -> None:
    entries = [
        entry("grocery81", "glocal", 5),
        entry("scene15", "glocal", 5, options={"wrong labels": "20%"}),
        entry("pacs", "glocal", 5, options={"test domain": "sketch"}),
        entry("pacs", "glocal", 5, options={"test domain": "sketch", "delay": 100}),
        entry("gtsrb-clips", "glocal", 5, "instance"),
        entry("gtsrb-frames", "glocal", 5),
        entry("mine", "glocal", 5, options={"wrong labels": "20%"}),
        entry("mine", "glocal", 5),
    ]
    groups = script.groups_of(Summary.of(entries))
    assert {name: len(settings) for name, settings in groups.items()} == {
        "development tasks": 1,
        "PACS": 1,
        "GTSRB": 2,
        "label noise": 1,
        "delayed labels": 1,
        "mine": 2,
    }
    nine = script.groups_of(Summary.of([entry(name, "glocal", 5) for name in script.NINE]))
    assert {name: len(settings) for name, settings in nine.items()} == {"nine development tasks": 9}


def test_what_is_made_replaces_what_was_made_and_nothing_else(script: Any, tmp_path: Path) -> None:
    with ResultsFile(tmp_path / "results.jsonl").writing() as writer:
        for one in some():
            writer.add(one)
    keys = [one["key"] for one in some()]
    Grid("mine", "exll bench compare /home/me/data -o /tmp/x/out --seeds 2", keys).write(tmp_path)
    part = script.made(tmp_path, tmp_path / "docs" / "curves.png")
    assert "`exll bench compare data -o out --seeds 2`" in part
    assert "runs of commit abc1234" in part
    assert (tmp_path / "docs" / "curves.png").stat().st_size > 1000
    page = script.put("# Results\n\nWords.\n", part)
    assert page.startswith("# Results\n\nWords.\n\n" + script.BEGIN)
    assert script.put(page + "\nMore words.\n", "<anew>") == "# Results\n\nWords.\n\n<anew>\n\nMore words.\n"

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll.bench.charts import COLOURS, style_of
from exll.bench.learners import BUILT_IN
from exll.bench.legend import legend
from exll.bench.netscore import netscore
from exll.bench.paper_results import BACKBONES
from exll.bench.report import Picture, read_results, report_of, write_report
from exll.bench.results import Grid, ResultsFile, packed
from exll.bench.summary import Setting, Summary, scaled_axes
from exll.bench.tables import accuracy_tables, axes_table, netscore_table, overview, overviews, ranks, stream_table
from exll.errors import BenchError
from exll.installing import install_command

MACHINE = {
    "processor": "a <small> chip",
    "cores": 2,
    "system": "Linux x86_64",
    "python": "3.11",
    "exll": "0.1.0",
    "commit": "abc1234",
    "packages": {"numpy": "2.0"},
}
TASKS = {
    "Video": ("openloris", "instance"),
    "Low-Shot": ("openloris", "low-shot-instance"),
    "Scale": ("places365", "iid"),
    "Imbalance": ("places-lt", "iid"),
}


def entry(axis: str, learner: str, accuracy: float, backbone: str = "resnet-18", seed: int = 0, **more: Any) -> Any:
    dataset, order = TASKS[axis]
    variants = {learner: {"accuracy": accuracy, "forgetting": 0.1, "backward_transfer": -0.1, "factors": {"size": 0.5}}}
    variants[learner]["test_then_train"] = None
    curve = [{"examples": n, "classes": 2, "accuracy": {learner: a}} for n, a in ((10 + seed, 0.2), (20, accuracy))]
    return {
        "key": f"{axis} {learner} {backbone} {seed}",
        "learner": learner,
        "dataset": dataset,
        "options": {},
        "order": order,
        "backbone": backbone,
        "seed": seed,
        "axis": axis,
        "variants": variants,
        "either_right": None,
        "curve": curve,
        "parameters": 1_000_000,
        "backbone_parameters": 1_000_000,
        "bytes": 4_000_000,
        "seconds": {"learning": 12.0, "last_asking": 4.0, "asking": 50.0, "total": 99.0},
        "machine": MACHINE,
        **more,
    }


def some_entries() -> list[Any]:
    accuracies = {"NCM": 0.5, "SLDA": 0.9, "ExLL-F": 0.6}
    return [
        entry(axis, learner, accuracy + 0.02 * seed, seed=seed)
        for axis in TASKS
        for learner, accuracy in accuracies.items()
        for seed in (0, 1)
    ]


def test_ranks_go_by_what_is_shown_and_equals_share_a_place() -> None:
    assert ranks([0.1, 0.4, 0.3, 0.2]) == [0, 1, 2, 3]
    assert ranks([0.90001, 0.90002, 0.5]) == [1, 1, 3]
    assert ranks([0.3, None]) == [0, 0]  # nothing to compare with
    assert ranks([0.0, 0.0, None, 0.0]) == [0, 0, 0, 0]  # all equal: none is best


def test_the_mean_over_seeds_has_a_spread() -> None:
    summary = Summary.of(some_entries())
    measured = summary.accuracy(Setting("openloris", "{}", "instance"), "NCM", "resnet-18")
    assert measured is not None
    assert measured.mean == pytest.approx(0.51)
    assert measured.std == pytest.approx(0.02 / 2**0.5)
    assert measured.seeds == 2


def test_of_two_results_for_one_cell_the_later_counts() -> None:
    old, new = entry("Video", "NCM", 0.1), entry("Video", "NCM", 0.7) | {"key": "another"}
    assert Summary.of([old, new]).accuracy(Setting("openloris", "{}", "instance"), "NCM") == (0.7, None, 1)


def test_netscore_comes_from_the_low_shot_runs_with_the_backbone_s_parameters() -> None:
    summary = Summary.of([entry("Video", "NCM", 0.9), entry("Low-Shot", "NCM", 0.5)])
    assert summary.netscore("NCM") == pytest.approx(netscore(0.5, 2_000_000, 16.0))
    assert Summary.of([entry("Video", "NCM", 0.9)]).netscore("NCM") is None
    assert Summary.of([entry("Low-Shot", "NCM", 0.5, parameters=None)]).netscore("NCM") is None


def test_axes_are_scaled_from_the_worst_to_the_best() -> None:
    raw = Summary.of(some_entries()).raw_axes()
    assert list(raw) == ["NetScore", "Video", "Low-Shot", "Scale", "Imbalance"]
    assert raw["Video"] == pytest.approx({"NCM": 0.51, "SLDA": 0.91, "ExLL-F": 0.61})
    scaled = scaled_axes(raw)["Video"]
    assert scaled == pytest.approx({"NCM": 0.0, "SLDA": 1.0, "ExLL-F": 0.25})
    assert scaled_axes({"Video": {"a": 0.5, "b": 0.5}}) == {"Video": {"a": 1.0, "b": 1.0}}


def test_a_curve_is_read_off_where_all_seeds_have_points() -> None:
    curve = Summary.of(some_entries()).curve(Setting("openloris", "{}", "instance"), "NCM")
    assert curve is not None
    places, values = curve
    assert places == [11, 20]  # one seed was first asked after 10 examples, the other after 11
    assert values[1] == pytest.approx(0.51)


def test_a_curve_by_share_begins_where_all_curves_have_begun() -> None:
    summary = Summary.of([entry("Video", "NCM", 0.6), entry("Scale", "NCM", 0.4)])  # 0.2 after 10 of 20 examples
    assert summary.curve_by_share(summary.settings, "NCM", (0.3, 0.5, 0.75, 1.0)) == [
        None,
        pytest.approx(0.2),
        pytest.approx((0.4 + 0.3) / 2),
        pytest.approx(0.5),
    ]
    assert summary.curve_by_share(summary.settings, "SLDA", (0.5, 1.0)) == [None, None]


def test_test_then_train_is_a_curve_over_the_parts_of_the_stream() -> None:
    first, second = entry("Video", "NCM", 0.5), entry("Video", "NCM", 0.5, seed=1)
    first["stream_parts"] = second["stream_parts"] = [4, 4, 2]
    first["variants"]["NCM"]["right_by_part"] = [0, 2, 2]
    second["variants"]["NCM"]["right_by_part"] = [1, 4, 1]
    setting = Setting("openloris", "{}", "instance")
    assert Summary.of([first, second]).ahead_curve(setting, "NCM") == ([4, 8, 10], [0.125, 0.75, 0.75])
    assert Summary.of([entry("Video", "NCM", 0.5)]).ahead_curve(setting, "NCM") is None  # as in results of before


def test_a_wide_overview_is_cut_between_data_sets() -> None:
    entries = [
        entry("Video", "NCM", 0.5, dataset=name, order=f"few-shot {n}", key=f"{name} {n}")
        for name, number in (("a", 7), ("b", 6), ("c", 2))
        for n in range(1, number + 1)
    ]
    tables = list(overviews(Summary.of(entries)))
    assert [len(table.columns) for table in tables] == [7, 8]
    assert tables[0].columns[0] == "few-shot 1"  # all of one data set, which is in the title
    assert tables[0].title.endswith(": a")
    assert tables[1].columns[0] == "b, few-shot 1"
    assert [bool(table.note) for table in tables] == [False, True]


def test_every_learner_of_ours_and_every_order_is_explained() -> None:
    variants = [variant for spec in BUILT_IN.values() for variant in spec.reported]
    found = dict(legend(Summary.of([entry("Low-Shot", variant, 0.5) for variant in variants])))
    assert [variant for variant in (*variants, "low-shot-instance") if not found.get(variant)] == []
    assert found["SLDA, unit"].endswith("on vectors of length 1")
    own = legend(Summary.of([entry("Video", "mine", 0.5, options={"wrong labels": "20%"}, order="few-shot 5")]))
    assert [name for name, _ in own] == ["few-shot 5", "wrong labels"]


def test_25_learners_look_different_in_a_picture() -> None:
    assert len({(style["marker"], style["linestyle"]) for style in map(style_of, range(25))}) == 25
    colours = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in COLOURS])
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    xyz = linear @ np.array([[0.4339, 0.2127, 0.0178], [0.3762, 0.7152, 0.1095], [0.1899, 0.0722, 0.8728]])
    root = np.cbrt(xyz)
    lab = np.stack([116 * root[:, 1], 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2) + 1e3 * np.eye(len(COLOURS))
    assert len(COLOURS) == 25
    assert apart.min() > 20  # a difference of 2 can just be seen


def test_differences_are_reported_where_rows_were_kept() -> None:
    def kept(learner: str, right: int, **more: Any) -> Any:
        made = entry("Video", learner, right / 50, **more)
        made["variants"][learner]["right"] = packed(np.arange(50) < right)
        made["asked"] = {"rows": packed(np.ones(50, np.bool_)), "of": 50, "vectors": "v", "groups": None}
        return made

    report = report_of([kept("NCM", 25), kept("glocal", 35), kept("SLDA", 30)], "x", "")
    (section,) = [s for s in report.sections if s.title == "Differences"]
    against, rival = section.parts
    assert not isinstance(against, Picture)
    assert not isinstance(rival, Picture)
    assert [name for name, _ in against.rows] == ["NCM", "SLDA"]
    assert against.rows[0][1][0].text.startswith("+20.0 (+")
    assert (rival.head, rival.rows[0][1][1].text) == ("Task", "SLDA")
    old = report_of([entry("Video", "NCM", 0.5), entry("Video", "glocal", 0.7)], "x", "")
    assert "Differences" not in [section.title for section in old.sections]


def test_our_numbers_stand_beside_the_paper_s() -> None:
    first = next(accuracy_tables(Summary.of(some_entries())))
    assert first.title == "Accuracy: openloris, instance"
    assert first.columns == ("RN-18",)
    shown = {name: (v[0].text, v[0].rank, v[0].published) for name, v in first.rows}
    assert shown["SLDA"] == ("0.910 ± 0.014", 1, "0.950")
    assert shown["NCM"] == ("0.510 ± 0.014", 3, "0.797")


def test_the_paper_s_mean_stands_only_beside_a_mean_over_the_same_backbones() -> None:
    whole = [entry("Video", "NCM", 0.5, backbone) for backbone in BACKBONES]
    for entries, published in ((whole, "0.808"), (whole[:2], "")):
        table = next(accuracy_tables(Summary.of(entries)))
        assert table.columns[-1] == "Mean"
        assert table.rows[0][1][-1].published == published


def test_tables_name_what_they_show() -> None:
    summary = Summary.of(some_entries())
    assert overview(summary).columns[0] == "openloris, instance"
    way = stream_table(summary, summary.settings[0])
    assert "forgetting" in way.columns
    assert "test then train" not in way.columns  # nobody counted it
    scores, axes = netscore_table(summary), axes_table(summary)
    assert scores is not None
    assert axes is not None
    assert scores.columns == ("RN-18", "Mean (Hayes)")
    assert {name: values[0].published for name, values in scores.rows}["ExLL-F"] == "-108.1"
    assert axes.columns[-1] == "Mean, scaled"


def test_settings_that_differ_in_options_are_told_apart() -> None:
    entries = [entry("Video", "NCM", 0.5, options={"frames": n}, key=str(n)) for n in (2, 3)]
    summary = Summary.of(entries)
    assert [summary.title(s) for s in summary.settings] == [
        "openloris (frames 2), instance",
        "openloris (frames 3), instance",
    ]


def test_a_report_is_whole_in_both_forms(tmp_path: Path) -> None:
    report = report_of(some_entries(), "A <b>title</b> | x", "exll bench run x.toml")
    written = {path.name: path for path in write_report(report, tmp_path)}
    assert set(written) == {"report.md", "report.html", "accuracy.png", "curves.png", "spider.png"}
    for name in ("accuracy.png", "curves.png", "spider.png"):
        with Image.open(written[name]) as picture:
            assert picture.width > 300
    text, page = written["report.md"].read_text(), written["report.html"].read_text()
    for words in ("About the paper's numbers", "commit abc1234", "exll bench run x.toml", "Low-Shot", "①"):
        assert words in text, words
        assert words in page.replace("&#x27;", "'"), words
    assert "(paper 0.950)" in text
    assert "<b>" not in page
    assert "a <small> chip" not in page
    assert page.count("data:image/png;base64,") == 3
    assert not re.search(r'(src|href)="(?!data:)', page)  # nothing is fetched from anywhere
    assert not list(tmp_path.glob(".*"))


def test_a_report_of_one_run_is_a_report(tmp_path: Path) -> None:
    report = report_of([entry("Scale", "NCM", 0.5) | {"curve": []}], "one", "")
    assert [part.name for s in report.sections for part in s.parts if isinstance(part, Picture)] == ["accuracy"]
    write_report(report, tmp_path)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    for name in ("exll.bench.charts", "exll.bench.report"):
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(BenchError, match=re.escape(f"needs matplotlib: {install_command('bench')}")):
        importlib.import_module("exll.bench.report")


def test_nothing_to_report_is_said(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="no results to report on"):
        report_of([], "none", "")
    with pytest.raises(BenchError, match="there are no results at"):
        read_results(tmp_path)


def test_only_the_results_of_the_last_run_are_reported_in_its_order(tmp_path: Path) -> None:
    with ResultsFile(tmp_path / "results.jsonl").writing() as writer:
        for accuracy in (0.1, 0.2, 0.3):
            writer.add(entry("Video", f"learner {accuracy}", accuracy))
    entries, title, _ = read_results(tmp_path)
    assert (len(entries), title) == (3, tmp_path.name)
    keys = [entries[2]["key"], entries[0]["key"], "not run yet"]
    Grid("mine", "exll bench run mine.toml", keys).write(tmp_path)
    chosen, title, command = read_results(tmp_path / "results.jsonl")
    assert [e["key"] for e in chosen] == keys[:2]
    assert (title, command) == ("mine", "exll bench run mine.toml")

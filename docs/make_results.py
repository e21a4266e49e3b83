"""Writes the part of docs/results.md between two marks from the results of a run.

``python docs/make_results.py OUT``: OUT is the folder of ``exll bench run`` or ``exll bench compare``. Nothing but its
results is used. Our development tasks are grouped; of other data every features file is a group of its own.
"""

import argparse
import datetime
import io
import json
import re
from pathlib import Path

from PIL import Image

from exll.bench.machine import machine_facts
from exll.bench.report import read_results
from exll.bench.results_page import group_curves, result_lines
from exll.bench.summary import Setting, Summary

PAGE = Path(__file__).with_name("results.md")
PICTURE = "pictures/results-curves.png"
COLOURS = 256  # a page of the repository wants small pictures
BEGIN = "<!-- made by docs/make_results.py: please do not edit by hand -->"
END = "<!-- end of what docs/make_results.py made -->"
NINE = (
    *("grocery81", "grocery43", "grocery81-5shot", "grocery81-10shot", "scene15", "miniplaces"),
    *("miniplaces-longtail", "eth80-new-instances", "fruits-new-videos"),
)
OTHERS = {
    "pacs": "PACS",
    **dict.fromkeys(("gtsrb", "gtsrb-clips", "gtsrb-frames"), "GTSRB"),
    "fruits-all-videos": "fruits, shared videos",
}
CONDITIONS = {"wrong labels": "label noise", "delay": "delayed labels", "long tail": "long tail"}


def groups_of(summary: Summary) -> dict[str, list[Setting]]:
    """The nine tasks, PACS, GTSRB, and those made harder; any other data by its file."""
    development = "nine development tasks" if set(NINE) <= summary.by_dataset.keys() else "development tasks"
    groups: dict[str, list[Setting]] = {name: [] for name in (development, *OTHERS.values(), *CONDITIONS.values())}
    for setting in summary.settings:
        groups.setdefault(_group(setting, development), []).append(setting)
    return {name: settings for name, settings in groups.items() if settings}


def _group(setting: Setting, development: str) -> str:
    ours = setting.dataset in NINE or setting.dataset in OTHERS
    options = json.loads(setting.options)
    for condition, name in CONDITIONS.items():
        if ours and condition in options:
            return name
    return development if setting.dataset in NINE else OTHERS.get(setting.dataset, setting.dataset)


def made(out: Path, picture: Path) -> str:
    """What goes between the marks; the picture is written beside the page."""
    entries, _, command = read_results(out)
    summary = Summary.of(entries)
    groups = groups_of(summary)
    png = group_curves(summary, groups)
    if png is not None:
        picture.parent.mkdir(exist_ok=True)
        Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(
            picture, optimize=True
        )
    commits = ", ".join(sorted({str(entry["machine"]["commit"]) for entry in summary.entries}))
    today = datetime.date.today().isoformat()
    head = (
        f"`{_without_folders(command)}`, then `python docs/make_results.py {out.name}` "
        f"({today}, commit {machine_facts()['commit']}; runs of commit {commits}): "
        f"{len(summary.entries):,} runs, {len(summary.variants)} learners, {len(summary.settings)} tasks, orders "
        f"{', '.join(map(str, summary.seeds))}."
    )
    lines = result_lines(summary, groups, None if png is None else PICTURE)
    return "\n".join([BEGIN, "## All learners on all tasks", "", head, "", *lines, END])


def _without_folders(command: str) -> str:
    """Where data lay on this machine is nobody's business."""
    return re.sub(r"(?<!\S)/\S*/(?=\S)", "", command)


def put(page: str, part: str) -> str:
    """In place of the part that is there; at the end of a page that has none."""
    if BEGIN not in page:
        return f"{page.rstrip()}\n\n{part}\n"
    before, _, rest = page.partition(BEGIN)
    return before + part + rest.partition(END)[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of a run")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into (default docs/results.md)")
    asked = parser.parse_args()
    part = made(asked.out, asked.page.parent / PICTURE)
    old = asked.page.read_text(encoding="utf-8") if asked.page.exists() else "# Results\n"
    asked.page.write_text(put(old, part), encoding="utf-8")


if __name__ == "__main__":
    main()

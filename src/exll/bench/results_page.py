"""The part of docs/results.md that is made from results: the figures of a comparison, by groups of tasks, in points."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from exll.bench.charts import Panels, curves_png
from exll.bench.curve_tables import SHARES, WORDS, ahead_table, curve_table
from exll.bench.difference_tables import difference_table, rival_table, wide_tables
from exll.bench.legend import legend
from exll.bench.metrics import mean_of
from exll.bench.report_markdown import plain, table_lines
from exll.bench.summary import Entry, Setting, Summary, netscore_of
from exll.bench.tables import MISSING, MOST_COLUMNS, Table, Value

Groups = Mapping[str, Sequence[Setting]]
Fact = Callable[[Entry, str], float | None]

MOST_DIFFERENCES = 6
FACTS: dict[str, tuple[Fact, str]] = {  # per group of tasks: what, and what it is
    "Top-5": (
        lambda e, v: e["variants"][v].get("top_5"),
        "How often the right class is among the five best, where there are more than five.",
    ),
    "Test then train": (
        lambda e, v: e["variants"][v]["test_then_train"],
        "The share of the stream that was answered correctly before it was learned.",
    ),
    "Forgetting": (
        lambda e, v: e["variants"][v]["forgetting"],
        "How far a class fell from its best earlier accuracy to the end, mean over classes; lower is better.",
    ),
    "Backward transfer": (
        lambda e, v: e["variants"][v]["backward_transfer"],
        "The last accuracy of a class minus its first, mean over classes.",
    ),
}


def result_lines(summary: Summary, groups: Groups, picture: str | None) -> Iterator[str]:
    """Markdown under a heading of the second level. ``picture`` is where ``group_curves`` lies, from the page."""
    yield "### Accuracy\n"
    yield (
        "Top-1 at the end of the stream in percent, the mean over orders ± the standard deviation over them. The best "
        f"stream learner of a column is bold.{_about_offline(summary)}"
    )
    for name, settings in groups.items():
        for title, part in _parts(name, settings):
            yield from _titled(title, accuracy_table(summary, part))
    differences = difference_table(summary, groups)
    if differences is not None:
        yield f"\n### {summary.chosen} against the others"
        for table in wide_tables(differences, MOST_DIFFERENCES):
            yield ""
            yield from table_lines(table)
        rivals = rival_table(summary)
        if rivals is not None:
            yield from _titled("Task by task, against the best other stream learner of each", rivals)
    for title, (fact, words) in FACTS.items():
        for number, table in enumerate(_fact_tables(summary, groups, fact)):
            if number == 0:
                yield f"\n### {title}\n\n{words} In points, the mean over the tasks of a group."
            yield ""
            yield from table_lines(table)
    yield from _curves(summary, groups, picture)
    yield from _titled("Time, size and NetScore", cost_table(summary), "###")
    yield "\n### What the names mean\n"
    yield from (f"- **{plain(name)}**: {plain(words)}." for name, words in legend(summary))


def accuracy_table(summary: Summary, settings: Sequence[Setting]) -> Table:
    columns = [_accuracy_column(summary, setting) for setting in settings]
    titles = [summary.title(setting) for setting in settings]
    if len(settings) > 1:
        means = {variant: summary.mean_accuracy(settings, variant) for variant in summary.variants}
        best = _best(summary, means)
        columns.insert(0, {v: _bold(_points(mean), v in best) for v, mean in means.items()})
        titles.insert(0, "mean")
    rows = [v for v in _in_order(summary) if any(column[v] != MISSING for column in columns)]
    cells = tuple((_name(summary, v), tuple(Value(column[v]) for column in columns)) for v in rows)
    return Table("", tuple(titles), cells)


def cost_table(summary: Summary) -> Table:
    """Means over the tasks that all learners were run on, so that all have the same tasks."""
    common = [s for s in summary.settings if all(summary.of_setting(s, v) for v in summary.variants)]
    rows = []
    for variant in _in_order(summary):
        entries = [e for s in common for e in summary.of_setting(s, variant)]
        scores = [netscore_of(entry, variant) for entry in entries]
        facts = (
            (mean_of([e["seconds"]["learning"] for e in entries]), "{:,.2f}"),
            (mean_of([e["seconds"]["last_asking"] for e in entries]), "{:,.3f}"),
            (mean_of([e["parameters"] for e in entries]), "{:,.0f}"),
            (None if None in scores else mean_of(scores), "{:.1f}"),
        )
        values = tuple(Value(MISSING if value is None else form.format(value)) for value, form in facts)
        rows.append((_name(summary, variant), values))
    columns = ("seconds of learning", "of asking all test rows once", "parameters", "NetScore")
    note = (
        f"Means over the {len(common)} tasks that all learners were run on. One BLAS thread; cells ran side by side on "
        "a shared machine, so seconds can be compared with each other only roughly. Parameters are numbers that the "
        "learner keeps, without the backbone. NetScore (Eq. 24, the paper's convention) counts the backbone's too "
        "where it is known, which it is not for given features."
    )
    return Table("", columns, tuple(rows), note)


def group_curves(summary: Summary, groups: Groups) -> bytes | None:
    """One panel per group and order: accuracy on the classes seen, by how much of the stream was learned."""
    panels: Panels = {}
    for title, settings in _by_order(groups):
        curves = {}
        for variant in summary.variants:
            line = summary.curve_by_share(settings, variant, SHARES)
            known = [(100 * share, value) for share, value in zip(SHARES, line, strict=True) if value is not None]
            if known:
                curves[variant] = ([where for where, _ in known], [value for _, value in known])
        if curves:
            panels[title] = curves
    if not panels:
        return None
    return curves_png(summary.variants, panels, "percent of the stream learned", "accuracy, seen classes")


def _curves(summary: Summary, groups: Groups, picture: str | None) -> Iterator[str]:
    tables = [
        table
        for title, settings in _by_order(groups)
        for make in (curve_table, ahead_table)
        if (table := make(summary, title, settings)) is not None
    ]
    if not tables:
        return
    yield f"\n### While the stream goes on\n\n{WORDS} They are also averaged over the tasks of a group."
    if picture is not None:
        yield f"\n![accuracy on the classes seen so far, by group of tasks and order]({picture})"
    for table in tables:
        yield f'\n<details markdown="1"><summary>{plain(table.title)}</summary>\n'
        yield from table_lines(table)
        yield "\n</details>"


def _fact_tables(summary: Summary, groups: Groups, fact: Fact) -> Iterator[Table]:
    columns: dict[str, dict[str, str]] = {}
    for name, settings in groups.items():
        found = {
            v: [mean_of([fact(e, v) for e in summary.of_setting(s, v)]) for s in settings] for v in summary.variants
        }
        counted = [i for i in range(len(settings)) if any(values[i] is not None for values in found.values())]
        if counted:
            means = {
                v: None if any(values[i] is None for i in counted) else mean_of([values[i] for i in counted])
                for v, values in found.items()
            }
            columns[name] = {variant: _points(mean) for variant, mean in means.items()}
    names = list(columns)
    for start in range(0, len(names), MOST_COLUMNS):
        part = names[start : start + MOST_COLUMNS]
        rows = [v for v in _in_order(summary) if any(columns[name][v] != MISSING for name in part)]
        cells = tuple((_name(summary, v), tuple(Value(columns[name][v]) for name in part)) for v in rows)
        yield Table("", tuple(part), cells)


def _accuracy_column(summary: Summary, setting: Setting) -> dict[str, str]:
    found = {variant: summary.accuracy(setting, variant) for variant in summary.variants}
    best = _best(summary, {variant: None if m is None else m.mean for variant, m in found.items()})
    return {
        variant: MISSING
        if m is None
        else _bold(_points(m.mean), variant in best) + ("" if m.std is None else f" ± {100 * m.std:.1f}")
        for variant, m in found.items()
    }


def _best(summary: Summary, means: Mapping[str, float | None]) -> set[str]:
    """Those that look best, of the stream learners."""
    shown = {v: _points(mean) for v, mean in means.items() if mean is not None and v not in summary.offline}
    best = max((mean for v, mean in means.items() if v in shown and mean is not None), default=None)
    return {v for v, text in shown.items() if text == _points(best)}


def _parts(name: str, settings: Sequence[Setting]) -> Iterator[tuple[str, Sequence[Setting]]]:
    """A table is not too wide: one per order where a group has many tasks, and cut where that is still too many."""
    whole = [(name, list(settings))] if len(settings) <= MOST_COLUMNS else list(_by_order({name: settings}))
    for title, part in whole:
        for start in range(0, len(part), MOST_COLUMNS):
            yield title, part[start : start + MOST_COLUMNS]


def _by_order(groups: Groups) -> Iterator[tuple[str, list[Setting]]]:
    for name, settings in groups.items():
        for order in dict.fromkeys(setting.order for setting in settings):
            yield f"{name}, {order}", [setting for setting in settings if setting.order == order]


def _titled(title: str, table: Table, level: str = "####") -> Iterator[str]:
    yield f"\n{level} {plain(title)}\n"
    yield from table_lines(table)


def _in_order(summary: Summary) -> list[str]:
    """Stream learners, then those that see all data at once."""
    return sorted(summary.variants, key=lambda variant: variant in summary.offline)


def _name(summary: Summary, variant: str) -> str:
    return f"*{variant}*" if variant in summary.offline else variant


def _about_offline(summary: Summary) -> str:
    offline = " Learners in italics, at the bottom, see all data at once; they are for reference only."
    return offline if summary.offline else ""


def _points(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:.1f}"


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold and text != MISSING else text

"""Tables of how far one learner is from the others, with intervals, in points."""

from collections.abc import Iterator, Mapping, Sequence

from exll.bench.bootstrap import DRAWS
from exll.bench.pairs import LEAST_GROUPS, Difference, difference
from exll.bench.summary import Setting, Summary
from exll.bench.tables import Table, Value, by_row

ALL = "all tasks"
HOW = (
    "Differences in points of accuracy (1 is one percentage point), above 0 where {chosen} is better, each with a 95% "
    f"interval: a paired bootstrap of {DRAWS:,} draws over the test rows, the same rows for both learners, after "
    "averaging over orders. Tasks stay fixed, and those that ask the same rows draw them together."
)
BY_GROUPS = (
    " * Test rows come in groups, such as the frames of one video or the views of one object, and there are "
    f"{LEAST_GROUPS} or more: whole groups are drawn, since rows of one group are not independent."
)


def difference_table(summary: Summary, groups: Mapping[str, Sequence[Setting]]) -> Table | None:
    """The chosen learner compared with every other: the mean over each group of tasks. None if no rows were kept."""
    chosen, others = summary.chosen, [v for v in summary.variants if v != summary.chosen]
    found = {
        name: [difference(summary, settings, chosen, other) for other in others] for name, settings in groups.items()
    }
    found = {name: column for name, column in found.items() if any(column)}
    if not found:
        return None
    cells = [[_value(one, len(groups[name])) for one in column] for name, column in found.items()]
    note = HOW.format(chosen=chosen)
    every = [(name, one) for name, column in found.items() for one in column if one is not None]
    if any(one.by_groups for _, one in every):
        note += BY_GROUPS
    if any(one.tasks < len(groups[name]) for name, one in every):
        note += " Where a learner was not run on all tasks of a group, their number is given."
    return Table(f"{chosen} less each other learner", tuple(found), by_row(others, cells), note)


def rival_table(summary: Summary, settings: Sequence[Setting] | None = None) -> Table | None:
    """The chosen learner on each task, against the best other stream learner of that task."""
    rows, found = [], []
    for setting in summary.settings if settings is None else settings:
        rival, measured = summary.best_rival(setting), summary.accuracy(setting, summary.chosen)
        if rival is None or measured is None:
            continue
        best, one = summary.accuracy(setting, rival), difference(summary, [setting], summary.chosen, rival)
        assert best is not None
        found.append(one)
        cells = (Value(f"{measured.mean:.3f}"), Value(rival), Value(f"{best.mean:.3f}"), _value(one, 1))
        rows.append((summary.title(setting), cells))
    if not any(found):
        return None
    columns = (summary.chosen, "best other", "its accuracy", "difference")
    note = "As above. The best other learner is chosen on the same test rows, which favours it."
    return Table(f"{summary.chosen} and the best other stream learner", columns, tuple(rows), note, "Task")


def dataset_groups(summary: Summary) -> dict[str, list[Setting]]:
    """All settings where there are several data sets, and those of each."""
    groups = dict(summary.by_dataset)
    return groups if len(groups) == 1 else {ALL: summary.settings, **groups}


def wide_tables(table: Table, most: int) -> Iterator[Table]:
    """The same table in parts of so many columns."""
    for start in range(0, len(table.columns), most):
        part = slice(start, start + most)
        rows = tuple((name, values[part]) for name, values in table.rows)
        last = start + most >= len(table.columns)
        yield Table(table.title, table.columns[part], rows, table.note if last else "", table.head)


def shown_difference(one: Difference) -> str:
    """In points: +1.4 (+0.9 to +1.9), with a star where groups were drawn."""
    mean, low, high = (100 * value for value in one.interval)
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f}){'*' if one.by_groups else ''}"


def _value(one: Difference | None, tasks: int) -> Value:
    if one is None:
        return Value()
    return Value(shown_difference(one) + (f" [{one.tasks} of {tasks}]" if one.tasks < tasks else ""))

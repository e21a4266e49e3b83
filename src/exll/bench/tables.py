"""The tables of a report, free of any format."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from exll.bench.metrics import mean_of
from exll.bench.paper_results import BACKBONES, published_accuracy, published_netscore
from exll.bench.summary import Entry, Setting, Summary, run_seconds, scaled_axes

MARKS = ("", "①", "②", "③")  # none, first, second, third
MISSING = "-"
MOST_COLUMNS = 12
ON_THE_WAY = (
    "Means over seeds and backbones. Top-5: the right class is among the five best, where there are more than five. "
    "Test then train: the share answered correctly before it was learned. Forgetting: how far a class fell from its "
    "best earlier value, mean over classes. Backward transfer: its last value minus its first. Both need a stream "
    "that is asked more than once. Either right: local or global inference is right; a rule that picks one of the two "
    "labels cannot exceed it, but a table of pairs may name a third class. Seconds: learning and one round of asking, "
    "without the backbone."
)


@dataclass(frozen=True)
class Value:
    """One number as it is shown; ``rank`` is 1, 2 or 3 for the best of its column, else 0."""

    text: str = MISSING
    rank: int = 0
    published: str = ""  # the paper's own number, where it has this cell


@dataclass(frozen=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Value, ...]], ...]
    note: str = ""
    head: str = "Learner"  # of the first column


def ranks(values: Sequence[float | None], digits: int = 3) -> list[int]:
    """1, 2, 3 for the three best, equals sharing the better place; values that look equal are equal.

    Where all are equal, none is best.

    >>> ranks([0.5, 0.9, None, 0.9, 0.7, 0.1])
    [0, 1, 0, 1, 3, 0]
    """
    shown = [None if value is None else round(value, digits) for value in values]
    known = [value for value in shown if value is not None]
    if len(set(known)) < 2:
        return [0] * len(shown)
    places = [0 if value is None else 1 + sum(other > value for other in known) for value in shown]
    return [place if place <= 3 else 0 for place in places]


def accuracy_tables(summary: Summary) -> Iterator[Table]:
    """Like the paper's: learners down, backbones across, and their mean."""
    for setting in summary.settings:
        variants = [variant for variant in summary.variants if summary.of_setting(setting, variant)]
        used = [b for b in summary.backbones if any(summary.of_setting(setting, v, b) for v in variants)]
        columns = [*used, None] if len(used) > 1 else used
        cells = [_accuracy_column(summary, setting, variants, backbone) for backbone in columns]
        seeds = max(len({e["seed"] for e in summary.of_setting(setting, variant)}) for variant in variants)
        yield Table(
            f"Accuracy: {summary.title(setting)}",
            tuple("Mean" if b is None else BACKBONES.get(b, b) for b in columns),
            tuple((variant, tuple(column[row] for column in cells)) for row, variant in enumerate(variants)),
            f"Top-1 at the end of the stream, {seeds} seed{'s' if seeds > 1 else ''}"
            + (", ± the standard deviation over them." if seeds > 1 else "."),
        )


def _accuracy_column(summary: Summary, setting: Setting, variants: list[str], backbone: str | None) -> list[Value]:
    found = [summary.accuracy(setting, variant, backbone) for variant in variants]
    places = ranks([None if m is None else m.mean for m in found])
    column = []
    for variant, measured, place in zip(variants, found, places, strict=True):
        theirs = published_accuracy(setting.dataset, setting.order, variant, _paper_column(summary, backbone))
        published = "" if theirs is None else f"{theirs:.3f}"
        if measured is None:
            column.append(Value(published=published))
            continue
        std = "" if measured.std is None or backbone is None else f" ± {measured.std:.3f}"
        column.append(Value(f"{measured.mean:.3f}{std}", place, published))
    return column


def _paper_column(summary: Summary, backbone: str | None) -> str:
    """The paper's mean stands beside ours only where ours is over the same backbones."""
    if backbone is None:
        return "mean" if set(summary.backbones) == set(BACKBONES) else ""
    return backbone


def overview(summary: Summary, settings: Sequence[Setting] | None = None) -> Table:
    """Learners down, settings across: the mean over seeds and backbones."""
    settings = summary.settings if settings is None else settings
    columns = [
        ranked([_mean(summary.accuracy(setting, variant)) for variant in summary.variants], "{:.3f}")
        for setting in settings
    ]
    return Table(
        "Accuracy at the end of each stream",
        tuple(summary.title(setting) for setting in settings),
        by_row(summary.variants, columns),
        "Mean over seeds and backbones. ①, ② and ③ mark the three best of a column.",
    )


def overviews(summary: Summary) -> Iterator[Table]:
    """The same in tables that are not too wide: the settings of one data set stay together where they fit."""
    parts: list[list[Setting]] = [[]]
    for settings in summary.by_dataset.values():
        if parts[-1] and len(parts[-1]) + len(settings) > MOST_COLUMNS:
            parts.append([])
        parts[-1] += settings
    cut = [part[start : start + MOST_COLUMNS] for part in parts for start in range(0, len(part), MOST_COLUMNS)]
    if len(cut) == 1:
        yield overview(summary)
        return
    for number, part in enumerate(cut, start=1):
        table, names = overview(summary, part), list(dict.fromkeys(setting.dataset for setting in part))
        columns = [title.removeprefix(names[0]).lstrip(", ") if len(names) == 1 else title for title in table.columns]
        note = table.note if number == len(cut) else ""
        yield replace(table, title=f"{table.title}: {', '.join(names)}", columns=tuple(columns), note=note)


def stream_table(summary: Summary, setting: Setting) -> Table:
    """What happened on the way: metrics over time, size and speed."""
    variants = [variant for variant in summary.variants if summary.of_setting(setting, variant)]

    def column(value: Callable[[Entry, str], float | None], form: str, best: bool = True) -> list[Value]:
        means = [mean_of([value(e, variant) for e in summary.of_setting(setting, variant)]) for variant in variants]
        return ranked(means, form) if best else [Value(shown(mean, form)) for mean in means]

    columns = {
        "accuracy": column(lambda e, v: e["variants"][v]["accuracy"], "{:.3f}"),
        "top-5": column(lambda e, v: e["variants"][v].get("top_5"), "{:.3f}"),
        "test then train": column(lambda e, v: e["variants"][v]["test_then_train"], "{:.3f}"),
        "forgetting": column(lambda e, v: e["variants"][v]["forgetting"], "{:+.3f}", best=False),
        "backward transfer": column(lambda e, v: e["variants"][v]["backward_transfer"], "{:+.3f}", best=False),
        "either right": column(lambda e, v: e["either_right"], "{:.3f}", best=False),
        "parameters": column(lambda e, v: e["parameters"], "{:,.0f}", best=False),
        "bytes": column(lambda e, v: e["bytes"], "{:,.0f}", best=False),
        "seconds": column(lambda e, v: run_seconds(e), "{:.2f}", best=False),
    }
    columns = {name: values for name, values in columns.items() if any(value.text != MISSING for value in values)}
    return Table(
        f"On the way: {summary.title(setting)}",
        tuple(columns),
        by_row(variants, list(columns.values())),
    )


def factor_table(summary: Summary, setting: Setting) -> Table | None:
    """Accuracy by what makes the test videos hard; None for data without such factors."""
    variants = [variant for variant in summary.variants if summary.of_setting(setting, variant)]
    factors = sorted({f for v in variants for e in summary.of_setting(setting, v) for f in e["variants"][v]["factors"]})
    if not factors:
        return None
    columns = []
    for factor in factors:
        means = [
            mean_of([e["variants"][variant]["factors"].get(factor) for e in summary.of_setting(setting, variant)])
            for variant in variants
        ]
        columns.append(ranked(means, "{:.3f}"))
    return Table(f"By factor: {summary.title(setting)}", tuple(factors), by_row(variants, columns))


def netscore_table(summary: Summary) -> Table | None:
    """On the low-shot setting, in the paper's convention and in that of Hayes and Kanan."""
    if not summary.on_axis("Low-Shot") or all(summary.netscore(variant) is None for variant in summary.variants):
        return None
    backbones: list[str | None] = [
        b for b in summary.backbones if any(summary.netscore(v, b) is not None for v in summary.variants)
    ]
    columns = []
    shown = [*backbones, None] if len(backbones) > 1 else backbones
    for backbone in shown:
        scores = [summary.netscore(variant, backbone) for variant in summary.variants]
        theirs = [published_netscore(variant, _paper_column(summary, backbone)) for variant in summary.variants]
        reprint = any(s.dataset == "openloris" for s in summary.on_axis("Low-Shot"))
        columns.append(
            [
                Value(value.text, value.rank, f"{number:.1f}" if reprint and number is not None else "")
                for value, number in zip(ranked(scores, "{:.1f}", 1), theirs, strict=True)
            ]
        )
    columns.append(ranked([summary.netscore(variant, None, "hayes") for variant in summary.variants], "{:.1f}", 1))
    return Table(
        "NetScore (Eq. 24) on the low-shot stream",
        (*("Mean" if b is None else BACKBONES.get(b, b) for b in shown), "Mean (Hayes)"),
        by_row(summary.variants, columns),
        "20 ln(a² / (p^¼ c^¼)), higher is better: a the accuracy, p the parameters with the backbone's, c the seconds "
        "of learning and asking once. The paper takes a as a fraction and p in millions; Hayes and Kanan take percent "
        "and a plain count, which adds 115.1. Seconds depend on the machine: compare within one report only.",
    )


def axes_table(summary: Summary) -> Table | None:
    """The raw values behind the spider plots, and the mean of the scaled ones."""
    raw = summary.raw_axes()
    if not raw:
        return None
    scaled = scaled_axes(raw)
    columns = [
        ranked([values.get(variant) for variant in summary.variants], "{:.1f}" if axis == "NetScore" else "{:.3f}")
        for axis, values in raw.items()
    ]
    means = [mean_of([values.get(variant) for values in scaled.values()]) for variant in summary.variants]
    return Table(
        "Overall",
        (*raw, "Mean, scaled"),
        by_row(summary.variants, [*columns, ranked(means, "{:.2f}", 2)]),
        "Raw values, averaged over backbones. For the last column and the plots each axis is scaled from 0 (the worst "
        "learner here) to 1 (the best), so it says how the learners stand to each other and nothing else.",
    )


def _mean(measured: object) -> float | None:
    return getattr(measured, "mean", None)


def ranked(values: Sequence[float | None], form: str, digits: int = 3) -> list[Value]:
    return [Value(shown(v, form), place) for v, place in zip(values, ranks(values, digits), strict=True)]


def shown(value: float | None, form: str) -> str:
    return MISSING if value is None else form.format(value)


def by_row(names: Sequence[str], columns: Sequence[Sequence[Value]]) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    return tuple((name, tuple(column[row] for column in columns)) for row, name in enumerate(names))

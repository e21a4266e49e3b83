"""Tables of accuracy while a stream goes on."""

from collections.abc import Sequence

from exll.bench.metrics import mean_of
from exll.bench.summary import Setting, Summary
from exll.bench.tables import Table, by_row, ranked

SHARES = tuple(tenth / 10 for tenth in range(1, 11))
WORDS = (
    "The columns say how much of the stream was learned. Accuracy is on the test rows of the classes seen so far. Test "
    "then train, where it was counted, is the share of each tenth of the stream that was answered correctly before it "
    "was learned. Means over seeds and backbones."
)
COLUMNS = tuple(f"{share:.0%}" for share in SHARES)


def curve_table(summary: Summary, title: str, settings: Sequence[Setting]) -> Table | None:
    """Accuracy on the classes seen so far, by how much of the stream was learned: the mean over these settings."""
    lines = {variant: summary.curve_by_share(settings, variant, SHARES) for variant in summary.variants}
    return _table(
        f"Accuracy on the classes seen so far: {title}",
        lines,
    )


def ahead_table(summary: Summary, title: str, settings: Sequence[Setting]) -> Table | None:
    """Test then train: the share right in each tenth of the stream, before it was learned."""
    lines: dict[str, list[float | None]] = {}
    for variant in summary.variants:
        curves = [curve for s in settings if (curve := summary.ahead_curve(s, variant)) is not None]
        whole = [values for _, values in curves if len(values) == len(SHARES)]
        lines[variant] = [mean_of(column) for column in zip(*whole, strict=True)] or [None] * len(SHARES)
    return _table(
        f"Test then train: {title}",
        lines,
    )


def _table(title: str, lines: dict[str, list[float | None]]) -> Table | None:
    known = {variant: line for variant, line in lines.items() if any(value is not None for value in line)}
    if not known:
        return None
    columns = [ranked(list(column), "{:.3f}") for column in zip(*known.values(), strict=True)]
    return Table(title, COLUMNS, by_row(list(known), columns))

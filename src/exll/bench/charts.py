"""The pictures of a report: bars, learning curves, spider plots. Shapes and words differ, not only colours."""

import io
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from exll.bench.metrics import mean_of
from exll.bench.summary import CHOSEN, Curve, Setting, Summary, scaled_axes
from exll.bench.tables import MISSING
from exll.errors import BenchError
from exll.installing import install_command

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    raise BenchError(f"a report of a benchmark needs matplotlib: {install_command('bench')}.") from error

# Okabe and Ito's colours, which the colour-blind can tell apart, then those farthest from all before (in CIELAB).
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#0000ff", "#00cc00"),
    *("#ff00dd", "#110077", "#ff0066", "#555500", "#660011", "#aa77ff", "#ccaa88", "#99bb33", "#442255"),
    *("#991188", "#556666", "#ff0022", "#ff8877", "#007700", "#9911dd", "#003311"),
)
MARKERS = "osD^vP*X<>hdp"
DASHES = ("-", "--", "-.", ":")
DPI = 130
MOST_PANELS = 12
INK, FAINT = "#222222", "#888888"

Panels = dict[str, dict[str, Curve]]  # title -> learner -> curve


def charts(summary: Summary) -> Iterator[tuple[str, str, bytes]]:
    """Name, description and PNG of every picture that there is data for."""
    yield "accuracy", "Accuracy at the end of each stream, averaged over seeds and backbones.", _png(_bars(summary))
    seen = _panels(summary, summary.curve)
    if seen:
        words = "Accuracy on the classes seen so far, while the stream goes on (mean over seeds and backbones)."
        yield "curves", words, curves_png(summary.variants, seen, "examples learned", "accuracy, seen classes")
    ahead = _panels(summary, summary.ahead_curve)
    if ahead:
        words = (
            "Test then train: the share right in each tenth of the stream, before it was learned (mean over seeds and "
            "backbones)."
        )
        yield "ahead", words, curves_png(summary.variants, ahead, "examples of the stream", "right before learning")
    raw = summary.raw_axes()
    if len(raw) >= 3:
        words = (
            "Each axis from 0, the worst learner here, to 1, the best; above each plot the mean over the axes. "
            "The raw values are in the table 'Overall'."
        )
        yield "spider", words, _png(_spiders(summary, scaled_axes(raw)))


def curves_png(variants: list[str], panels: Panels, where: str, what: str) -> bytes:
    """One panel per title; a learner has the same colour, marker and dashes everywhere."""
    return _png(_curves(variants, panels, where, what))


def style_of(number: int) -> dict[str, str]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number % len(DASHES)],
    }


def _panels(summary: Summary, curve_of: Callable[[Setting, str], Curve | None]) -> Panels:
    panels = {
        summary.title(setting): {v: curve for v in summary.variants if (curve := curve_of(setting, v)) is not None}
        for setting in summary.settings
    }
    return {title: curves for title, curves in panels.items() if curves}


def _bars(summary: Summary) -> Figure:
    """One panel per setting, or per data set where settings are many; learners in the same order everywhere, the best
    one marked."""
    groups = {summary.title(setting): [setting] for setting in summary.settings}
    if len(groups) > MOST_PANELS:
        groups = {f"{name}, mean of {len(settings)}": settings for name, settings in summary.by_dataset.items()}
    across = min(3, len(groups))
    down = math.ceil(len(groups) / across)
    figure, panels = _figure(down, across, 4.2, 0.6 + 0.3 * len(summary.variants))
    for panel, (title, settings) in zip(panels, groups.items(), strict=False):
        found = [summary.mean_accuracy(settings, variant) for variant in summary.variants]
        spread = [summary.accuracy(settings[0], v) if len(settings) == 1 else None for v in summary.variants]
        means = [0.0 if mean is None else mean for mean in found]
        stds = [0.0 if m is None or m.std is None else m.std for m in spread]
        best = max(means)
        places = np.arange(len(means))[::-1]
        colours = [COLOURS[0] if round(mean, 3) == round(best, 3) else "#a9bfd1" for mean in means]
        panel.barh(places, means, xerr=stds, color=colours, height=0.72, ecolor="#444444", error_kw={"lw": 0.9})
        for place, mean, std, measured in zip(places, means, stds, found, strict=True):
            text = MISSING if measured is None else f"{mean:.3f}"
            weight = "bold" if round(mean, 3) == round(best, 3) else "normal"
            panel.text(mean + std + 0.015, place, text, va="center", fontsize=8, color=INK, weight=weight)
        panel.set_yticks(places, summary.variants, fontsize=8)
        panel.set_xlim(0, 1.12)
        panel.set_title(title, fontsize=9.5, loc="left")
        _plain(panel)
    return figure


def _curves(variants: list[str], panels: Panels, where: str, what: str) -> Figure:
    across = min(2 if len(panels) <= MOST_PANELS else 3, len(panels))
    figure, places = _figure(math.ceil(len(panels) / across), across, 5.6, 3.4)
    handles: dict[str, Any] = {}
    for panel, (title, curves) in zip(places, panels.items(), strict=False):
        for number, variant in enumerate(variants):
            if variant not in curves:
                continue
            step = max(1, len(curves[variant][0]) // 8)
            style: dict[str, Any] = {"lw": 2.6, "zorder": 3} if variant == CHOSEN else {"lw": 1.2}
            (handles[variant],) = panel.plot(
                *curves[variant], ms=4.5, markevery=(number % step, step), label=variant, **style, **style_of(number)
            )
        panel.set_title(title, fontsize=9.5, loc="left")
        panel.set_xlabel(where, fontsize=8)
        panel.set_ylabel(what, fontsize=8)
        panel.set_ylim(0, 1.02)
        _plain(panel, axis="y")
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(6, len(handles)),
        fontsize=8,
        frameon=False,
    )
    return figure


def _spiders(summary: Summary, scaled: dict[str, dict[str, float]]) -> Figure:
    means = {variant: mean_of([values.get(variant) for values in scaled.values()]) for variant in summary.variants}
    variants = sorted(
        (variant for variant in summary.variants if means[variant] is not None), key=lambda v: -(means[v] or 0)
    )
    across = min(4, len(variants))
    figure, panels = _figure(math.ceil(len(variants) / across), across, 3.3, 2.9, polar=True)
    figure.get_layout_engine().set(h_pad=0.16, w_pad=0.08)  # type: ignore[union-attr, call-arg]
    angles = np.linspace(0, 2 * np.pi, len(scaled), endpoint=False)
    for panel, variant in zip(panels, variants, strict=False):
        values = np.array([axis.get(variant, np.nan) for axis in scaled.values()])
        shown = np.nan_to_num(values)
        panel.fill(angles, shown, color=COLOURS[0], alpha=0.22)
        panel.plot(
            [*angles, angles[0]], [*shown, shown[0]], color=COLOURS[0], lw=1.6, marker="o", ms=3.5, clip_on=False
        )
        panel.set_theta_offset(np.pi / 2)
        panel.set_theta_direction(-1)
        panel.set_xticks(angles, list(scaled), fontsize=8, color=INK)
        for angle, name in zip(angles, panel.get_xticklabels(), strict=True):  # away from the circle
            sideways = math.sin(angle)
            name.set_horizontalalignment("center" if abs(sideways) < 0.1 else "left" if sideways > 0 else "right")
        panel.tick_params(axis="x", pad=1)
        panel.set_yticks([0.25, 0.5, 0.75, 1.0], [])
        panel.set_ylim(0, 1)
        panel.set_clip_on(False)
        panel.grid(color="#cccccc", lw=0.6)
        panel.spines["polar"].set_color("#cccccc")
        panel.set_title(f"{variant}  {means[variant]:.2f}", fontsize=10, fontweight="bold", pad=10)
    return figure


def _figure(down: int, across: int, wide: float, high: float, polar: bool = False) -> tuple[Figure, list[Any]]:
    """A figure of panels; those that stay empty are taken out by the zip of the caller and hidden here."""
    figure = Figure(figsize=(wide * across, high * down), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    grid = figure.subplots(down, across, squeeze=False, subplot_kw={"projection": "polar"} if polar else {})
    return figure, list(grid.ravel())


def _plain(panel: Any, axis: str = "x") -> None:
    panel.grid(axis=axis, color="#dddddd", lw=0.6)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        panel.spines[side].set_color(FAINT)
    panel.tick_params(labelsize=8, colors=INK)


def _png(figure: Figure) -> bytes:
    for panel in figure.axes:
        if not panel.has_data():
            panel.set_visible(False)
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DPI, metadata={"Software": None})
    return target.getvalue()

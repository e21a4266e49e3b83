"""The pictures of a report: bars, learning curves, spider plots. Told apart by shape and words, not by colour alone."""

import io
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from exll.bench.metrics import mean_of
from exll.bench.summary import Setting, Summary, scaled_axes
from exll.bench.tables import MISSING
from exll.errors import BenchError
from exll.installing import install_command

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    raise BenchError(f"a report of a benchmark needs matplotlib: {install_command('bench')}.") from error

# Okabe and Ito's colours, which the colour-blind can tell apart, then some for the rest.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#6b5b95",
    "#000000",
    "#8c564b",
    "#7f7f7f",
    "#b03a2e",
    "#1b7a6e",
)
MARKERS = "osD^vP*X<>hd"
DASHES = ("-", "--", "-.", ":")
DPI = 130
INK, FAINT = "#222222", "#888888"


def charts(summary: Summary) -> Iterator[tuple[str, str, bytes]]:
    """Name, description and PNG of every picture there are data for."""
    yield "accuracy", "Accuracy at the end of each stream, averaged over seeds and backbones.", _png(_bars(summary))
    curved = [s for s in summary.settings if any(summary.curve(s, variant) for variant in summary.variants)]
    if curved:
        words = "Accuracy on the classes seen so far, while the stream goes on (mean over seeds and backbones)."
        yield "curves", words, _png(_curves(summary, curved))
    raw = summary.raw_axes()
    if len(raw) >= 3:
        words = (
            "Each axis from 0, the worst learner here, to 1, the best; above each plot the mean over the axes. "
            "The raw values are in the table 'Overall'."
        )
        yield "spider", words, _png(_spiders(summary, scaled_axes(raw)))


def _bars(summary: Summary) -> Figure:
    """One panel per setting; learners in the same order everywhere, the best one marked."""
    across = min(3, len(summary.settings))
    down = math.ceil(len(summary.settings) / across)
    figure, panels = _figure(down, across, 4.2, 0.6 + 0.3 * len(summary.variants))
    for panel, setting in zip(panels, summary.settings, strict=False):
        found = [summary.accuracy(setting, variant) for variant in summary.variants]
        means = [0.0 if m is None else m.mean for m in found]
        stds = [0.0 if m is None or m.std is None else m.std for m in found]
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
        panel.set_title(summary.title(setting), fontsize=9.5, loc="left")
        _plain(panel)
    return figure


def _curves(summary: Summary, settings: list[Setting]) -> Figure:
    across = min(2, len(settings))
    figure, panels = _figure(math.ceil(len(settings) / across), across, 5.6, 3.4)
    handles: dict[str, Any] = {}
    for panel, setting in zip(panels, settings, strict=False):
        for number, variant in enumerate(summary.variants):
            curve = summary.curve(setting, variant)
            if curve is None:
                continue
            style = {
                "color": COLOURS[number % len(COLOURS)],
                "marker": MARKERS[number % len(MARKERS)],
                "linestyle": DASHES[number % len(DASHES)],
            }
            step = max(1, len(curve[0]) // 8)
            (handles[variant],) = panel.plot(
                *curve, lw=1.4, ms=4.5, markevery=(number % step, step), label=variant, **style
            )
        panel.set_title(summary.title(setting), fontsize=9.5, loc="left")
        panel.set_xlabel("examples learned", fontsize=8)
        panel.set_ylabel("accuracy, seen classes", fontsize=8)
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

"""The map of a model as a picture: circles and edges on the left, the Voronoi regions on the right.

Only matplotlib's objects, no pyplot and no setting of it: a caller's own figures are left alone.
"""

import functools
import io

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from exll.explain.topology import PlacedLabel, Topology, colours, place_labels, voronoi_of
from exll.explain.wording import counted, readable

PAPER, INK, FAINT = "#FFFFFF", "#202020", "#606060"
WIDTH, HEIGHT, PANEL, SIDE, BOTTOM = 15.0, 8.35, 7.2, 0.2, 0.5  # inches
POINTS = 72
DOTS_PER_INCH = 150
LONGEST_LABEL, LONGEST_TITLE = 24, 90
OTHERS = 0.75
FONT_SIZES = ((30, 10.0), (120, 7.5), (float("inf"), 5.5))  # by the number of classes
# matplotlib brings DejaVu Sans; whichever of the rest is installed lends the letters that it lacks.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC")
NO_LETTER = "\N{WHITE SQUARE}"


def draw(topology: Topology, title: str) -> Figure:
    """The picture as a figure; names of classes that do not fit are left out and counted under each panel."""
    figure = Figure((WIDTH, HEIGHT), DOTS_PER_INCH, facecolor=PAPER)
    FigureCanvasAgg(figure)
    _write(figure, WIDTH / 2, HEIGHT - 0.3, _drawable(readable(title, LONGEST_TITLE)), 13, INK)
    _write(figure, WIDTH / 2, HEIGHT - 0.55, topology.summary(), 9, FAINT)
    shades = colours(len(topology.labels))
    font_size = next(size for most, size in FONT_SIZES if len(topology.labels) <= most)
    texts = [_drawable(readable(label, LONGEST_LABEL)) for label in topology.labels]
    sizes = np.array([_size(text, font_size) for text in texts])
    panels = (
        ("A circle is a prototype, its area the examples in it; lines join neighbours of a class", topology.radii),
        ("The regions nearest each prototype; strong lines where the class changes", None),
    )
    for left, (caption, radii) in zip((SIDE, WIDTH - SIDE - PANEL), panels, strict=True):
        axes = _panel(figure, left)
        if radii is None:
            _draw_regions(axes, topology, shades)
        else:
            _draw_circles(axes, topology, shades)
        placed = place_labels(topology, sizes, radii, OTHERS)
        _draw_labels(axes, placed, topology, texts, font_size)
        left_out = len(texts) - sum(label.main for label in placed)
        no_room = f"; no room for {left_out:,} of {counted(len(texts), 'name')}" if left_out else ""
        _write(figure, left + PANEL / 2, BOTTOM / 2, f"{caption}{no_room}.", 9, FAINT)
    return figure


def encoded(figure: Figure, format: str) -> bytes:
    """The figure as "png" or "svg": the same bytes for the same figure, whenever it is written."""
    file = io.BytesIO()
    metadata = {"Date": None} if format == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "exll", "svg.fonttype": "path"}):
        figure.savefig(file, format=format, metadata=metadata)
    return file.getvalue()


def _panel(figure: Figure, left: float) -> Axes:
    axes = figure.add_axes((left / WIDTH, BOTTOM / HEIGHT, PANEL / WIDTH, PANEL / HEIGHT))
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], facecolor=PAPER)
    for spine in axes.spines.values():
        spine.set_color("#B0B0B0")
    return axes


def _draw_circles(axes: Axes, topology: Topology, shades: list[str]) -> None:
    if topology.edges:
        axes.add_collection(_lines(topology, shades), autolim=False)
    order = topology.largest_first
    across = 2 * topology.radii[order]
    circles = EllipseCollection(
        across,
        across,
        np.zeros(len(order)),
        units="x",
        offsets=topology.positions[order],
        offset_transform=axes.transData,
        facecolors=[f"{shades[topology.class_of[j]]}D0" for j in order],
        edgecolors=PAPER,
        linewidths=0.6,
    )
    axes.add_collection(circles, autolim=False)


def _lines(topology: Topology, shades: list[str]) -> LineCollection:
    counts = np.array([count for _, _, count in topology.edges])
    strengths = np.sqrt(counts / counts.max())
    return LineCollection(
        [topology.positions[[one, other]] for one, other, _ in topology.edges],
        colors=[shades[topology.class_of[one]] for one, _, _ in topology.edges],
        linewidths=0.5 + 2.5 * strengths,
        alpha=0.25 + 0.5 * strengths,
    )


def _draw_regions(axes: Axes, topology: Topology, shades: list[str]) -> None:
    voronoi = voronoi_of(topology)
    fills = [f"{shades[topology.class_of[j]]}90" for j in voronoi.cells]
    cells = PolyCollection(list(voronoi.cells.values()), facecolors=fills, edgecolors="#FFFFFFA0", linewidths=0.4)
    axes.add_collection(cells, autolim=False)
    width = 0.9 if len(voronoi.cells) <= 1000 else 0.4
    axes.add_collection(LineCollection(voronoi.borders, colors=INK, linewidths=width, capstyle="round"), autolim=False)
    axes.plot(*topology.positions.T, ".", color=INK, markersize=2 * width, alpha=0.6)


def _draw_labels(axes: Axes, placed: list[PlacedLabel], topology: Topology, texts: list[str], font_size: float) -> None:
    # a box and not a halo around the letters, which would make an .svg ten times as large
    box = {"boxstyle": "round,pad=0.1", "facecolor": f"{PAPER}A0", "linewidth": 0}
    for label in placed:
        axes.text(
            *label.centre,
            texts[topology.class_of[label.prototype]],
            color=INK,
            ha="center",
            va="center_baseline",
            fontproperties=_font(font_size if label.main else OTHERS * font_size),
            parse_math=False,
            bbox=box,
        )


def _write(figure: Figure, x: float, y: float, text: str, size: float, colour: str) -> None:
    figure.text(
        x / WIDTH,
        y / HEIGHT,
        text,
        color=colour,
        ha="center",
        va="center",
        fontproperties=_font(size),
        parse_math=False,
    )


@functools.cache
def _families() -> tuple[str, ...]:
    installed = []
    for family in FONTS:
        try:
            findfont(family, fallback_to_default=False)
        except ValueError:
            continue
        installed.append(family)
    return tuple(installed)


def _font(size: float) -> FontProperties:
    return FontProperties(family=list(_families()), size=size)


def _drawable(text: str) -> str:
    """A square for every letter that no font here has."""
    fonts = [get_font(findfont(family)) for family in _families()]
    return "".join(c if any(font.get_char_index(ord(c)) for font in fonts) else NO_LETTER for c in text)


def _size(text: str, font_size: float) -> tuple[float, float]:
    """Width and height of a label with its halo, as shares of a panel."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, _font(font_size), False)
    return (width + 3) / (POINTS * PANEL), (1.15 * font_size + 1) / (POINTS * PANEL)

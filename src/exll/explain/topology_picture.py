"""The map of a model as a PNG: circles and edges on the left, the regions nearest each prototype on the right.

Only matplotlib's objects, no pyplot and no setting of it: a caller's own figures are left alone.
"""

import functools
import io
import textwrap

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from exll.explain.drawing import SIDE, Panel, circles_of, regions_of
from exll.explain.topology import Topology
from exll.explain.wording import readable

PAPER, INK, FAINT = "#FFFFFF", "#202020", "#606060"
WIDTH, HEIGHT, PANEL, MARGIN, BOTTOM = 15.0, 8.45, 7.2, 0.2, 0.6  # inches
POINTS = 72 * PANEL / SIDE  # of a unit of the drawing
LETTERS = 0.8  # DejaVu Sans is wider than what pages are shown in
DOTS_PER_INCH = 150
LONGEST_TITLE, LONGEST_LINE = 90, 110
# matplotlib brings DejaVu Sans; whichever of the rest is installed lends the letters that it lacks.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC")
BEHIND = {"boxstyle": "round,pad=0.1", "facecolor": f"{PAPER}A0", "linewidth": 0}  # a text on a drawing
NO_LETTER = "\N{WHITE SQUARE}"


def png(topology: Topology, title: str) -> bytes:
    """The picture; the same bytes for the same topology, whenever it is drawn."""
    file = io.BytesIO()
    draw(topology, title).savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def draw(topology: Topology, title: str) -> Figure:
    figure = Figure((WIDTH, HEIGHT), DOTS_PER_INCH, facecolor=PAPER)
    FigureCanvasAgg(figure)
    _write(figure, WIDTH / 2, HEIGHT - 0.3, _drawable(readable(title, LONGEST_TITLE)), 13, INK)
    _write(figure, WIDTH / 2, HEIGHT - 0.55, topology.summary(), 9, FAINT)
    for left, panel in ((MARGIN, circles_of(topology)), (WIDTH - MARGIN - PANEL, regions_of(topology))):
        axes = _axes(figure, left)
        if panel.lines:
            _draw_lines(axes, panel)
        if panel.circles:
            _draw_circles(axes, panel)
        if panel.cells:
            _draw_regions(axes, panel)
        _draw_names(axes, panel)
        if panel.remark:
            font = _font(LETTERS * POINTS * 22)
            axes.text(SIDE / 2, 24, panel.remark, color=INK, ha="center", va="center", fontproperties=font, bbox=BEHIND)
        _write(figure, left + PANEL / 2, BOTTOM / 2, textwrap.fill(panel.caption, LONGEST_LINE), 9, FAINT)
    return figure


def _axes(figure: Figure, left: float) -> Axes:
    axes = figure.add_axes((left / WIDTH, BOTTOM / HEIGHT, PANEL / WIDTH, PANEL / HEIGHT))
    axes.set(xlim=(0, SIDE), ylim=(SIDE, 0), xticks=[], yticks=[], facecolor=PAPER)
    for spine in axes.spines.values():
        spine.set_color("#B0B0B0")
    return axes


def _draw_lines(axes: Axes, panel: Panel) -> None:
    lines = LineCollection(
        [[line.start, line.end] for line in panel.lines],
        colors=[panel.classes[line.k].colour for line in panel.lines],
        linewidths=[0.5 + 2.5 * line.strength for line in panel.lines],
        alpha=[0.25 + 0.5 * line.strength for line in panel.lines],
    )
    axes.add_collection(lines, autolim=False)


def _draw_circles(axes: Axes, panel: Panel) -> None:
    across = [2 * circle.radius for circle in panel.circles]
    circles = EllipseCollection(
        across,
        across,
        [0.0] * len(across),
        units="x",
        offsets=[(circle.x, circle.y) for circle in panel.circles],
        offset_transform=axes.transData,
        facecolors=[f"{panel.classes[circle.k].colour}D0" for circle in panel.circles],
        edgecolors=PAPER,
        linewidths=0.6,
    )
    axes.add_collection(circles, autolim=False)


def _draw_regions(axes: Axes, panel: Panel) -> None:
    fills = [f"{panel.classes[cell.k].colour}90" for cell in panel.cells]
    cells = PolyCollection(
        [cell.corners for cell in panel.cells], facecolors=fills, edgecolors="#FFFFFFA0", linewidths=0.4
    )
    axes.add_collection(cells, autolim=False)
    width = 0.9 if len(panel.cells) <= 1000 else 0.4
    axes.add_collection(LineCollection(panel.borders, colors=INK, linewidths=width, capstyle="round"), autolim=False)


def _draw_names(axes: Axes, panel: Panel) -> None:
    for name in panel.names:
        if name.fits:
            axes.text(
                name.x,
                name.y,
                _drawable(panel.classes[name.k].name),
                color=INK,
                ha="center",
                va="center_baseline",
                fontproperties=_font(LETTERS * POINTS * name.height),
                parse_math=False,
                bbox=BEHIND,
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

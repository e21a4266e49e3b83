"""The map of a model as a page with a search and a list, and as an SVG file."""

from exll.explain.drawing import SIDE, circles_of, drawn_classes, regions_of
from exll.explain.page import render
from exll.explain.topology import Topology


def page(topology: Topology, title: str) -> str:
    """The whole file as text; the same for the same topology."""
    classes = sorted(enumerate(drawn_classes(topology)), key=lambda item: (-item[1].examples, item[0]))
    return render("topology.html", listed=classes, **_drawn(topology, title))


def svg(topology: Topology, title: str) -> str:
    """Both drawings side by side, as a file of their own."""
    return render("topology.svg", **_drawn(topology, title))


def circles_svg(topology: Topology, letters: float | None = None) -> str:
    """The circles alone, for a page that has its own style and script."""
    return render("map_circles.html", circles=circles_of(topology, letters), label=topology.summary(), side=SIDE)


def _drawn(topology: Topology, title: str) -> dict[str, object]:
    return {
        "title": title,
        "summary": topology.summary(),
        "circles": circles_of(topology),
        "regions": regions_of(topology),
        "label": "Prototypes as circles",
        "side": SIDE,
    }

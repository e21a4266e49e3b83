"""The map of a model as a page with a search and a list, and as an SVG file."""

from collections.abc import Callable, Mapping, Sequence

from exll.explain.drawing import CROWDED, SIDE, circles_of, drawn_classes, heading, regions_of
from exll.explain.page import render
from exll.explain.thumbnails import Thumbnail, Thumbnails
from exll.explain.topology import Topology
from exll.learner.exll import ExLL

PICTURES, MOST_PICTURES = 3, 1200  # of one prototype, and about as many on one page
PICTURE_SIDE = 96

Pictures = Mapping[int, Sequence[Thumbnail]]  # by the row of the prototype


def page(topology: Topology, title: str, pictures: Pictures | None = None) -> str:
    """The whole file as text; the same for the same topology and pictures, which show where one points."""
    classes = sorted(enumerate(drawn_classes(topology)), key=lambda item: (-item[1].examples, item[0]))
    found = pictures or {}
    first: dict[int, Thumbnail] = {}
    for j in topology.largest_first:
        if found.get(j):
            first.setdefault(int(topology.class_of[j]), found[j][0])
    return render(
        "topology.html",
        listed=[(k, own, first.get(k)) for k, own in classes],
        pictures=[(j, heading(topology, j), shown) for j, shown in found.items() if shown],
        crowded=len(classes) > CROWDED,
        **_drawn(topology, title),
    )


def pictures_of(
    learner: ExLL, topology: Topology, thumbnails: Thumbnails, step: Callable[[], None] = lambda: None
) -> Pictures:
    """Pictures of the examples nearest each centre, of the largest prototypes where there are very many; ``step`` is
    called after each prototype."""
    centres, ids, _ = learner.centres
    each = max(1, min(PICTURES, MOST_PICTURES // len(ids)))
    found = {}
    for j in topology.largest_first[:MOST_PICTURES]:
        nearest = learner.closest_records(int(ids[j]), centres[j], int(topology.supports[j]))
        shown = thumbnails.some([record.name for record, _ in nearest], each)
        found[j] = [thumbnail for thumbnail in shown if thumbnail.uri is not None]
        step()
    return found


def svg(topology: Topology, title: str) -> str:
    """Both drawings side by side, as a file of their own."""
    return render("topology.svg", **_drawn(topology, title))


def _drawn(topology: Topology, title: str) -> dict[str, object]:
    return {
        "title": title,
        "summary": topology.summary(),
        "circles": circles_of(topology),
        "regions": regions_of(topology),
        "label": "Prototypes as circles",
        "side": SIDE,
    }

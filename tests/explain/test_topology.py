import io
import re
import threading
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from exll import ExLLClassifier
from exll.errors import InputError
from exll.explain.drawing import circles_of, description, heading, regions_of
from exll.explain.thumbnails import Thumbnails
from exll.explain.topology import MethodName, Topology, colours, place_labels, topology_of, voronoi_of
from exll.explain.topology_page import page, pictures_of, svg
from exll.explain.topology_picture import draw, png
from exll.explain.wording import readable
from exll.types import Label, Matrix
from explain.markup import HOSTILE, assert_only_text_differs
from support import both_presets, random_stream, untaught

METHODS: tuple[MethodName, ...] = ("auto", "tsne", "pca")


def model(preset: str = "paper") -> ExLLClassifier:
    stream = random_stream(9, samples=200, classes=4, width=8)
    refs = [f"{i}.jpg" for i in range(200)]
    return ExLLClassifier(preset).fit(stream.X, [f"c{k}" for k in stream.y], refs=refs)


@pytest.fixture(scope="module")
def topology() -> Topology:
    return topology_of(model().learner_)


def made_up(prototypes: int, labels: tuple[Label, ...], seed: int = 0) -> Topology:
    rng = np.random.default_rng(seed)
    class_of = np.arange(prototypes) % len(labels)
    edges = [(j, j + len(labels), 1 + j % 7) for j in range(prototypes - len(labels))]
    positions = np.round(rng.uniform(0.06, 0.94, (prototypes, 2)), 6)
    supports = rng.integers(1, 50, prototypes)
    return Topology(
        positions, np.arange(prototypes), supports, class_of, labels, edges, [("a.jpg",)] * prototypes, "tsne"
    )


@both_presets
def test_a_map_holds_every_prototype_with_its_class_support_names_and_edges(preset: str) -> None:
    learner = model(preset).learner_
    topology = topology_of(learner)
    ids = topology.ids.tolist()
    assert topology.positions.shape == (learner.prototype_count, 2)
    assert topology.positions.min() >= 0
    assert topology.positions.max() <= 1
    assert dict(zip(ids, topology.supports.tolist(), strict=True)) == learner.supports
    for k, label in enumerate(topology.labels):
        megacloud = learner.megacloud(k)
        assert label == learner.labels[k]
        assert np.sort(topology.ids[topology.class_of == k]).tolist() == megacloud.prototypes.tolist()
        own = [(ids[one], ids[other], n) for one, other, n in topology.edges if topology.class_of[one] == k]
        assert {(min(one, other), max(one, other)): n for one, other, n in own} == megacloud.edges
    for j, names in zip(ids, topology.names, strict=True):
        assert names == tuple(record.name for record in learner.records(j)[:5])


def test_near_prototypes_lie_near_each_other() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(12)[:3], 20, axis=0) + 0.05 * rng.normal(size=(60, 12))
    learner = ExLLClassifier("paper").fit(groups, [f"{i}" for i in range(60)]).learner_
    for method in METHODS:
        positions = topology_of(learner, method).positions
        apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        assert (apart.argmin(axis=1) // 20).tolist() == (np.arange(60) // 20).tolist()


def test_the_same_learner_and_seed_give_the_same_map_and_bytes(topology: Topology) -> None:
    again = topology_of(model().learner_)
    np.testing.assert_array_equal(topology.positions, again.positions)
    assert page(topology, "m") == page(again, "m")
    assert svg(topology, "m") == svg(again, "m")
    assert png(topology, "m") == png(again, "m")


def test_few_prototypes_are_laid_out_by_pca_and_many_by_tsne(topology: Topology) -> None:
    assert len(topology.supports) >= 12
    assert topology.method == "tsne"
    assert topology_of(model().learner_, "pca").method == "pca"
    few = ExLLClassifier("paper").fit(np.eye(6), list("abcdef")).learner_
    assert topology_of(few).method == "pca"
    assert topology_of(few, "tsne").method == "tsne"
    with pytest.raises(InputError, match="Got 'umap' instead"):
        topology_of(few, "umap")  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 5])
def test_the_smallest_models_can_be_drawn(count: int, width: int) -> None:
    X = np.random.default_rng(0).normal(size=(count, width))
    for method in METHODS:
        small = topology_of(ExLLClassifier("paper").fit(X, list(range(count))).learner_, method)
        assert np.isfinite(small.positions).all()
        assert sum(_area(cell) for cell in voronoi_of(small).cells.values()) == pytest.approx(1)
    assert png(small, "small").startswith(b"\x89PNG")
    assert page(small, "small").count("data-i=") >= count


def test_prototypes_in_one_place_share_it() -> None:
    same = topology_of(ExLLClassifier("paper").fit(np.ones((20, 3)), list(range(20))).learner_)
    assert (same.positions == 0.5).all()
    assert list(voronoi_of(same).cells) == [0]
    assert page(same, "same").count('role="img"') == 20


def test_a_learner_that_knows_nothing_has_no_map() -> None:
    with pytest.raises(InputError, match="learned nothing yet"):
        topology_of(untaught(3, "paper"))


def test_the_learner_is_free_while_its_map_is_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = model().learner_
    free = []

    def ask() -> None:
        with learner.lock:
            free.append(True)

    def flat(centres: Matrix, method: str, seed: int) -> Matrix:
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(20)
        return centres[:, :2]

    monkeypatch.setattr("exll.explain.topology._flat", flat)
    topology_of(learner)
    assert free == [True]


def test_areas_of_circles_stand_to_each_other_as_supports_do(topology: Topology) -> None:
    radii = replace(topology, supports=np.array([400, 100, 1])).radii
    assert radii[0] == pytest.approx(2 * radii[1])
    lone = replace(topology, supports=np.array([10**9, 1])).radii
    assert 0.004 < lone[1] < lone[0] < 0.06  # a floor that can be seen, and a top


def test_regions_tile_the_frame_and_hold_what_is_nearest(topology: Topology) -> None:
    cells = voronoi_of(topology).cells
    assert sum(_area(cell) for cell in cells.values()) == pytest.approx(1)
    for j, cell in cells.items():
        inside = cell.mean(axis=0)
        assert np.linalg.norm(topology.positions - inside, axis=1).argmin() == j


def test_borders_part_classes_and_nothing_else(topology: Topology) -> None:
    borders = voronoi_of(topology).borders
    assert borders
    for border in borders:
        apart = np.linalg.norm(topology.positions - border.mean(axis=0), axis=1)
        one, other = np.argsort(apart)[:2]
        assert apart[one] == pytest.approx(apart[other])
        assert topology.class_of[one] != topology.class_of[other]
    assert voronoi_of(replace(topology, class_of=np.zeros_like(topology.class_of))).borders == []


@pytest.mark.parametrize("classes", [10, 400])
@pytest.mark.parametrize("inside", [True, False])
def test_labels_overlap_no_other_and_stay_in_the_frame(classes: int, inside: bool) -> None:
    crowded = made_up(3 * classes, tuple(range(classes)))
    sizes = np.tile([0.08, 0.02], (classes, 1))
    placed = place_labels(crowded, sizes, None if inside else crowded.radii, 0.5)
    for label in placed:
        for c, s in zip(label.centre, label.size, strict=True):
            assert s / 2 <= c <= 1 - s / 2
    for one, other in combinations(placed, 2):
        boxes = (one.centre, other.centre, one.size, other.size)
        gaps = [abs(a - b) - (s + t) / 2 for a, b, s, t in zip(*boxes, strict=True)]
        assert max(gaps) >= -1e-12
    main = [label for label in placed if label.main]
    assert len({crowded.class_of[label.prototype] for label in main}) == len(main)
    for label in main:
        own = crowded.class_of == crowded.class_of[label.prototype]
        assert crowded.supports[label.prototype] == crowded.supports[own].max()
    if classes == 400:
        assert 50 < len(placed) == len(main) < 400  # some were left out, so only the largest are labelled
    else:
        assert len(main) == 10 < len(placed)


def test_labels_left_out_are_counted_and_none_are_lost_on_the_page() -> None:
    crowded = made_up(400, tuple(f"class number {k}" for k in range(400)))
    content = page(crowded, "crowded")
    counts = [int(found) for found in re.findall(r"no room for (\d+) of 400 names", content)]
    assert len(counts) == 2
    assert content.count('class="off"') == sum(counts)
    assert sum("of 400 names" in text for text in _written(crowded)) == 2


def test_page_and_svg_show_the_same_circles(topology: Topology) -> None:
    circles = re.findall(r"<circle data-k.*?</circle>", page(topology, "m"))
    assert len(circles) == len(topology.supports)
    assert re.findall(r"<circle data-k.*?</circle>", svg(topology, "m")) == circles


def test_a_drawing_places_every_prototype_and_edge_where_the_map_has_it(topology: Topology) -> None:
    panel = circles_of(topology)
    for circle in panel.circles:
        np.testing.assert_allclose((circle.x / 1000, 1 - circle.y / 1000), topology.positions[circle.row])
        assert circle.radius == pytest.approx(1000 * topology.radii[circle.row])
        assert panel.classes[circle.k].label == topology.labels[topology.class_of[circle.row]]
    assert len(panel.lines) == len(topology.edges)
    assert max(line.strength for line in panel.lines) == 1


def test_every_drawing_of_regions_says_that_they_are_not_decision_regions(topology: Topology) -> None:
    sentence = "These are not decision regions"
    assert sentence in regions_of(topology).caption
    assert sentence in page(topology, "m")
    assert sentence in " ".join(re.sub("<.*?>", " ", svg(topology, "m")).split())
    assert any(sentence in text for text in _written(topology))


def test_the_page_shows_pictures_of_the_groups_pointed_at_and_of_every_class(topology: Topology) -> None:
    learner = model().learner_
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "WEBP")
    shown = Thumbnails([], kept={f"{i}.jpg": file.getvalue() for i in range(100)}, kept_first=True)
    content = page(topology, "m", pictures_of(learner, topology, shown))
    assert content.count("data-of=") > len(topology.supports) / 3
    assert f'data-heading="{heading(topology, topology.largest_first[0])}"' in content
    assert re.findall(r"<button.*?</button>", content, re.DOTALL)[0].count("<img") == 1
    assert "data-of=" not in page(topology, "m")


def test_colours_are_safe_for_few_and_distinct_for_many() -> None:
    assert colours(3) == ["#0072B2", "#E69F00", "#009E73"]
    many = colours(400)
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in many)
    assert len(set(many)) > 390
    assert all(one != other for one, other in pairwise(many))


def test_text_becomes_one_harmless_line() -> None:
    assert readable("a\n\tb\x00c", 20) == "a b c"
    assert readable("\u202eevil", 20) == "evil"
    assert readable("\ud800x", 20) == "\N{REPLACEMENT CHARACTER}x"
    assert readable("x" * 50, 20) == "x" * 19 + "…"
    assert readable(" ", 20) == "(no name)"


def test_a_circle_says_in_words_what_it_is() -> None:
    one = replace(made_up(1, ("mug",)), supports=np.array([12]), names=[("photos/mug/a.jpg", "c:\\b.jpg")])
    assert description(one, 0) == "mug, prototype 0, 12 examples: a.jpg, b.jpg and 10 more"
    assert description(replace(one, names=[()], supports=np.array([1])), 0) == "mug, prototype 0, 1 example"
    assert f"<title>{description(one, 0)}</title>" in page(one, "m")


def test_hostile_labels_and_names_stay_text_on_the_page() -> None:
    hostile = replace(made_up(18, HOSTILE), names=[HOSTILE[:5]] * 18)
    content = page(hostile, HOSTILE[0])
    assert_only_text_differs(content, page(made_up(18, tuple("abcdefghi")), "tame"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in content
    assert "&amp;amp;" in content


def test_hostile_labels_can_be_drawn_without_a_warning() -> None:
    hostile = made_up(18, HOSTILE)
    assert png(hostile, HOSTILE[3])
    ElementTree.fromstring(svg(hostile, HOSTILE[0]))


def test_the_page_asks_nothing_of_any_network(topology: Topology) -> None:
    content = page(topology, "m")
    assert "http" not in content.replace("http-equiv", "")
    for reference in ("src=", "href=", "url(", "@import", "fetch(", "//cdn"):
        assert reference not in content
    assert "default-src 'none'" in content
    assert "unsafe-inline" not in content


def test_drawing_leaves_matplotlibs_settings_alone(topology: Topology) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    png(topology, "m")
    assert dict(matplotlib.rcParams) == before


def _written(topology: Topology) -> list[str]:
    return [" ".join(text.get_text().split()) for text in draw(topology, "m").texts]


def _area(corners: Matrix) -> float:
    x, y = corners.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)

"""What stands in the pages: the explanation's own numbers, pictures where there are files, words where not."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from jinja2 import UndefinedError
from PIL import Image

from exll import ExLLClassifier, ImageLearner
from exll.explain import score_parts
from exll.explain.case import Case
from exll.explain.explanation_page import page as explanation_page
from exll.explain.page import environment
from exll.explain.rules_page import CLASSES_OPEN, PICTURES, RULES_FOLDED, RULES_OPEN, SINGLE_PICTURED
from exll.explain.rules_page import page as rules_page
from exll.explain.thumbnails import SIDE, Thumbnail, Thumbnails, folders_of
from exll.explain.wording import confidence, counted
from exll.types import Level, RecordsKind
from explain.markup import HOSTILE, assert_only_text_differs
from networks import write_network
from pictures import picture, write_class_folder
from support import random_stream

STREAM = random_stream(14, width=10, classes=5, samples=300)


class _Tables(HTMLParser):
    """Rows of cells of every table, as text."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


def words(content: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", content, flags=re.S))).split())


def html_of(thumbnail: Thumbnail) -> str:
    return str(environment().get_template("parts.html").module.thumbnail(thumbnail))  # type: ignore[attr-defined]


def taught(records: RecordsKind = "vectors", samples: int = 300) -> ExLLClassifier:
    labels = [f"c{k}" for k in STREAM.y[:samples]]
    model = ExLLClassifier("paper", records=records)
    return model.fit(STREAM.X[:samples], labels, refs=[f"{i}.jpg" for i in range(samples)])


def case_of(model: ExLLClassifier, x: np.ndarray) -> Case:
    return Case("a vector", model.explain(x))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_class_folder(tmp_path_factory.mktemp("taught"), classes=3, each=12)


@pytest.fixture(scope="module")
def learner(folder: Path) -> ImageLearner:
    learner = ImageLearner(backbone="nano", preset="paper")
    for i in np.random.default_rng(1).permutation(36):
        ref = f"kind {i % 3}/{i // 3:03d}.png"
        learner.learn(folder / ref, f"kind {i % 3}", ref=ref)
    return learner


@pytest.mark.parametrize("query", range(0, 60, 7))
@pytest.mark.parametrize("bars", [3, 10])
def test_the_bars_of_the_page_add_up_to_its_scores(query: int, bars: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_parts, "BARS", bars)
    model = taught()
    case = case_of(model, STREAM.queries[query])
    rows = [row for row in _Tables(explanation_page(case, Thumbnails())).rows if len(row) == 3 and row[1] == ""]
    sums = [place for place, row in enumerate(rows) if row[0] == "Global score"]
    assert len(sums) == 2
    charts = rows[: sums[0] + 1], rows[sums[0] + 1 :]
    for chart, parts in zip(charts, (case.explanation.contributions, case.explanation.against), strict=True):
        values = [float(value) for name, _, value in chart[:-1] if name != "Group"]
        score = float(chart[-1][2])
        assert len(values) == min(len(parts), bars + 1)
        assert sum(values) == pytest.approx(score, abs=0.0006 * (len(values) + 1))
        assert score == pytest.approx(sum(part.value for part in parts), abs=0.0006)
    assert float(charts[0][-1][2]) == pytest.approx(case.explanation.global_score, abs=0.002)


def test_the_scores_of_local_and_global_inference_are_added_up_per_class() -> None:
    case = case_of(ExLLClassifier().fit(STREAM.X, STREAM.y), STREAM.queries[0])
    explanation = case.explanation
    assert explanation.local_score is not None
    rows = {row[0]: row[1:] for row in _Tables(explanation_page(case, Thumbnails())).rows if len(row) == 4}
    assert explanation.class_share is not None
    local, whole = explanation.local_score, explanation.class_share * explanation.global_score
    assert rows[f"“{explanation.label}”"] == [f"{whole:.3f}", f"{local:.3f}", f"{local + whole:.3f}"]
    assert f"“{explanation.runner_up}”" in rows


def test_the_page_says_what_the_explanation_says(learner: ImageLearner, folder: Path) -> None:
    case = learner.case(picture(2, 50), "somewhere/new.png")
    explanation = case.explanation
    assert explanation.near_hit is not None
    assert explanation.near_miss is not None
    content = explanation_page(case, Thumbnails([folder]))
    said, cases = words(content), sum(explanation.pair_counts.values())
    for sentence in (
        f"The model takes this for “ {explanation.label} ”, with a confidence of {confidence(explanation.probability)}",
        f"(its share of {counted(cases, 'earlier case')}); the second choice is “ {explanation.runner_up} ”.",
        explanation.reason,
        "It looks most like these",
        f"Also like these, another group of “ {explanation.label} ”",
        f"Nearest of the second choice, “ {explanation.near_miss.label} ”",
        counted(explanation.hit.support, "example"),
        "The network looked twice",
    ):
        assert sentence in said
    counts = [[f"“{label}”", f"{count:,}"] for label, count in explanation.pair_counts.items()]
    assert counts
    assert all(row in [found[:2] for found in _Tables(content).rows] for row in counts)
    closest = explanation.hit.examples[0].name.rpartition("/")[2]
    assert content.index('class="cards"') < content.index(f'alt="{closest}"')
    assert "missing" not in content.partition("<body>")[2]


def test_numbers_that_say_nothing_of_other_photos_are_folded_away() -> None:
    content = explanation_page(case_of(taught(), STREAM.queries[0]), Thumbnails())
    shown, _, folded = content.partition("<details>")
    assert re.findall(r"\d\.\d(?!\d*%)", words(shown)) == []
    assert re.findall(r"\d\.\d(?!\d*%)", words(folded))


@pytest.mark.parametrize(
    ("level", "title", "said"),
    [
        ("unknown", "why unknown", "Unknown Nothing that was taught looks like this. The nearest class is “ kind 2 ”."),
        ("unusual", "why “kind 2”", "Maybe “ kind 2 ” It is unlike the photos that were taught."),
    ],
)
def test_what_is_unusual_or_unknown_is_not_said_to_be_taken_for_anything(
    learner: ImageLearner, folder: Path, level: Level, title: str, said: str
) -> None:
    case = learner.case(picture(2, 50), "somewhere/new.png")
    assert case.explanation.label == "kind 2"
    content = explanation_page(replace(case, explanation=replace(case.explanation, level=level)), Thumbnails([folder]))
    assert f"<title>new.png: {title}</title>" in content
    assert said in words(content)
    assert "If it is one of the known classes, the confidence is" in words(content)
    assert "takes this for" not in content


def test_a_nearer_group_of_another_class_is_shown_as_such() -> None:
    model, seen = taught(), set()
    for x in STREAM.queries:
        case = case_of(model, x)
        said, nearer = words(explanation_page(case, Thumbnails())), case.explanation.local_choice
        assert ("The nearest group of all is of" in said) == (nearer is not None)
        assert ("Within its class, it looks most like these" in said) == (nearer is not None)
        seen.add(nearer is not None)
    assert seen == {True, False}


def test_earlier_cases_are_named_only_where_the_probability_is_their_share(learner: ImageLearner) -> None:
    case = learner.case(picture(2, 50), "new.png")
    otherwise = replace(case, explanation=replace(case.explanation, probability=0.123))
    never_seen = replace(case, explanation=replace(case.explanation, pair_counts={}))
    for other in (otherwise, never_seen):
        assert "earlier case" not in words(explanation_page(other, Thumbnails()))


def test_map_and_offset_are_the_score_of_the_explanation(learner: ImageLearner) -> None:
    case = learner.case(picture(1, 51), "new.png")
    rows = _Tables(explanation_page(case, Thumbnails())).rows
    first = rows.index(["Score", "map", "offset", "sum"]) + 1
    sums = [[float(number) for number in row[1:]] for row in rows[first : first + 2]]
    for places, offset, score in sums:
        assert places + offset == pytest.approx(score, abs=0.002)
    assert sums[0][2] == pytest.approx(case.explanation.global_score, abs=0.002)
    against = sum(part.value for part in case.explanation.against)
    assert sums[1][2] == pytest.approx(case.explanation.global_score - against, abs=0.003)


def test_a_network_without_a_map_is_said_to_have_none(tmp_path: Path) -> None:
    learner = ImageLearner(write_network(tmp_path / "colour.onnx"), "paper")
    for colour in ("red", "blue", "red"):
        learner.learn(Image.new("RGB", (8, 8), colour), colour)
    content = explanation_page(learner.case(Image.new("RGB", (8, 8), "red"), "x"), Thumbnails())
    assert "The network behind this model gives no map of the places" in content
    assert "The network looked" in content
    assert "The global score by place" not in content


@pytest.mark.parametrize("records", ["none", "refs", "vectors", 2])
def test_a_page_is_made_whatever_was_remembered(records: RecordsKind) -> None:
    content = explanation_page(case_of(taught(records), STREAM.queries[3]), Thumbnails())
    said = words(content)
    if records == "none":
        assert said.count("no image kept: this model remembers no examples") == 3
    else:
        assert ".jpg : file not found" in said


def test_one_class_and_one_prototype_are_enough_for_a_page() -> None:
    alone = ExLLClassifier("paper", records="vectors").fit(np.eye(3)[:1], ["mug"])
    content = explanation_page(case_of(alone, np.eye(3)[0]), Thumbnails())
    said = words(content)
    for sentence in (
        "It has learned no other class yet",
        "sample 1 : no image kept",
    ):
        assert sentence in said
    assert "Where in the image" not in said
    assert content.count('class="card"') == 1
    assert said in words(explanation_page(case_of(alone, np.eye(3)[0]), Thumbnails()))


def test_a_score_that_speaks_for_the_other_class_is_not_hidden() -> None:
    case = case_of(taught(), STREAM.queries[0])
    lower = tuple(replace(part, value=part.value - 100) for part in case.explanation.contributions)
    changed = replace(case, explanation=replace(case.explanation, contributions=lower))
    assert "would be ahead" in words(explanation_page(changed, Thumbnails()))
    assert "would be ahead" not in words(explanation_page(case, Thumbnails()))


def test_pictures_are_found_from_here_from_the_model_and_from_beside_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("here", "models", "data"):
        (tmp_path / place).mkdir()
        picture(0, 0).save(tmp_path / place / f"{place}.png")
    monkeypatch.chdir(tmp_path / "here")
    lessons = [{"source": str(tmp_path / "data" / "features.npz")}]
    thumbnails = Thumbnails(folders_of(tmp_path / "models" / "m.exll", lessons))
    for ref in ("here.png", "models.png", "data.png", str(tmp_path / "data" / "data.png")):
        assert thumbnails.of(ref).uri is not None, ref


def test_a_thumbnail_is_small_and_keeps_its_shape(tmp_path: Path) -> None:
    picture(0, 0, size=800).crop((0, 0, 800, 400)).save(tmp_path / "a.png")
    found = Thumbnails([tmp_path]).of("a.png")
    assert (found.width, found.height) == (SIDE, SIDE // 2)
    assert html_of(found).startswith('<img src="data:image/webp;base64,')
    assert 'alt="a.png" width="160" height="80"' in html_of(found)


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("far/away/mug_01.jpg", "mug_01.jpg</bdi>: file not found"),
        ("x" * 5000 + ".jpg", "…</bdi>: file not found"),
        ("nul\0.jpg", "nul .jpg</bdi>: file not found"),
        ("clip.mp4#120", "clip.mp4#120</bdi>: no image kept"),
        ("features.npz#3", "features.npz#3</bdi>: no image kept"),
        ("sample 12", "sample 12</bdi>: no image kept"),
        ("secret.txt", "secret.txt</bdi>: the file cannot be read as an image"),
        ("cut.png", "cut.png</bdi>: the file cannot be read as an image"),
        ("<b>.jpg", "&lt;b&gt;.jpg</bdi>: file not found"),
    ],
)
def test_a_picture_that_cannot_be_shown_says_why(tmp_path: Path, ref: str, reason: str) -> None:
    (tmp_path / "secret.txt").write_text("password")
    picture(0, 0).save(tmp_path / "cut.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "cut.png").read_bytes()[:500])
    shown = Thumbnails([tmp_path]).of(ref)
    assert shown.uri is None
    assert reason in html_of(shown)
    assert "password" not in html_of(shown)


def test_of_a_group_the_pictures_that_are_there_are_shown_and_a_gap_only_where_there_is_none(tmp_path: Path) -> None:
    picture(0, 0).save(tmp_path / "there.png")
    found = Thumbnails([tmp_path]).some(["gone.png", "there.png", "lost.png"], 2)
    assert [(shown.name, shown.uri is None) for shown in found] == [("there.png", False)]
    found = Thumbnails([tmp_path]).some(["gone.png", "lost.png", "away.png"], 2)
    assert [(shown.name, shown.missing) for shown in found] == [
        (f"{n}.png", "file not found") for n in ("gone", "lost")
    ]


def test_rules_come_class_by_class_the_largest_share_first(learner: ImageLearner, folder: Path) -> None:
    rules = learner.rules()
    content = rules_page(rules, "m.exll", Thumbnails([folder]))
    sections = content.split("<section")[1:]
    assert len(sections) == 3
    for k, section in enumerate(sections):
        own = [rule for rule in rules if rule.label == f"kind {k}"]
        common = [rule for rule in own if rule.support > 1]
        said = words(section.partition("</section>")[0])
        shares = [int(count) for count in re.findall(r"(\d+) of 12 examples", said)]
        assert shares == [rule.support for rule in common]
        assert shares == sorted(shares, reverse=True)
        assert said.count("IF it looks like") == bool(common)
        assert said.endswith(f"THEN it is “ kind {k} ”")
        if len(own) > len(common):
            assert f"OR like {counted(len(own) - len(common), 'single example')}" in said
        pictured = sum(min(PICTURES, rule.support) for rule in common) + min(SINGLE_PICTURED, len(own) - len(common))
        assert section.count("<img ") == pictured


def test_what_a_rule_does_not_show_is_counted() -> None:
    content = rules_page(taught("refs").rules(), "m", Thumbnails())
    for rule in taught("refs").rules():
        if rule.support > PICTURES:
            assert f"+ {rule.support - PICTURES:,} more" in content
    assert "0.jpg</bdi>: file not found" in content


def test_a_class_of_very_many_rules_is_cut_and_says_so() -> None:
    model = taught("none")
    rule = model.rules()[0]
    many = [
        replace(rule, support=2, class_count=200, conditions=(replace(rule.conditions[0], prototype=j, support=2),))
        for j in range(100)
    ]
    said = words(rules_page(many, "m", Thumbnails()))
    assert said.count("no image kept") == RULES_OPEN + RULES_FOLDED
    assert f"OR like one of {100 - RULES_OPEN} smaller groups" in said
    assert f"and {100 - RULES_OPEN - RULES_FOLDED} more that are not shown" in said


def test_a_class_of_single_examples_alone_says_so() -> None:
    rule = taught("none").rules()[0]
    alone = replace(rule, support=1, class_count=3, conditions=(replace(rule.conditions[0], support=1),))
    said = words(rules_page([alone] * 3, "m", Thumbnails()))
    assert "No two of its examples look alike to the model" in said
    assert "IF it looks like 3 single examples" in said


def test_numbered_classes_stand_by_size_and_named_ones_by_letters() -> None:
    for labels, expected in (([10, 9, 2], ["2", "9", "10"]), (["b", "C", "a"], ["a", "b", "C"])):
        model = ExLLClassifier("paper").fit(np.eye(3), labels)
        content = rules_page(model.rules(), "m", Thumbnails())
        assert re.findall(r"<h2><bdi>(.*?)</bdi>", content) == expected
        assert "each is a rule of its own" not in content


@pytest.mark.parametrize("more", [0, 1])
def test_where_there_are_many_classes_each_is_folded_to_one_picture(more: int, tmp_path: Path) -> None:
    count, done = CLASSES_OPEN + more, []
    picture(0, 0).save(tmp_path / "a.png")
    model = ExLLClassifier("paper").fit(np.eye(count), list(range(count)), refs=["a.png"] * count)
    content = rules_page(model.rules(), "m", Thumbnails([tmp_path]), lambda: done.append(1))
    assert content.count("<details open>") == (0 if more else count)
    assert content.count('<img class="cover"') == (count if more else 0)
    assert len(done) == count


def test_hostile_labels_and_names_stay_text_on_the_pages() -> None:
    def pages(labels: Sequence[str], name: str) -> tuple[str, str]:
        y = [labels[k % len(labels)].replace("\0", "") for k in STREAM.y]
        model = ExLLClassifier("paper", records="vectors").fit(STREAM.X, y, refs=[f"{label}.jpg" for label in y])
        case = replace(case_of(model, STREAM.queries[0]), name=name, metadata={name: name})
        return explanation_page(case, Thumbnails()), rules_page(model.rules(), name, Thumbnails())

    tame = pages([f"c{k}" for k in range(len(HOSTILE))], "tame")
    for name, *labels in (HOSTILE, HOSTILE[::-1]):
        for content, other in zip(pages(labels, name), tame, strict=True):
            assert_only_text_differs(content, other)
            assert "&lt;" in content or "&amp;" in content


def test_a_name_that_a_template_misspells_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nmae }}").render(name="x")


def test_pages_ask_nothing_of_any_network(learner: ImageLearner, folder: Path) -> None:
    thumbnails = Thumbnails([folder])
    case = learner.case(picture(0, 60), "new.png")
    for content in (explanation_page(case, thumbnails), rules_page(learner.rules(), "m", thumbnails)):
        plain = re.sub(r'src="data:image/webp;base64,[\w+/=]+"', "", content)
        assert plain != content
        for reference in ("http:", "https:", "src=", "url(", "@import", "fetch(", "style="):
            assert reference not in plain
        assert "default-src 'none'" in content
        assert "unsafe-inline" not in content

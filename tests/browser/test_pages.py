"""The pages of a model in a browser: quiet, closed, readable in light and dark, on a telephone and by keyboard."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Error

from browser.checks import NARROW, WIDE, Opener, check_contrast, check_keyboard, check_width
from exll import ExLLClassifier, ImageLearner
from exll.cli.demo_page import Answered, first_page
from exll.explain.evaluation import Evaluation
from exll.explain.evaluation_page import page as evaluation_page
from exll.explain.explanation_page import page as explanation_page
from exll.explain.page import environment
from exll.explain.rules_page import page as rules_page
from exll.explain.thumbnails import Thumbnails
from exll.explain.topology import topology_of
from exll.explain.topology_page import page as map_page
from exll.prediction import Prediction
from pictures import picture, write_class_folder

PAGES = ("explanation-0", "rules", "map", "evaluation", "demo")
HOSTILE = (
    "<script>alert(1)</script>",
    '"quotes\' & <b>signs</b>" onload=alert(2)',
    "\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED}\N{HEBREW LETTER VAV}\N{HEBREW LETTER FINAL MEM} \u202egpj.exe",
    "long" * 400,
)
SHOWN = (*HOSTILE[:2], HOSTILE[2].replace("\u202e", ""), "longlong")


# Words of tables, and those that stand on more than one line.
WORDS = (
    """() => [...document.querySelectorAll('th, td')].map((cell) => cell.textContent).join(' ').split(/\\s+/).length"""
)
BROKEN_WORDS = """() => {
  const broken = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.parentElement.closest('th, td')) continue;
    for (const {0: word, index} of text.textContent.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word);
    }
  }
  return broken;
}"""


def write_pages(folder: Path, names: tuple[str, ...], refs: dict[str, str] | None = None) -> Path:
    """A model of patterns under these names, and its pages; ``refs`` are other names for some of its examples."""
    taught = write_class_folder(folder / "taught", classes=len(names), each=10)
    learner = ImageLearner(backbone="nano", preset="paper")
    examples = [(f"kind {k}/{i:03d}.png", name) for k, name in enumerate(names) for i in range(10)]
    order = np.random.default_rng(0).permutation(len(examples))
    for ref, label in (examples[i] for i in order):
        learner.learn(taught / ref, label, ref=(refs or {}).get(ref, ref))
    thumbnails = Thumbnails([taught])
    contents = {
        **{
            f"explanation-{k}": explanation_page(learner.case(picture(k, 77), "new.png"), thumbnails)
            for k in range(len(names))
        },
        "rules": rules_page(learner.rules(), names[0], thumbnails),
        "map": map_page(topology_of(learner.classifier.learner_), names[0]),
        "evaluation": evaluation_page(_evaluated(learner, taught, names), names[0], thumbnails),
        "demo": _demo(folder, names),
    }
    for name, content in contents.items():
        (folder / f"{name}.html").write_text(content, encoding="utf-8")
    return folder


def _evaluated(learner: ImageLearner, taught: Path, names: tuple[str, ...]) -> Evaluation:
    """Every class has an example that is in truth of the next one."""
    images = [taught / f"kind {k}" / f"{i:03d}.png" for k in range(len(names)) for i in range(4)]
    truths = [names[(k + (i == 0)) % len(names)] for k in range(len(names)) for i in range(4)]
    return learner.evaluate([*images], truths)


def _demo(folder: Path, names: tuple[str, ...]) -> str:
    """Answers that are right, wrong and unknown."""
    said = (
        Prediction(names[0], 0.9, names[1]),
        Prediction(names[1], 0.5, names[0], "unusual", 3.0),
        Prediction(names[1], 0.3, names[0], "unknown", 9.0),
    )
    right, wrong, unknown = answers = [Answered("taught/kind 0/000.png", names[0], one) for one in said]
    explained = {"right": right, "wrong": wrong, "new": unknown}
    taught = [f"taught/kind {k}/000.png" for k in range(len(names))]
    commands = [("See all commands", "exll --help")]
    return first_page(folder, taught, answers, answers, answers, answers, explained, commands, names[2])


def write_page(folder: Path, body: str, style: str = "", script: str = "") -> Path:
    """A page of one file with a body, a style and a script of its own."""
    (folder / "own.css").write_text(style)
    (folder / "own.js").write_text(script)
    (folder / "own.html").write_text(
        '{% extends "page.html" %}{% set styles, scripts = ["page.css", "own.css"], ["own.js"] %}'
        f"{{% block title %}}own{{% endblock %}}{{% block body %}}{body}{{% endblock %}}"
    )
    (folder / "bad.html").write_text(environment(folder).get_template("own.html").render(), encoding="utf-8")
    return folder / "bad.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("pages"), ("mug", "pan", "bowl"), {"kind 0/003.png": "gone.jpg"})


@pytest.fixture(scope="module")
def hostile_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    refs = {f"kind {k}/{i:03d}.png": HOSTILE[i % 4] for k in range(4) for i in range(5)}
    return write_pages(tmp_path_factory.mktemp("hostile"), HOSTILE, refs)


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_closed_and_readable(open_page: Opener, pages: Path, name: str, dark: bool, width: int) -> None:
    open_page(pages / f"{name}.html", dark=dark, width=width).check()


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rules", SHOWN),
        ("map", SHOWN),
        ("evaluation", SHOWN),
        *((f"explanation-{k}", SHOWN[k : k + 1]) for k in range(4)),
    ],
)
def test_hostile_names_are_shown_as_text(
    open_page: Opener, hostile_pages: Path, name: str, expected: tuple[str, ...], width: int
) -> None:
    watched = open_page(hostile_pages / f"{name}.html", width=width)
    watched.check()
    words = watched.page.text_content("body") or ""
    for label in expected:
        assert label in words
    assert watched.page.locator("script").count() <= 1
    assert watched.page.locator("b").count() == 0


@pytest.mark.parametrize("name", PAGES)
def test_every_part_that_can_be_used_is_reached_by_keyboard(open_page: Opener, pages: Path, name: str) -> None:
    watched = open_page(pages / f"{name}.html")
    assert check_keyboard(watched.page)


def test_the_circles_of_the_map_are_walked_with_tab_and_arrows(open_page: Opener, pages: Path) -> None:
    page = open_page(pages / "map.html").page
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    read = [page.locator("#readout").text_content()]
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        read.append(page.locator("#readout").text_content())
    assert all("prototype" in str(words) for words in read)
    assert len(set(read)) > 1


def test_the_filter_of_the_rules_leaves_the_classes_asked_for(open_page: Opener, pages: Path) -> None:
    page = open_page(pages / "rules.html").page
    page.keyboard.press("Tab")
    page.keyboard.type("BO")
    assert page.locator("section:visible h2").all_text_contents() == ["bowl"]
    assert page.locator("#found").text_content() == "1 of 3 found"
    page.locator("#search").fill("")
    assert page.locator("section:visible").count() == 3


def test_a_class_of_many_is_opened_by_a_click_and_by_a_search_that_finds_it_alone(
    open_page: Opener, tmp_path: Path
) -> None:
    model = ExLLClassifier().fit(np.eye(20), [f"class {k:02}" for k in range(20)])
    (tmp_path / "rules.html").write_text(rules_page(model.rules(), "many", Thumbnails()), encoding="utf-8")
    page = open_page(tmp_path / "rules.html", width=NARROW).page
    assert page.locator("section .rule:visible").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 20 * 60 + 400
    page.get_by_role("heading", name="class 07").click()
    assert page.locator("section .rule:visible").count() == 1
    page.locator("#search").fill("class 1")
    assert page.locator("section:visible").count() == 10
    assert page.locator("section .rule:visible").count() == 0
    page.locator("#search").fill("class 13")
    assert page.locator("section .rule:visible").count() == 1


def test_words_and_numbers_of_tables_stay_whole_on_a_telephone(open_page: Opener, pages: Path) -> None:
    watched = open_page(pages / "explanation-0.html", width=NARROW)
    watched.open_details()
    assert watched.page.evaluate(WORDS) > 50
    assert watched.page.evaluate(BROKEN_WORDS) == []


def test_paper_is_white_also_where_the_screen_is_dark(open_page: Opener, pages: Path) -> None:
    page = open_page(pages / "explanation-0.html", dark=True).page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    check_contrast(page)


def test_the_checks_see_what_is_wrong(open_page: Opener, tmp_path: Path) -> None:
    body = "<h1>Too faint</h1><p>one</p><p>two</p><div>wide</div><button>no sign of focus</button>"
    style = "h1{color:#bbb;background:#fff}div{width:3000px}button:focus{outline:none}"
    page = open_page(write_page(tmp_path, body, style)).page
    for check in (check_contrast, check_width, check_keyboard):
        with pytest.raises(AssertionError):
            check(page)


def test_the_policy_lets_nothing_in_and_the_watch_sees_who_tries(open_page: Opener, tmp_path: Path) -> None:
    write_page(tmp_path, '<h1>Hungry</h1><img src="http://localhost:9/x.png" alt="x"><p onclick="x()">one</p>')
    (tmp_path / "open.html").write_text('<img src="http://localhost:9/x.png">', encoding="utf-8")
    for name, complaint in (("bad.html", "Content Security Policy"), ("open.html", "asked for http://localhost:9/")):
        watched = open_page(tmp_path / name)
        assert any(complaint in fault for fault in watched.faults)
        watched.faults.clear()


def test_a_script_that_fails_is_noticed(open_page: Opener, tmp_path: Path) -> None:
    watched = open_page(write_page(tmp_path, "<h1>x</h1>", script="nobody.home();"))
    with pytest.raises(Error):
        watched.page.evaluate("nobody.home()")
    assert any("nobody" in fault for fault in watched.faults)
    watched.faults.clear()

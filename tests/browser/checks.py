"""What every page of ours must be, asked of a real browser."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any, TypeAlias

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Error, Page, Request

WIDE, NARROW = 1280, 390
MOST_STOPS = 400

# Text over a drawing stands on its halo, through which the worst of all colours may shine.
CONTRAST = """() => {
  const context = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
    .getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, layer) => over(layer, under), rgba('Canvas'));
  };
  const faults = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let measured = 0;
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, words = texts.currentNode.textContent.trim();
    if (!words || element.closest('script, style, title') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element), drawn = element instanceof SVGElement;
    const colour = rgba(drawn ? style.fill : style.color);
    for (let at = element; at; at = at.parentElement) colour[3] *= Number(getComputedStyle(at).opacity);
    let grounds = [behind(element)];
    if (drawn) {
      const halo = rgba(style.stroke);
      halo[3] *= Number(style.strokeOpacity);
      grounds = [[0, 0, 0, 1], [255, 255, 255, 1]].map((worst) => over(halo, worst));
    }
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const least = Math.min(...grounds.map((ground) => ratio(over(colour, ground), ground)));
    measured += 1;
    if (least < (large ? 3 : 4.5)) faults.push(words.slice(0, 40) + ': ' + least.toFixed(2));
  }
  return {faults, measured};
}"""

TOO_WIDE = """() => {
  const shown = document.documentElement.clientWidth, wide = document.documentElement.scrollWidth;
  const outside = [...document.body.querySelectorAll('*')].filter(
    (e) => e.checkVisibility() && !e.parentElement.closest('.scroll') && e.getBoundingClientRect().right > shown + 1);
  return outside.map((e) => e.tagName + ' ' + e.className).concat(wide > shown ? ['page'] : []);
}"""

REACHABLE = """() => [...document.querySelectorAll(
  'a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(
    (e) => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled).length"""

STOP = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  window.stops = window.stops || [];
  if (!window.stops.includes(at)) window.stops.push(at);
  const style = getComputedStyle(at);
  const seen = style.outlineStyle !== 'none' || (at instanceof SVGElement && parseFloat(style.strokeWidth) >= 4);
  return {number: window.stops.indexOf(at), name: at.tagName + ' ' + at.textContent.slice(0, 40), seen};
}"""


@dataclass
class Watched:
    """A page under watch: whatever it says to the console, asks of a network or interrupts with is kept."""

    page: Page
    faults: list[str] = field(default_factory=list)
    may_leave: list[bool] = field(default_factory=list)  # answers to the browser's question whether to leave the page

    def open_details(self) -> None:
        self.page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")

    def check(self) -> None:
        """All that holds for a page at this moment, whatever it shows."""
        self.open_details()
        check_structure(self.page)
        check_pictures(self.page)
        check_contrast(self.page)
        check_width(self.page)
        check_axe(self.page)


Opener: TypeAlias = Callable[..., Watched]


def watch(context: BrowserContext, allowed: str) -> Watched:
    """A new page that may ask for addresses that begin as ``allowed`` does and for what it holds itself, no more."""
    page = context.new_page()
    watched = Watched(page)

    def asked(request: Request) -> None:
        if not request.url.startswith((allowed, "data:", "blob:")):
            watched.faults.append(f"asked for {request.url[:200]}")

    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            watched.faults.append(f"console: {message.text} ({message.location['url']})")

    def interrupted(dialog: Dialog) -> None:
        if dialog.type == "beforeunload" and watched.may_leave:
            if watched.may_leave.pop(0):
                dialog.accept()
            else:
                dialog.dismiss()
            return
        watched.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def failed(error: Error) -> None:
        watched.faults.append(f"error: {error}")

    context.on("request", asked)  # and not a route, for which the browser would forget all that it had fetched
    page.on("console", said)
    page.on("dialog", interrupted)
    page.on("pageerror", failed)
    return watched


def check_structure(page: Page) -> None:
    """A language, a title, one h1 at the start, and no level of headings left out."""
    assert page.get_attribute("html", "lang")
    assert page.title().strip()
    levels = [int(tag[1]) for tag in page.eval_on_selector_all("h1,h2,h3,h4,h5,h6", "all => all.map(e => e.tagName)")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    steps = [after - before for before, after in pairwise(levels)]
    assert max(steps, default=0) <= 1, levels


def check_pictures(page: Page) -> None:
    """Every picture that is shown says what it shows, and could be decoded."""
    broken = page.evaluate(
        """async () => {
          const shown = [...document.images].filter((image) => image.checkVisibility());
          await Promise.all(shown.map((image) => image.decode()));
          return shown.filter((image) => !image.alt.trim() || !image.naturalWidth).length;
        }"""
    )
    assert broken == 0


def check_contrast(page: Page) -> None:
    """WCAG AA: 4.5 for text, 3 for large text."""
    result: dict[str, Any] = page.evaluate(CONTRAST)
    assert result["measured"] > 3
    assert result["faults"] == []


def check_width(page: Page) -> None:
    """Nothing to scroll sideways, and nothing cut off at the side."""
    assert page.evaluate(TOO_WIDE) == []


@cache
def axe() -> str:
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def check_axe(page: Page) -> None:
    """axe-core finds nothing that keeps people out."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe())
    found = page.evaluate("() => axe.run({resultTypes: ['violations'], preload: false})")
    faults = [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found["violations"]]
    assert not faults, faults


def check_keyboard(page: Page) -> list[str]:
    """The Tab key comes by every part that can be used, and it shows where it is; gives the names of the stops."""
    expected = page.evaluate(REACHABLE)
    names: list[str] = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop is None or stop["number"] < len(names):
            break
        assert stop["seen"], f"{stop['name']} does not show that it has the focus"
        names.append(stop["name"])
    assert len(names) == expected, (names, expected)
    return names

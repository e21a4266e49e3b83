"""The rules of a model as a page of pictures: IF it looks like these OR like these THEN it is a mug.

Every class is there, with its largest rules first. So that 80 classes of 30 pictures stay a page one can open, a rule
shows some of its pictures and says how many more there are, and what is unusual waits folded.
"""

from collections.abc import Iterator, Sequence

from exll.explain.page import READING, html_page, quoted, shown
from exll.explain.rules import Rule
from exll.explain.thumbnails import Thumbnails, strip
from exll.explain.wording import counted
from exll.types import Label

SIDE = 112
PICTURES = 6  # of one rule
RULES_OPEN = 5  # of one class; the others are folded
RULES_FOLDED, UNUSUAL_PICTURED = 20, 12

STYLE = """
nav ul{list-style:none;margin:8px 0;padding:0;columns:14rem;column-gap:16px}nav li{break-inside:avoid;padding:2px 0}
a{color:inherit}
section{border-top:1px solid var(--line);margin-top:1.6rem;padding-top:.2rem;content-visibility:auto;
  contain-intrinsic-size:auto 320px}
section[hidden]{display:none}h2{margin-top:1rem}
.rule{display:grid;grid-template-columns:8rem minmax(0,1fr) 9rem;gap:12px;align-items:center;
  padding:8px 0}
.rule p{margin:0}.rule .word{color:var(--ink);font-weight:600}
.share{font-size:.875rem;font-variant-numeric:tabular-nums}
.pictures{margin:0;align-items:center}.pictures img{max-height:103px;width:auto}
.then{font-size:1.0625rem;color:var(--ink)}
.bar{display:block;width:100%;height:6px;margin-bottom:4px}.whole{fill:var(--line)}.part{fill:var(--for)}
@media (max-width:760px){.rule{grid-template-columns:minmax(0,1fr);gap:4px}.pictures img{max-height:84px}}
@media print{section{content-visibility:visible;break-inside:avoid}}
"""

SCRIPT = """
(() => {
  const sections = [...document.querySelectorAll('section[data-label]')];
  const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link.parentNode]));
  const search = document.getElementById('search'), found = document.getElementById('found');
  const simple = (text) => text.normalize('NFKC').toLowerCase();
  const filter = () => {
    const asked = simple(search.value.trim());
    let count = 0;
    for (const section of sections) {
      const hit = simple(section.dataset.label).includes(asked);
      section.hidden = !hit;
      links.get(section.id).hidden = !hit;
      count += hit;
    }
    found.textContent = asked ? count + ' of ' + sections.length + ' found' : '';
  };
  search.addEventListener('input', filter);
  filter();
})();
"""


def page(rules: Sequence[Rule], title: str, thumbnails: Thumbnails) -> str:
    """The whole file as text, from the rules of the level "prototype"."""
    by_class: dict[Label, list[Rule]] = {}
    for rule in sorted(rules, key=_place):  # keeps the largest share first
        by_class.setdefault(rule.label, []).append(rule)
    examples = counted(sum(rule.support for rule in rules), "example")
    heading = shown(title)
    body = [
        f"<main><h1>The rules of {heading}</h1>",
        f"<p>{counted(len(by_class), 'class')}, {counted(len(rules), 'rule')}, from {examples}. A rule is a group of "
        "examples that look alike; by local inference, whatever resembles such a group most is taken for its class. "
        "The largest groups come first.</p>",
        '<div class="find"><label for="search">Show only classes with</label>'
        '<input id="search" type="search" autocomplete="off"><span id="found" role="status"></span></div>',
        *_jumps(by_class),
        *(line for number, own in enumerate(by_class.values()) for line in _class(number, own, thumbnails)),
        "</main>",
    ]
    return html_page(f"{heading}: rules", body, READING + STYLE, SCRIPT)


def _place(rule: Rule) -> tuple[int, str]:
    """Numbers by size, words by letters."""
    return (0, rule.label.casefold()) if isinstance(rule.label, str) else (int(rule.label), "")


def _jumps(by_class: dict[Label, list[Rule]]) -> Iterator[str]:
    yield '<nav aria-label="Classes"><details><summary>Go to a class</summary><ul>'
    for number, label in enumerate(by_class):
        yield f'<li><a href="#class-{number}"><bdi>{shown(label)}</bdi></a></li>'
    yield "</ul></details></nav>"


def _class(number: int, rules: list[Rule], thumbnails: Thumbnails) -> Iterator[str]:
    label = rules[0].label
    unusual = [rule for rule in rules if rule.support == 1 and rule.class_count > 1]
    usual = [rule for rule in rules if rule not in unusual]
    yield f'<section id="class-{number}" data-label="{shown(label)}"><h2><bdi>{shown(label)}</bdi></h2>'
    yield f"<p>{counted(rules[0].class_count, 'example')} in {counted(len(rules), 'group')}</p>"
    for place, rule in enumerate(usual[:RULES_OPEN]):
        yield _rule(rule, "IF it looks like" if place == 0 else "OR like", thumbnails)
    yield from _folded(usual[RULES_OPEN:], thumbnails)
    if not usual:
        yield "<p>No two of its examples look alike to the model: each is a rule of its own.</p>"
    yield from _unusual(unusual, "OR" if usual else "IF it looks", thumbnails)
    yield f'<p class="then"><strong>THEN</strong> it is {quoted(label)}</p></section>'


def _folded(rules: list[Rule], thumbnails: Thumbnails) -> Iterator[str]:
    if not rules:
        return
    yield f"<details><summary>OR like one of {counted(len(rules), 'smaller group')}</summary>"
    for rule in rules[:RULES_FOLDED]:
        yield _rule(rule, "OR like", thumbnails)
    left_out = len(rules) - RULES_FOLDED
    if left_out > 0:
        yield f"<p>and {left_out:,} more that are not shown</p>"
    yield "</details>"


def _rule(rule: Rule, word: str, thumbnails: Thumbnails) -> str:
    (condition,) = rule.conditions
    pictured = condition.names[:PICTURES]
    more = rule.support - len(pictured)
    if pictured:
        pictures = strip([thumbnails.of(name) for name in pictured], f"+ {more:,} more" if more else "")
    else:
        named = f"prototype {condition.prototype} ({counted(rule.support, 'example')})"
        pictures = f'<span class="missing">{named}: no image kept</span>'
    share = f"{rule.support:,} of {counted(rule.class_count, 'example')}, {rule.share:.0%}"
    bar = (
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="whole" width="100" height="6"/>'
        f'<rect class="part" width="{100 * rule.share:.1f}" height="6"/></svg>'
    )
    return f'<div class="rule"><p class="word">{word}</p>{pictures}<p class="share">{bar}{share}</p></div>'


def _unusual(rules: list[Rule], word: str, thumbnails: Thumbnails) -> Iterator[str]:
    if not rules:
        return
    names = [name for rule in rules for name in rule.conditions[0].names][:UNUSUAL_PICTURED]
    yield f"<details><summary>{word} like {counted(len(rules), 'unusual example')}</summary>"
    yield f"<p>{'Each is' if len(rules) > 1 else 'It is'} like no other, so it makes a rule of its own.</p>"
    more = len(rules) - len(names)
    if names:
        yield strip([thumbnails.of(name) for name in names], f"+ {more:,} more" if more else "")
    else:
        yield '<span class="missing">no image kept</span>'
    yield "</details>"

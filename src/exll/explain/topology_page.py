"""The map of a model as a page: two inline drawings, a search, a list."""

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from exll.explain.old_page import html_page, shown
from exll.explain.topology import PlacedLabel, Topology, colours, place_labels, voronoi_of
from exll.explain.wording import counted, file_name, readable
from exll.types import Matrix, Vector

SIDE = 1000
LETTERS = ((40, 30), (120, 22), (float("inf"), 17))  # their height by the number of classes
LONGEST_LABEL, LONGEST_FULL = 24, 300
OTHERS = 0.75

STYLE = """
.maps{display:grid;grid-template-columns:1fr 1fr;gap:16px}
.maps svg{display:block;width:100%;height:auto;border:1px solid var(--line);border-radius:6px}
text{font-family:system-ui,sans-serif;fill:var(--ink);stroke:var(--paper);stroke-width:.22em;stroke-linejoin:round;
  stroke-opacity:.8;paint-order:stroke;text-anchor:middle;dominant-baseline:central;pointer-events:none}
.off{display:none}.lit.off{display:inline}
circle{fill-opacity:.82;stroke:var(--paper);stroke-width:1.5;cursor:pointer}
.cell{fill-opacity:.6;stroke:var(--paper);stroke-opacity:.5;stroke-width:1}
.border{fill:none;stroke:var(--ink);stroke-width:2;stroke-linecap:round;pointer-events:none}
circle.lit{stroke:var(--lit);stroke-width:2.5}.cell.lit{fill-opacity:.95}
circle.at,circle:focus{stroke:var(--lit);stroke-width:6;outline:none}.cell.at{stroke:var(--lit);stroke-opacity:1;stroke-width:6}
.dim{opacity:.1}.dim.lit{opacity:1}
#readout{position:fixed;left:0;right:0;bottom:0;margin:0;padding:10px 16px;min-height:3rem;
  max-height:40vh;overflow:auto;background:var(--paper);color:var(--ink);border-top:1px solid var(--line)}
ul{list-style:none;margin:8px 0;padding:0;columns:15rem;column-gap:16px}li{break-inside:avoid}
li button{display:block;width:100%;padding:4px 8px;margin:0 0 4px;text-align:left;cursor:pointer}
li svg{width:.8em;height:.8em;margin-right:.4em}li small{color:var(--faint)}
@media (max-width:760px){.maps{grid-template-columns:1fr}}
@media print{#readout{display:none}.maps{grid-template-columns:1fr 1fr}}
"""

SCRIPT = """
(() => {
  const all = (query) => [...document.querySelectorAll(query)];
  const marks = all('.maps [data-k]'), circles = all('circle[data-i]'), buttons = all('li button');
  const ofClass = new Map(), ofPrototype = new Map();
  const put = (map, key, mark) => map.has(key) ? map.get(key).push(mark) : map.set(key, [mark]);
  for (const mark of marks) {
    put(ofClass, mark.dataset.k, mark);
    if (mark.dataset.i) put(ofPrototype, mark.dataset.i, mark);
  }
  const readout = document.getElementById('readout'), found = document.getElementById('found');
  const search = document.getElementById('search'), hint = readout.textContent;
  const named = new Map(circles.map((circle) => [circle.dataset.i, circle.querySelector('title').textContent]));
  const place = new Map(circles.map((c) => [c, [c.cx.baseVal.value, c.cy.baseVal.value]]));
  let picked = new Set(), at = null;

  const toggle = (prototype, on) => {
    for (const mark of ofPrototype.get(prototype.i)) mark.classList.toggle('at', on);
    if (!picked.has(prototype.k)) for (const mark of ofClass.get(prototype.k)) mark.classList.toggle('lit', on);
  };
  const show = (mark) => {
    if (at) toggle(at, false);
    at = mark ? {i: mark.dataset.i, k: mark.dataset.k} : null;
    if (at) toggle(at, true);
    readout.textContent = at ? named.get(at.i) : hint;
  };
  const pick = (classes, asked) => {
    show(null);
    picked = classes;
    for (const mark of marks) {
      mark.classList.toggle('dim', asked && !classes.has(mark.dataset.k));
      mark.classList.toggle('lit', classes.has(mark.dataset.k));
    }
    for (const border of all('.border')) border.classList.toggle('dim', asked);
    for (const button of buttons) button.setAttribute('aria-pressed', String(classes.has(button.dataset.k)));
    found.textContent = asked ? classes.size + ' of ' + buttons.length + ' found' : '';
  };
  const simple = (text) => text.normalize('NFKC').toLowerCase();
  search.addEventListener('input', () => {
    const asked = simple(search.value.trim());
    const hits = buttons.filter((button) => asked && simple(button.dataset.label).includes(asked));
    pick(new Set(hits.map((button) => button.dataset.k)), asked !== '');
  });
  for (const button of buttons) button.addEventListener('click', () => {
    const again = button.getAttribute('aria-pressed') === 'true' && picked.size === 1;
    search.value = again ? '' : button.dataset.label;
    pick(again ? new Set() : new Set([button.dataset.k]), !again);
  });
  document.addEventListener('pointerover', (event) => {
    const mark = event.target.closest('[data-i]');
    if (mark) show(mark); else if (!event.target.closest('#readout')) show(document.activeElement.closest('[data-i]'));
  });
  document.addEventListener('focusin', (event) => show(event.target.closest('[data-i]')));

  // One stop of the Tab key for all circles; arrows go to the nearest one that way.
  const stop = (circle) => { for (const c of circles) c.setAttribute('tabindex', c === circle ? '0' : '-1'); };
  stop(circles[0]);
  const ways = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};
  document.addEventListener('keydown', (event) => {
    const way = ways[event.key], here = place.get(document.activeElement);
    if (!way || !here) return;
    event.preventDefault();
    let nearest = null, least = Infinity;
    for (const [circle, [x, y]] of place) {
      const dx = x - here[0], dy = y - here[1], along = dx * way[0] + dy * way[1];
      const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]), far = along + 2 * aside;
      if (along > 0 && aside <= 2 * along && far < least) { nearest = circle; least = far; }
    }
    if (nearest) { stop(nearest); nearest.focus(); }
  });
})();
"""


def page(topology: Topology, title: str) -> str:
    """The whole file as text; the same for the same topology."""
    shades = colours(len(topology.labels))
    heading = shown(title)
    body = [
        f"<h1>{heading}</h1>\n<p>{topology.summary()}</p>",
        '<div class="find"><label for="search">Find a class</label><input id="search" type="search" autocomplete="off">'
        '<span id="found" role="status"></span></div>\n<div class="maps">',
        *_circles(topology, shades),
        *_regions(topology, shades),
        "</div>",
        *_list(topology, shades),
        '<p id="readout">Point at a circle, touch it, or go from one to the next with Tab and the arrow keys.</p>',
    ]
    return html_page(f"{heading}: map", body, STYLE, SCRIPT)


def _circles(topology: Topology, shades: list[str]) -> Iterator[str]:
    placed = place_labels(topology, _sizes(topology), topology.radii, OTHERS)
    x, y = _on_page(topology)
    radii = SIDE * topology.radii
    yield f'<figure><svg viewBox="0 0 {SIDE} {SIDE}" role="group" aria-label="Prototypes as circles">'
    strongest = max((count for _, _, count in topology.edges), default=1)
    for one, other, count in topology.edges:
        k, strength = topology.class_of[one], (count / strongest) ** 0.5
        yield (
            f'<path data-k="{k}" d="M{x[one]:.1f} {y[one]:.1f}L{x[other]:.1f} {y[other]:.1f}" stroke="{shades[k]}" '
            f'stroke-width="{1 + 5 * strength:.1f}" stroke-opacity="{0.3 + 0.5 * strength:.2f}"/>'
        )
    for j in topology.largest_first:
        k = topology.class_of[j]
        yield (
            f'<circle data-k="{k}" data-i="{j}" cx="{x[j]:.1f}" cy="{y[j]:.1f}" r="{radii[j]:.1f}" fill="{shades[k]}" '
            f'tabindex="0" role="img"><title>{escape(description(topology, j))}</title></circle>'
        )
    yield from _labels(topology, placed)
    caption = "A circle is a prototype, its area the examples in it; lines join neighbours of a class"
    yield f"</svg><figcaption>{caption}{_hidden(topology, placed)}.</figcaption></figure>"


def _regions(topology: Topology, shades: list[str]) -> Iterator[str]:
    placed = place_labels(topology, _sizes(topology), None, OTHERS)
    voronoi = voronoi_of(topology)
    yield f'<figure><svg viewBox="0 0 {SIDE} {SIDE}" aria-hidden="true">'  # says nothing that the circles do not
    for j, cell in voronoi.cells.items():
        k = topology.class_of[j]
        corners = " ".join(f"{SIDE * a:.1f},{SIDE * (1 - b):.1f}" for a, b in cell)
        yield f'<polygon class="cell" data-k="{k}" data-i="{j}" points="{corners}" fill="{shades[k]}"/>'
    lines = (
        f"M{SIDE * a:.1f} {SIDE * (1 - b):.1f}L{SIDE * c:.1f} {SIDE * (1 - d):.1f}"
        for (a, b), (c, d) in voronoi.borders
    )
    yield f'<path class="border" d="{"".join(lines)}"/>'
    yield from _labels(topology, placed)
    caption = "The regions nearest each prototype; strong lines where the class changes"
    yield f"</svg><figcaption>{caption}{_hidden(topology, placed)}.</figcaption></figure>"


def _labels(topology: Topology, placed: list[PlacedLabel]) -> Iterator[str]:
    """Those that fit, and out of sight one for each class that did not, shown when the class is pointed at."""
    height = _height(topology)
    shown = {int(topology.class_of[label.prototype]) for label in placed}
    for label in placed:
        size = height if label.main else OTHERS * height
        yield _text(topology, label.prototype, label.centre, size, "")
    for j in topology.largest_first:
        k = int(topology.class_of[j])
        if k not in shown:
            shown.add(k)
            yield _text(topology, j, topology.positions[j].tolist(), height, ' class="off"')


def _text(topology: Topology, j: int, centre: Sequence[float], size: float, more: str) -> str:
    k, (x, y) = topology.class_of[j], centre
    label = shown(topology.labels[k], LONGEST_LABEL)
    place = f'x="{SIDE * x:.1f}" y="{SIDE * (1 - y):.1f}" font-size="{size:g}"'
    return f'<text data-k="{k}" {place}{more} aria-hidden="true">{label}</text>'


def _list(topology: Topology, shades: list[str]) -> Iterator[str]:
    prototypes = np.bincount(topology.class_of)
    examples = np.bincount(topology.class_of, weights=topology.supports).astype(int)
    yield f"<details open><summary>{counted(len(shades), 'class')}</summary><ul>"
    for k in sorted(range(len(shades)), key=lambda k: (-examples[k], k)):
        full = shown(topology.labels[k])
        counts = f"{counted(int(examples[k]), 'example')}, {counted(int(prototypes[k]), 'prototype')}"
        swatch = (
            f'<svg viewBox="0 0 100 100" aria-hidden="true"><circle cx="50" cy="50" r="48" fill="{shades[k]}"/></svg>'
        )
        attributes = f'type="button" data-k="{k}" data-label="{full}" aria-pressed="false"'
        yield f"<li><button {attributes}>{swatch}{full} <small>{counts}</small></button></li>"
    yield "</ul></details>"


def description(topology: Topology, j: int) -> str:
    """A prototype in words: "mug, prototype 7, 12 examples: a.jpg, b.jpg and 10 more"."""
    support, names = int(topology.supports[j]), [file_name(name) for name in topology.names[j]]
    label = readable(topology.labels[topology.class_of[j]], LONGEST_FULL)
    words = f"{label}, prototype {topology.ids[j]}, {counted(support, 'example')}"
    if not names:
        return words
    more = support - len(names)
    return f"{words}: {', '.join(names)}" + (f" and {more:,} more" if more else "")


def _hidden(topology: Topology, placed: list[PlacedLabel]) -> str:
    left_out = len(topology.labels) - sum(label.main for label in placed)
    names = counted(len(topology.labels), "name")
    return f"; no room for {left_out:,} of {names}, which show when pointed at" if left_out else ""


def _on_page(topology: Topology) -> tuple[Vector, Vector]:
    return SIDE * topology.positions[:, 0], SIDE * (1 - topology.positions[:, 1])


def _height(topology: Topology) -> float:
    return next(height for most, height in LETTERS if len(topology.labels) <= most)


def _sizes(topology: Topology) -> Matrix:
    """The reader's font is not known here, so widths are estimates on the wide side."""
    height = _height(topology) / SIDE
    labels = [readable(label, LONGEST_LABEL) for label in topology.labels]
    return np.array([(height * (0.3 + sum(map(_ems, label))), 1.2 * height) for label in labels])


def _ems(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.1
    return 0.72 if character.isupper() or character in "mwMW@%…" else 0.57

/** The Map page: prototypes as circles; pointing at one shows its pictures. */

import { get } from "./api.js";
import { byId, fill, gathered, h, nothingYet, svg } from "./dom.js";
import { onAny } from "./events.js";
import { trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { counted, simple } from "./words.js";

const SIDE = 1000;
const MARGIN = 30;
const LETTERS = { wide: 26, narrow: 44 }; // their height on the drawing, which shrinks on a telephone
const HALO = 8; // around letters
const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const HINT = "Point at a circle, touch it, or go from one to the next with Tab and the arrow keys.";

const readout = h("div", { class: "card" }, h("p", {}, HINT));
let plane = null;
let names = null;

async function look() {
  const map = await trying(() => get("/api/map"), look);
  if (!map) return;
  byId("find").hidden = map.prototypes.length === 0;
  if (!map.prototypes.length) {
    fill(byId("map"), nothingYet("No map yet.", "Teach something first"));
    return;
  }
  const focused = document.activeElement?.dataset?.prototype;
  plane = draw(map);
  names = h(
    "div",
    { class: "names", role: "group", "aria-label": "Classes" },
    map.labels.map((label, k) => nameButton(label, map.colours[k])),
  );
  fill(byId("map"), plane, h("div", { class: "readout" }, readout, names));
  if (focused) plane.querySelector(`[data-prototype="${focused}"]`)?.focus();
  filter();
}

const place = ({ x, y }) => [MARGIN + (SIDE - 2 * MARGIN) * x, MARGIN + (SIDE - 2 * MARGIN) * (1 - y)];

const radiusOf = ({ radius }) => Math.max(7, radius * SIDE);

function draw(map) {
  const colour = new Map(map.labels.map((label, k) => [label, map.colours[k]]));
  const numbered = new Map(map.prototypes.map((one) => [one.prototype, one]));
  const strongest = Math.max(1, ...map.edges.map(({ count }) => count));
  const largest = [...map.prototypes].sort((one, other) => other.support - one.support);
  const circles = largest.map((one) => circle(one, colour.get(one.label)));
  circles[0].setAttribute("tabindex", "0");
  return svg(
    "svg",
    { class: "plane", viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": map.summary, onkeydown: step },
    map.edges.map(({ one, other, count }) =>
      edge(numbered.get(one), numbered.get(other), Math.sqrt(count / strongest), colour),
    ),
    circles,
    titles(largest),
  );
}

function edge(one, other, strength, colour) {
  const [[x1, y1], [x2, y2]] = [place(one), place(other)];
  return svg("line", {
    x1,
    y1,
    x2,
    y2,
    "data-label": one.label,
    stroke: colour.get(one.label),
    "stroke-width": 1 + 5 * strength,
    "stroke-opacity": 0.3 + 0.5 * strength,
  });
}

function circle(one, fillColour) {
  const [cx, cy] = place(one);
  const mark = svg("circle", {
    cx,
    cy,
    r: radiusOf(one),
    fill: fillColour,
    tabindex: "-1",
    role: "img",
    "data-label": one.label,
    "data-prototype": one.prototype,
    "aria-label": `${one.label}: ${counted(one.support, "picture")} that look alike`,
    onpointerenter: () => show(mark, one),
    onfocus: () => show(mark, one),
    onclick: () => mark.focus(),
  });
  return mark;
}

/** One name a class, at its largest circle that has room; where none has, it waits until its class is looked for. */
function titles(largest) {
  const taken = [];
  const size = matchMedia("(max-width: 760px)").matches ? LETTERS.narrow : LETTERS.wide;
  return [...new Set(largest.map(({ label }) => label))].map((label) => {
    const short = label.length > 24 ? `${label.slice(0, 23)}…` : label;
    const half = widthOf(short, size) / 2;
    const spots = largest.filter((one) => one.label === label).flatMap((one) => spotsOf(one, half, size));
    const free = spots.find(([x, y]) =>
      taken.every(([a, b, width]) => Math.abs(a - x) > width + half || Math.abs(b - y) > 1.15 * size),
    );
    if (free) taken.push([...free, half]);
    const [x, y] = free ?? spots[0];
    return svg(
      "text",
      { x, y, "font-size": size, "data-label": label, class: free ? "" : "off", "aria-hidden": "true" },
      short,
    );
  });
}

function widthOf(text, size) {
  const letters = document.createElement("canvas").getContext("2d");
  letters.font = `600 ${size}px system-ui, sans-serif`;
  return letters.measureText(text).width + HALO;
}

/** Where the name of a circle may stand: on it, below it, above it; never cut off at a side. */
function spotsOf(one, half, size) {
  const [x, y] = place(one);
  const away = radiusOf(one) + 0.7 * size;
  const middle = Math.min(Math.max(x, half), SIDE - half);
  return [y, y + away, y - away].filter((at) => at > size && at < SIDE - size).map((at) => [middle, at]);
}

function show(mark, { label, support, examples }) {
  for (const other of plane.querySelectorAll(".at")) other.classList.remove("at");
  mark.classList.add("at");
  fill(
    readout,
    h("h2", {}, h("bdi", {}, label)),
    h("p", {}, counted(support, "picture"), support === 1 ? "" : " that look alike"),
    pictures(examples, label, { large: true, more: support - examples.length }),
  );
}

/** One stop of the Tab key for all circles; arrows go to the nearest one that way. */
function step(event) {
  const way = WAYS[event.key];
  const here = event.target;
  if (!way || here.tagName !== "circle") return;
  event.preventDefault();
  let nearest = null;
  let least = Infinity;
  for (const one of plane.querySelectorAll("circle:not(.dim)")) {
    const [dx, dy] = [one.cx.baseVal.value - here.cx.baseVal.value, one.cy.baseVal.value - here.cy.baseVal.value];
    const along = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (along <= 0 || aside > 2 * along || along + 2 * aside >= least) continue;
    [nearest, least] = [one, along + 2 * aside];
  }
  if (!nearest) return;
  here.setAttribute("tabindex", "-1");
  nearest.setAttribute("tabindex", "0");
  nearest.focus();
}

function nameButton(label, colour) {
  const dot = svg(
    "svg",
    { class: "dot", viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("circle", { cx: 5, cy: 5, r: 4.6, fill: colour }),
  );
  return h(
    "button",
    { type: "button", "data-label": label, "aria-pressed": "false", onclick: (event) => choose(event.currentTarget) },
    dot,
    h("bdi", {}, label),
  );
}

function choose(button) {
  byId("search").value = button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.label;
  filter();
}

function filter() {
  if (!plane) return;
  const asked = simple(byId("search").value);
  const hit = (element) => asked !== "" && simple(element.dataset.label).includes(asked);
  for (const mark of plane.querySelectorAll("[data-label]")) {
    mark.classList.toggle("dim", asked !== "" && !hit(mark));
    if (mark.tagName === "text") mark.classList.toggle("shown", hit(mark));
  }
  for (const button of names.children) button.setAttribute("aria-pressed", String(hit(button)));
  byId("found").textContent = asked
    ? `${[...names.children].filter(hit).length} of ${names.children.length} found`
    : "";
}

byId("search").addEventListener("input", filter);
byId("find").addEventListener("submit", (event) => event.preventDefault());
onAny(["rebuilt", "changed", "anew"], gathered(look, 500));
look();

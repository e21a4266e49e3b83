/** The Map page: the server draws; here a circle is pointed at, walked to or looked for. */

import { get } from "./api.js";
import { byId, fill, gathered, h, nothingYet, svg } from "./dom.js";
import { onAny } from "./events.js";
import { trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { counted, simple } from "./words.js";

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const HINT = "Point at a circle, touch it, or go from one to the next with Tab and the arrow keys.";

const readout = h("div", { class: "card" }, h("p", {}, HINT));
let map = null;
let plane = null;
let names = null;

async function look() {
  const narrow = matchMedia("(max-width: 760px)").matches;
  const found = await trying(() => get(`/api/map?narrow=${narrow}`), look);
  if (!found) return;
  map = found;
  byId("find").hidden = map.prototypes.length === 0;
  if (!map.prototypes.length) {
    fill(byId("map"), nothingYet("No map yet.", "Teach something first"));
    return;
  }
  const focused = document.activeElement?.dataset?.i;
  plane = document.adoptNode(new DOMParser().parseFromString(map.svg, "text/html").querySelector("svg"));
  names = h(
    "div",
    { class: "names", role: "group", "aria-label": "Classes" },
    map.labels.map((label, k) => nameButton(label, k)),
  );
  fill(byId("map"), plane, h("div", { class: "readout" }, readout, names));
  stopAt(plane.querySelector("circle"));
  if (focused) plane.querySelector(`circle[data-i="${focused}"]`)?.focus();
  filter();
}

function show(mark) {
  const { label, support, examples } = map.prototypes[mark.dataset.i];
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
function step(here, event) {
  const way = WAYS[event.key];
  if (!way) return;
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
  stopAt(nearest);
  nearest.focus();
}

function stopAt(circle) {
  for (const one of plane.querySelectorAll("circle")) one.setAttribute("tabindex", one === circle ? "0" : "-1");
}

function nameButton(label, k) {
  const dot = svg(
    "svg",
    { class: "dot", viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("circle", { cx: 5, cy: 5, r: 4.6, fill: map.colours[k] }),
  );
  return h(
    "button",
    { type: "button", "data-k": k, "aria-pressed": "false", onclick: (event) => choose(event.currentTarget) },
    dot,
    h("bdi", {}, label),
  );
}

function choose(button) {
  byId("search").value = button.getAttribute("aria-pressed") === "true" ? "" : map.labels[button.dataset.k];
  filter();
}

function filter() {
  if (!plane) return;
  const asked = simple(byId("search").value);
  const hit = (element) => asked !== "" && simple(map.labels[element.dataset.k]).includes(asked);
  for (const mark of plane.querySelectorAll("[data-k]")) {
    mark.classList.toggle("dim", asked !== "" && !hit(mark));
    if (mark.tagName === "text") mark.classList.toggle("shown", hit(mark));
  }
  for (const button of names.children) button.setAttribute("aria-pressed", String(hit(button)));
  byId("found").textContent = asked
    ? `${[...names.children].filter(hit).length} of ${names.children.length} found`
    : "";
}

/** Listens outside of the drawing: a browser would take an svg that listens for a stop of the Tab key. */
function onCircles(name, work) {
  byId("map").addEventListener(name, (event) => event.target.matches("circle[data-i]") && work(event.target, event));
}

onCircles("pointerover", show);
onCircles("focusin", show);
onCircles("click", (circle) => circle.focus());
onCircles("keydown", step);
byId("search").addEventListener("input", filter);
byId("find").addEventListener("submit", (event) => event.preventDefault());
onAny(["rebuilt", "changed", "anew"], gathered(look, 500));
look();

/** The Map page: every group as a photo, near those that look like it. */

import { get } from "./api.js";
import { byId, fill, gathered, h, nothingYet, svg } from "./dom.js";
import { onAny } from "./events.js";
import { layOut } from "./map_layout.js";
import { placeNames } from "./map_names.js";
import { placesBefore, rememberPlaces } from "./map_places.js";
import { View } from "./map_view.js";
import { trying } from "./notice.js";
import { picture, pictures } from "./pictures.js";
import { counted, simple } from "./words.js";

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const KEYS = { "+": "closer", "=": "closer", "-": "farther", 0: "all" };
const PAN = 60;
const [THIN, WIDE] = [2, 3.5]; // pixels of a border
const HINT =
  "Choose a photo to see its group. Keys: arrows go from one to the next, + and - zoom, 0 shows all, Shift and arrows move the map.";

const readout = h("div", { class: "card" });
const plane = h("div", { class: "plane scroll", role: "group" });
const names = h("div", { class: "names", role: "group", "aria-label": "Classes" });
const view = new View(plane, draw);
let map = null;
let layout = null;
let groups = [];
let labels = [];
let lines = [];
let shown = "";

async function look() {
  if (!map) fill(byId("map"), h("p", { role: "status" }, "Laying out the map …"));
  const found = await trying(() => get("/api/map"), look);
  if (!found) return;
  map = found;
  byId("tools").hidden = map.prototypes.length === 0;
  if (!map.prototypes.length) {
    fill(byId("map"), nothingYet("No map yet.", "Teach something first"));
    return;
  }
  if (!plane.isConnected)
    fill(
      byId("map"),
      h("div", {}, plane, h("p", { class: "faint" }, HINT)),
      h("div", { class: "readout" }, readout, names),
    );
  const at = groups.indexOf(document.activeElement);
  build();
  place(Boolean(layout));
  const stop = groups[at] ?? plane.querySelector(".group"); // the largest comes first
  stopAt(stop);
  if (at >= 0) stop.focus();
  else show(stop);
  filter();
}

function build() {
  plane.setAttribute("aria-label", map.summary.replace(/prototype/, "group"));
  const of = new Map(map.labels.map((label, k) => [label, k]));
  groups = map.prototypes.map(({ label, support, examples }, i) => {
    const k = of.get(label);
    const image = picture(examples[0], label);
    image.loading = "eager";
    image.alt = `${label}, ${counted(support, "photo")}`;
    const group = h("button", { type: "button", class: "group", "data-i": i, "data-k": k, title: image.alt }, image);
    group.style.borderColor = map.colours[k];
    return group;
  });
  lines = map.edges.map(({ one, strength }) => {
    const k = of.get(map.prototypes[one].label);
    return svg("line", { "data-k": k, stroke: map.colours[k], "stroke-opacity": 0.35 + 0.5 * strength });
  });
  labels = map.labels.map((label, k) =>
    h("span", { class: "name", "data-k": k, "aria-hidden": "true" }, h("bdi", {}, label)),
  );
  const smallLast = [...groups].sort(
    (a, b) => map.prototypes[b.dataset.i].support - map.prototypes[a.dataset.i].support,
  );
  fill(plane, svg("svg", { class: "edges", "aria-hidden": "true" }, lines), smallLast, labels);
  fill(
    names,
    map.labels.map((label, k) => nameButton(label, k)),
  );
}

function place(keep) {
  if (!map?.prototypes.length || !plane.clientWidth) return;
  const before = placesBefore(map.prototypes);
  layout = layOut(map.prototypes, plane.clientWidth, plane.clientHeight, before);
  rememberPlaces(map.prototypes, before, layout);
  view.over(layout, keep);
}

function draw() {
  if (!layout) return;
  const { places } = layout;
  const seen = places.map((one) => view.seen(one));
  const thickness = Math.min(1, (places[0].side * view.zoom) / 70);
  groups.forEach((group, i) => {
    const side = places[i].side * view.zoom;
    group.style.width = group.style.height = `${side}px`;
    group.style.borderWidth = `${Math.max(THIN, Math.min(WIDE, side / 22))}px`;
    group.style.transform = `translate(${seen[i][0] - side / 2}px, ${seen[i][1] - side / 2}px)`;
  });
  map.edges.forEach(({ one, other }, i) => {
    const [from, to] = [seen[one], seen[other]];
    for (const [name, value] of Object.entries({
      x1: from[0],
      y1: from[1],
      x2: to[0],
      y2: to[1],
      "stroke-width": thickness * (1.5 + 4 * map.edges[i].strength),
    }))
      lines[i].setAttribute(name, value);
  });
  drawNames(seen);
}

/** The name of a class that is searched for goes first, then that of a larger class. */
function drawNames(seen) {
  const totals = map.labels.map(() => 0);
  const ofClass = map.labels.map(() => []);
  groups.forEach(({ dataset }, i) => {
    totals[dataset.k] += map.prototypes[i].support;
    ofClass[dataset.k].push(i);
  });
  for (const some of ofClass) some.sort((a, b) => map.prototypes[b].support - map.prototypes[a].support);
  const photos = seen.map(([x, y], i) => {
    const side = layout.places[i].side * view.zoom;
    return { left: x - side / 2, top: y - side / 2, width: side, height: side };
  });
  const order = [...labels].sort(
    ({ dataset: { k: a } }, { dataset: { k: b } }) => lit(b) - lit(a) || totals[b] - totals[a] || a - b,
  );
  placeNames(order, ({ dataset }) => ofClass[dataset.k], photos, plane);
}

const lit = (k) => Number(names.children[k].getAttribute("aria-pressed") === "true");

function show(group) {
  const { label, support, examples } = map.prototypes[group.dataset.i];
  for (const other of plane.querySelectorAll(".at")) other.classList.remove("at");
  group.classList.add("at");
  const key = `${label} ${support} ${examples}`;
  if (shown === key) return;
  shown = key;
  fill(
    readout,
    h("h2", {}, h("bdi", {}, label)),
    h("p", {}, counted(support, "photo"), support === 1 ? "" : " that look alike"),
    pictures(examples, label, { large: true, more: support - examples.length }),
  );
}

/** One stop of the Tab key for all groups; arrows go to the nearest one that way. */
function step(here, event) {
  if (KEYS[event.key] && !event.ctrlKey && !event.metaKey) view[KEYS[event.key]]();
  else if (WAYS[event.key] && event.shiftKey) view.panBy(...WAYS[event.key].map((way) => -way * PAN));
  else if (WAYS[event.key]) walk(here, WAYS[event.key]);
  else return;
  event.preventDefault();
}

function walk(here, way) {
  const from = layout.places[here.dataset.i];
  let nearest = null;
  let least = Infinity;
  for (const one of groups) {
    if (one.classList.contains("dim")) continue;
    const { x, y } = layout.places[one.dataset.i];
    const [dx, dy] = [x - from.x, y - from.y];
    const along = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (along <= 0 || aside > 2 * along || along + 2 * aside >= least) continue;
    [nearest, least] = [one, along + 2 * aside];
  }
  nearest?.focus();
}

function stopAt(group) {
  for (const one of groups) one.tabIndex = one === group ? 0 : -1;
}

function nameButton(label, k) {
  const dot = h("span", { class: "dot", "aria-hidden": "true" });
  dot.style.background = map.colours[k];
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
  if (!map?.prototypes.length) return;
  const asked = simple(byId("search").value);
  const exact = map.labels.some((label) => simple(label) === asked);
  const hit = ({ dataset }) => {
    const label = simple(map.labels[dataset.k]);
    return asked !== "" && (exact ? label === asked : label.includes(asked));
  };
  for (const mark of plane.querySelectorAll("[data-k]")) mark.classList.toggle("dim", asked !== "" && !hit(mark));
  for (const button of names.children) button.setAttribute("aria-pressed", String(hit(button)));
  byId("found").textContent = asked
    ? `${[...names.children].filter(hit).length} of ${names.children.length} found`
    : "";
  draw();
}

plane.addEventListener("focusin", (event) => {
  const group = event.target;
  stopAt(group);
  show(group);
  view.reveal(layout.places[group.dataset.i]);
});
plane.addEventListener("click", (event) => event.target.closest(".group")?.focus());
plane.addEventListener("keydown", (event) => event.target.matches(".group") && step(event.target, event));
new ResizeObserver(gathered(() => place(false), 100)).observe(plane);
for (const way of ["closer", "farther", "all"]) byId(way).addEventListener("click", () => view[way]());
byId("search").addEventListener("input", filter);
byId("find").addEventListener("submit", (event) => event.preventDefault());
onAny(["rebuilt", "changed", "anew"], gathered(look, 500));
look();

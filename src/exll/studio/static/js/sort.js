/** The Sort page: the photos of two classes side by side, moved from one to the other. */

import { get } from "./api.js";
import { byId, fill, gathered, h, nothingYet } from "./dom.js";
import { onAny } from "./events.js";
import { trying } from "./notice.js";
import { Shelf } from "./shelf.js";
import { photosOf } from "./words.js";

const DRAGGED = "application/x-exll-examples";
const given = new URLSearchParams(location.search);
let counts = new Map(); // in words, by class
let sides = [];

/** One side: the choice of a class, and its photos. */
class Side {
  constructor(name, label) {
    Object.assign(this, { name, label });
    this.select = h("select", { id: `${name}-class`, onchange: () => this.choose(this.select.value) });
    this.title = h("h2", { tabindex: -1 });
    this.body = h("div");
    const place = name === "left" ? "First class" : "Second class";
    this.element = h(
      "section",
      { class: "side", "data-side": name, "aria-label": place },
      h("div", { class: "field" }, h("label", { for: `${name}-class` }, place), this.select, this.title),
      this.body,
    );
    this.element.addEventListener("dragstart", (event) => this.drag(event));
    this.element.addEventListener("dragover", (event) => this.over(event));
    this.element.addEventListener("dragleave", () => this.element.classList.remove("over"));
    this.element.addEventListener("drop", (event) => this.drop(event));
    this.open();
  }

  get other() {
    return sides.find((side) => side !== this);
  }

  /** A class that is on the other side changes places with this one. */
  choose(label) {
    if (label === this.other.label) this.other.put(this.label);
    this.put(label);
    remember();
    drawAll();
  }

  put(label) {
    this.label = label;
    this.open();
  }

  open() {
    this.across = h("button", { type: "button", class: "primary", onclick: () => this.shelf.move(this.other.label) });
    this.shelf = new Shelf(this.label, {
      labels: () => [...counts.keys()],
      heading: this.title,
      extra: this.across,
      changed: () => this.selected(),
    });
    fill(this.body, this.shelf.element);
    this.shelf.load();
  }

  /** What is selected is on one side only. */
  selected() {
    if (this.shelf?.tiles.chosen.size) this.other?.shelf.tiles.chooseNone();
  }

  draw() {
    fill(
      this.select,
      [...new Set([...counts.keys(), this.label])].map((label) => h("option", { value: label, selected: label === this.label }, label)),
    );
    fill(
      this.title,
      h("bdi", { class: "unseen" }, this.label),
      h("span", { class: "count" }, counts.get(this.label) ?? "0 photos"),
    );
    const same = this.label === this.other.label;
    this.across.hidden = same;
    fill(this.across, "Move to ", h("bdi", {}, this.other.label));
  }

  /** One that is not selected is dragged alone. */
  drag(event) {
    const number = Number(event.target.closest?.("[data-id]")?.dataset.id);
    if (!number) return;
    const { tiles } = this.shelf;
    if (!tiles.chosen.has(number)) {
      tiles.chosen.clear();
      tiles.choose(number, true);
    }
    event.dataTransfer.setData(DRAGGED, this.name);
    event.dataTransfer.effectAllowed = "move";
  }

  over(event) {
    if (!event.dataTransfer.types.includes(DRAGGED) || this.label === this.other.label) return;
    event.preventDefault();
    this.element.classList.add("over");
  }

  drop(event) {
    this.element.classList.remove("over");
    if (event.dataTransfer.getData(DRAGGED) !== this.other.name) return;
    event.preventDefault();
    this.other.shelf.move(this.label);
  }
}

function remember() {
  const [left, right] = sides.map(({ label }) => encodeURIComponent(label));
  history.replaceState(null, "", `?left=${left}&right=${right}`);
}

function drawAll() {
  for (const side of sides) side.draw();
}

/** The classes asked for, or the one that is most confused with the other. */
function chosen(classes) {
  const labels = classes.map(({ label }) => label);
  const known = (label) => (labels.includes(label) ? label : null);
  const left = known(given.get("left")) ?? labels[0];
  const confused = known(classes.find(({ label }) => label === left).confused_with);
  const right = [known(given.get("right")), confused, ...labels].find((label) => label !== null && label !== left);
  return [left, right ?? left];
}

async function look() {
  const found = await trying(() => get("/api/classes"), look);
  if (!found) return;
  const { classes } = found;
  counts = new Map(classes.map((one) => [one.label, photosOf(one)]));
  if (!classes.length) {
    sides = [];
    fill(byId("sides"), nothingYet("No photos to sort yet.", "Teach two classes first"));
    return;
  }
  if (!sides.length) {
    const [left, right] = chosen(classes);
    sides = [new Side("left", left), new Side("right", right)];
    fill(
      byId("sides"),
      sides.map(({ element }) => element),
    );
  } else for (const side of sides) side.shelf.load();
  drawAll();
}

onAny(["changed", "rebuilt", "anew"], gathered(look, 300));
look();

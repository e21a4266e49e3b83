/** A grid of photos of which many can be selected: by clicks, with Shift for a range, and by keyboard. */

import { fill, h } from "./dom.js";
import { picture } from "./pictures.js";
import { openViewer } from "./viewer.js";
import { localTime } from "./words.js";

export class Tiles {
  /** @param {string} name @param {() => void} changed Called when others are selected. */
  constructor(name, changed) {
    Object.assign(this, { changed, numbers: [], chosen: new Set(), alike: new Map(), anchor: 0, at: 0 });
    this.tiles = new Map();
    this.element = h("ul", { class: "picks scroll", "aria-label": name, onkeydown: (event) => this.key(event) });
  }

  /** Draws what is new, takes away what is gone, and leaves selection and focus where they are.
   * @param {any[]} examples @param {number[][]} groups Of photos that are almost the same. */
  show(examples, groups) {
    const focused = this.element.contains(document.activeElement);
    this.alike = new Map(groups.flatMap((group, i) => group.map((number) => [number, letters(i)])));
    this.groups = groups;
    this.numbers = examples.map(({ id }) => id);
    const known = new Set(this.numbers);
    for (const number of this.tiles.keys()) if (!known.has(number)) this.tiles.delete(number);
    for (const number of this.chosen) if (!known.has(number)) this.chosen.delete(number);
    for (const example of examples) if (!this.tiles.has(example.id)) this.tiles.set(example.id, this.tile(example));
    const before = document.activeElement;
    fill(
      this.element,
      this.numbers.map((number) => this.tiles.get(number)),
    );
    if (focused && this.element.contains(before)) before.focus();
    else if (focused) this.focus(this.at);
    else this.stopAt(this.at);
    this.draw();
  }

  tile({ id, label, name, role, taught_at: taught }) {
    const box = h("input", { type: "checkbox", value: id, tabindex: -1, "aria-label": `Select photo ${id}, ${name}` });
    const open = h(
      "button",
      { type: "button", class: "large", tabindex: -1, "data-photo": id, "aria-label": `Open photo ${id} large` },
      "⤢",
    );
    const mark = h("span", { class: "alike", hidden: true });
    const tile = h(
      "li",
      { class: "pick", title: `${name}, taught ${localTime(taught)}`, "data-id": id, draggable: "true" },
      picture(id, label),
      box,
      mark,
      open,
    );
    if (role === "held out") tile.append(h("span", { class: "held-out" }, "held out"));
    open.addEventListener("click", () => this.open(id));
    box.addEventListener("focus", () => this.stopAt(this.numbers.indexOf(id)));
    tile.addEventListener("dblclick", (event) => event.target !== open && this.open(id));
    tile.addEventListener("click", (event) => {
      if (event.target === open) return;
      this.choose(id, event.target === box ? box.checked : !this.chosen.has(id), event.shiftKey);
      box.focus();
    });
    return tile;
  }

  open(number) {
    return openViewer(number, { list: this.numbers });
  }

  /** Select one, or with `range` all from the last one that was clicked. */
  choose(number, on, range = false) {
    const i = this.numbers.indexOf(number);
    const [from, to] = range ? [this.anchor, i].sort((a, b) => a - b) : [i, i];
    for (const one of this.numbers.slice(from, to + 1)) this.set(one, range || on);
    if (!range) this.anchor = i;
    this.draw();
  }

  set(number, on) {
    if (on) this.chosen.add(number);
    else this.chosen.delete(number);
  }

  chooseAll() {
    const all = this.chosen.size < this.numbers.length;
    this.chosen = new Set(all ? this.numbers : []);
    this.draw();
  }

  chooseNone() {
    if (!this.chosen.size) return;
    this.chosen.clear();
    this.draw();
  }

  /** Of each group all but one, which stays: its first. */
  chooseAlike() {
    this.chosen = new Set(this.groups.flatMap((group) => group.slice(1)).filter((number) => this.tiles.has(number)));
    this.draw();
  }

  draw() {
    for (const [number, tile] of this.tiles) {
      tile.querySelector("input").checked = this.chosen.has(number);
      const mark = tile.querySelector(".alike");
      const group = this.alike.get(number);
      mark.hidden = group === undefined;
      mark.textContent = `look-alike ${group}`;
    }
    this.changed();
  }

  key(event) {
    const i = this.numbers.indexOf(Number(event.target.value));
    if (!event.target.matches("input")) return;
    if (event.key === "Enter") this.open(this.numbers[i]);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) this.chooseAll();
    else {
      const to = this.neighbour(i, event.key);
      if (to === undefined) return;
      if (event.shiftKey) {
        this.anchor = this.chosen.size ? this.anchor : i;
        this.choose(this.numbers[to], true, true);
      }
      this.focus(to);
    }
    event.preventDefault();
  }

  neighbour(i, key) {
    const { gridAutoFlow, gridTemplateColumns: columns, gridTemplateRows: rows } = getComputedStyle(this.element);
    const isStrip = gridAutoFlow.startsWith("column"); // as on the Sort page of a phone
    const [across, down] = isStrip ? [rows.split(" ").length, 1] : [1, columns.split(" ").length];
    const ways = {
      ArrowRight: i + across,
      ArrowLeft: i - across,
      ArrowDown: i + down,
      ArrowUp: i - down,
      Home: 0,
      End: this.numbers.length - 1,
    };
    return this.numbers[ways[key]] === undefined ? undefined : ways[key];
  }

  /** Where the first of the selected is: what follows it will be there when it is gone. */
  get first() {
    return Math.max(0, Math.min(...[...this.chosen].map((number) => this.numbers.indexOf(number))));
  }

  /** Says whether there was anything to go to. */
  focus(i) {
    this.stopAt(i);
    const box = this.boxAt(this.at);
    box?.focus();
    return Boolean(box);
  }

  stopAt(i) {
    this.boxAt(this.at)?.setAttribute("tabindex", "-1");
    this.at = Math.max(0, Math.min(i, this.numbers.length - 1));
    for (const tile of this.tiles.values()) tile.querySelector("input").tabIndex = -1;
    this.boxAt(this.at)?.setAttribute("tabindex", "0");
  }

  boxAt(i) {
    return this.tiles.get(this.numbers[i])?.querySelector("input");
  }
}

/** A, B, ... Z, AA, AB: a number would read like a count. */
const letters = (i) => (i < 26 ? "" : letters(Math.floor(i / 26) - 1)) + String.fromCharCode(65 + (i % 26));

/** The classes of the Workbench: find them, name new ones, choose the one that is taught. */

import { askExisting } from "./class_choice.js";
import { ClassRow } from "./class_row.js";
import { askLabel, nameMeant } from "./dialogs.js";
import { byId, fill, h, quoted } from "./dom.js";
import { say } from "./notice.js";
import { adviceWords, weakest } from "./progress.js";
import { hasWords } from "./words.js";

const NAMED = `named classes ${document.body.dataset.project}`; // named, but without a photo yet: the server does not know them
const SEARCHED_FROM = 9;
const ONCE = "record by two presses";

const remembered = () => JSON.parse(sessionStorage.getItem(NAMED) ?? "[]");
const remember = (labels) => sessionStorage.setItem(NAMED, JSON.stringify(labels));

export class ClassList {
  /** @param {{record: (row: ClassRow) => void, stop: () => void, changed: () => void}} on */
  constructor(on) {
    /** @type {Map<string, ClassRow>} */
    this.rows = new Map();
    this.selected = null;
    this.classes = []; // what /api/classes said of them
    this.on = on;
    const once = byId("once");
    once.checked = localStorage.getItem(ONCE) === "true";
    this.once = () => once.checked;
    once.addEventListener("change", () => {
      localStorage.setItem(ONCE, String(once.checked));
      on.stop();
      for (const row of this.rows.values()) row.recording(null);
    });
    byId("search").addEventListener("input", () => this.find());
    byId("find").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.found().length) this.goTo(this.found()[0]);
    });
    byId("new-class").addEventListener("submit", (event) => {
      event.preventDefault();
      this.name(byId("new-label"));
    });
    byId("chip-add").addEventListener("click", async () => this.add((await askLabel("New class", [], { known: this.labels(), yes: "Add" })) ?? ""));
    byId("chip-find").addEventListener("click", async () => {
      const label = await askExisting("Find a class", this.labels(), { yes: "Choose" });
      if (label) this.goTo(this.row(label));
    });
    byId("rows").addEventListener("keydown", (event) => this.step(event));
  }

  labels() {
    return [...this.rows.keys()];
  }

  row(label) {
    if (!this.rows.has(label)) {
      const row = new ClassRow(label, {
        labels: () => this.labels(),
        once: this.once,
        select: () => this.select(row),
        record: () => this.on.record(row),
        stop: () => this.on.stop(),
      });
      this.rows.set(label, row);
      byId("rows").append(row.element);
    }
    return this.rows.get(label);
  }

  select(row) {
    this.selected?.select(false);
    this.selected = row;
    row?.select(true);
    this.rove();
  }

  /** Of many classes only one is on the way of the Tab key: the chosen one, or the first that is found. */
  rove() {
    const found = this.found();
    const stop = found.includes(this.selected) ? this.selected : found[0];
    for (const row of this.rows.values()) row.reachable(row === stop);
  }

  found() {
    return [...this.rows.values()].filter(({ element }) => !element.hidden);
  }

  /** Arrow keys go from class to class, and stay on the same button. */
  step(event) {
    const found = this.found();
    const at = found.findIndex(({ element }) => element.contains(event.target));
    const last = found.length - 1;
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (to < 0 || to > last || to === at) return;
    this.goTo(found[to], found[at].buttons.indexOf(event.target));
  }

  /** Select a class and bring it into view. */
  goTo(row, button = row.buttons.indexOf(row.hold)) {
    this.select(row);
    row.element.scrollIntoView({ block: "nearest", inline: "center" });
    const wanted = row.buttons[button] ?? row.name;
    (wanted.disabled ? row.name : wanted).focus({ preventScroll: true });
  }

  async name(input) {
    const label = await nameMeant(input.value, this.labels());
    if (!label) return input.focus();
    input.value = "";
    this.add(label);
  }

  add(typed) {
    const label = typed.trim().replace(/\s+/g, " ").normalize("NFC");
    if (!label) return;
    if (!this.rows.has(label)) remember([...remembered(), label]);
    const row = this.row(label);
    byId("search").value = "";
    this.find();
    this.goTo(row);
    this.help();
    this.welcome();
    say(`${label}: hold the button to record, or add photos.`);
    this.on.changed();
  }

  /** @param {Record<string, number>} counts Photos of every class that has some: those need not be remembered. */
  count(counts) {
    for (const [label, count] of Object.entries(counts)) this.row(label).count(count);
    remember(remembered().filter((label) => !(label in counts)));
  }

  /** @param {any} answer Of /api/classes. */
  show({ classes }) {
    const taught = new Set(classes.map(({ label }) => label));
    const named = remembered().filter((label) => !taught.has(label));
    remember(named);
    for (const one of classes) this.row(one.label).show(one);
    for (const label of named) this.row(label);
    for (const [label, row] of this.rows) if (!taught.has(label) && !named.includes(label)) this.remove(row);
    if (!this.selected && this.rows.size) this.select([...this.rows.values()][0]);
    this.classes = classes;
    this.help();
    this.find();
    this.welcome(classes.filter(({ examples }) => examples > 0).length);
    this.on.changed();
  }

  remove(row) {
    if (row.element.contains(document.activeElement)) byId("new-label").focus();
    if (row === this.selected) this.select(null);
    row.element.remove();
    this.rows.delete(row.label);
  }

  /** What to do next, also for classes that were only named so far. */
  help() {
    const named = remembered().map((label) => ({ label, examples: 0, verdict: "too early to tell" }));
    const classes = [...this.classes, ...named];
    const taught = classes.filter(({ examples }) => examples > 0);
    const found = taught.length > 1 && weakest(taught);
    const button = found && h("button", { type: "button", class: "link", onclick: () => this.goTo(this.row(found.label)) }, h("bdi", {}, found.label));
    fill(byId("help"), ...(found ? ["What would help most: ", button, ". ", ...adviceWords(found)] : overall(classes)));
  }

  find() {
    byId("find").hidden = byId("chip-find").hidden = this.rows.size < SEARCHED_FROM;
    const typed = byId("search").value.trim();
    for (const [label, { element }] of this.rows) element.hidden = !hasWords(label, typed);
    this.rove();
    byId("found").textContent = typed && `${this.found().length} of ${this.rows.size} found`;
  }

  /** The way of the first minute, until there are two classes with photos. */
  welcome(taught = this.taught ?? 0) {
    this.taught = taught;
    const within = byId("start").contains(document.activeElement); // on "Try the sample"
    byId("start").hidden = taught > 1;
    if (within && taught > 1) this.selected.name.focus();
    byId("start").classList.toggle("begun", this.rows.size > 0);
    const step = this.rows.size === 0 ? 0 : taught === 0 ? 1 : 2;
    [...byId("start").querySelectorAll("ol > li")].forEach((item, i) => {
      item.classList.toggle("done", i < step);
      if (i === step) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }
}

function overall(classes) {
  if (!classes.length) return ["Name the first class, then show it."];
  const empty = classes.find(({ examples }) => !examples);
  if (classes.length === 1 && !empty) return ["Next: teach a second class. So far every answer is ", quoted(classes[0].label), "."];
  return empty ? ["Next: show ", quoted(empty.label), "."] : ["Every class seems to have enough photos."];
}

/** A photo large, in a dialog: what it is, the others of its list, and regions of it that can be taught. */

import { address, get, postForm, postJson } from "./api.js";
import { classField } from "./class_choice.js";
import { askLabel, showDialog } from "./dialogs.js";
import { byId, fill, gathered, h, quoted } from "./dom.js";
import { trying } from "./notice.js";
import { marked, Region } from "./region.js";
import { tellStep, undoStep } from "./undo.js";
import { localTime } from "./words.js";

const WAYS = { ArrowRight: 1, ArrowLeft: -1 };
const HINT = "Draw with the mouse or a finger. Or: arrow keys move the region, Shift and arrow keys resize it.";

/**
 * @param {number | {id: number} | {file: Blob & {name?: string}, blob?: Blob}} shown A taught photo, or one that is not.
 * @param {{list?: number[]}} [options] The photos to go on to.
 */
export async function openViewer(shown, { list = [] } = {}) {
  const number = typeof shown === "number" ? shown : shown.id;
  let viewer = null;
  await showDialog("Photo", (close) => {
    viewer = number ? new TaughtPhoto(number, list, close) : new NewPhoto(shown);
    return viewer.element;
  });
  viewer.end();
  // The page may have been drawn anew meanwhile, without the button that opened this.
  if (document.activeElement === document.body) lookedAt(viewer.number, number).focus();
}

const lookedAt = (...numbers) =>
  numbers.map((number) => document.querySelector(`[data-photo="${number}"]`)).find(Boolean) ?? byId("main");

/** What both kinds of photos have: the photo itself and the tool for regions. */
class Viewer {
  constructor() {
    this.image = h("img", { alt: "" });
    this.marks = h("div", { class: "marks" });
    this.shot = h("div", { class: "shot" }, this.image, this.marks);
    this.status = h("p", { class: "did", role: "status" });
    this.facts = h("div", { class: "facts" });
    this.acts = h("span", { class: "row" });
    this.links = h("p", { class: "row links" });
    this.drawing = h("button", { type: "button", onclick: () => this.toggle() }, "Draw a region");
    this.field = classField("Teach this region as", (label) => this.teach(label));
    this.teaching = h("div", { class: "teaching", hidden: true }, this.field.element, h("p", { class: "faint" }, HINT));
    this.suggestSoon = gathered(() => this.suggest(), 150);
    this.element = h(
      "div",
      { class: "viewer" },
      h("div", { class: "stage-large" }, this.shot),
      h(
        "div",
        { class: "side" },
        this.status,
        this.facts,
        this.teaching,
        h("div", { class: "row acts" }, this.acts, this.drawing),
        this.links,
      ),
    );
    this.region = null;
    this.image.addEventListener("load", () => this.fit());
  }

  /** As large as there is room, small photos too. */
  fit() {
    const shape = this.image.naturalWidth / this.image.naturalHeight;
    this.shot.style.width = `min(100%, calc(var(--tall) * ${shape}))`;
    this.shot.style.aspectRatio = String(shape);
  }

  end() {}

  /** A photo that this browser cannot show cannot be drawn on. */
  show(url, name) {
    this.image.onerror = () => {
      this.drawing.hidden = true;
      this.status.textContent = "This browser cannot show this photo.";
    };
    this.drawing.hidden = false;
    this.image.alt = name;
    this.image.src = url;
  }

  async toggle() {
    if (this.region) {
      this.stop();
      return;
    }
    if (this.opening) return;
    const { number } = this;
    this.opening = true;
    const found = await trying(() => get("/api/classes"));
    this.opening = false;
    if (!found || number !== this.number) return; // the reader has gone on
    this.drawing.textContent = "Stop drawing";
    this.element.classList.add("drawing");
    this.region = new Region(this.image, this.suggestSoon);
    this.shot.append(this.region.element);
    this.teaching.hidden = false;
    this.labels = found.classes.map(({ label }) => label);
    this.field.show(this.labels);
    if (!this.image.complete) await this.image.decode().catch(() => null); // it has no size before
    this.region?.start();
  }

  stop() {
    this.region?.element.remove();
    this.region = null;
    this.drawing.textContent = "Draw a region";
    this.element.classList.remove("drawing");
    this.teaching.hidden = true;
    this.status.textContent = "";
  }

  /** The most probable classes first. Without an answer they stay as they are. */
  async suggest() {
    const { region } = this;
    if (!region || !this.image.naturalWidth || !this.labels.length) return;
    const sides = region.sides;
    const asked = { file: await region.cut(), all_classes: true, inbox: false };
    const shares = (await postForm("/api/predict", asked).catch(() => null))?.probabilities;
    if (!shares || region !== this.region || region.sides !== sides) return; // another place is asked about by now
    this.field.show([...this.labels].sort((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0)), shares);
  }

  async teach(label) {
    const { region } = this;
    if (!region || this.sending) return;
    const { box, sides } = region;
    const { value: typed } = this.field.input;
    this.sending = true;
    const answer = await trying(async () =>
      postForm("/api/teach", { label, box: box.join(), two_labels: true, files: [await this.file()] }),
    );
    this.sending = false;
    if (!answer) return;
    const [{ status }] = answer.results;
    if (region !== this.region) {
      tellStep(`Taught the region as "${label}".`, answer.step); // drawing has ended meanwhile
      return;
    }
    const mark = marked(sides, label);
    this.marks.append(mark);
    if (!this.labels.includes(label)) this.labels.push(label);
    if (this.field.input.value === typed) this.field.input.value = "";
    this.field.show(this.labels);
    if (region.sides === sides) region.start(); // else the next one is drawn already
    else this.suggestSoon();
    const words = [status === "taught" ? "Taught the region as " : "This region was taught before as ", quoted(label), "."];
    if (status === "taught") this.done(words, answer.step, () => mark.remove());
    else fill(this.status, h("span", {}, words));
  }

  /** Says what was done, with a button that takes it back. */
  done(words, step, back) {
    const undo = async () => {
      if (!(await undoStep(step))) return;
      await back();
      this.status.textContent = "Undone.";
      this.rest();
    };
    fill(this.status, h("span", { "data-step": step }, words, " ", this.action("Undo", undo, "quiet")));
  }

  action(words, run, kind = "") {
    return h("button", { type: "button", class: kind, onclick: run }, words);
  }

  rest() {
    (this.region?.frame ?? this.drawing).focus();
  }
}

/** A file that was not taught. */
class NewPhoto extends Viewer {
  constructor({ file, blob = file }) {
    super();
    this.blob = blob;
    this.name = file?.name ?? "camera.jpg";
    this.url = URL.createObjectURL(blob);
    this.show(this.url, this.name);
    fill(this.facts, h("h3", {}, h("bdi", {}, this.name)));
    this.toggle();
  }

  file() {
    return this.blob.name ? this.blob : new File([this.blob], this.name, { type: this.blob.type });
  }

  end() {
    URL.revokeObjectURL(this.url);
  }
}

/** A photo that was taught, and the others of its list. */
class TaughtPhoto extends Viewer {
  constructor(number, list, close) {
    super();
    Object.assign(this, { close, list: list.includes(number) ? [...list] : [number], number });
    this.place = h("span", { class: "faint" });
    this.steps = h("div", { class: "row steps" }, this.way("Previous", -1), this.way("Next", 1), this.place);
    this.element.querySelector(".side").prepend(this.steps);
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.region) {
        event.preventDefault(); // only the drawing ends
        this.stop();
        this.drawing.focus();
        return;
      }
      if (!WAYS[event.key] || event.target.matches("input, select") || event.altKey) return;
      event.preventDefault();
      this.step(WAYS[event.key]);
    });
    this.load();
  }

  way(words, by) {
    return h("button", { type: "button", "data-first": by > 0, onclick: () => this.step(by) }, words);
  }

  step(by) {
    const i = (this.list.indexOf(this.number) + by + this.list.length) % this.list.length;
    if (this.list[i] !== this.number) this.go(this.list[i]);
  }

  go(number) {
    this.stop();
    this.marks.replaceChildren();
    this.number = number;
    return this.load();
  }

  async load() {
    const { number } = this;
    const example = await trying(() => get(`/api/examples/${number}`));
    if (!example || number !== this.number) return; // the reader has gone on
    this.example = example;
    this.steps.hidden = this.list.length < 2;
    this.place.textContent = `${this.list.indexOf(number) + 1} of ${this.list.length}`;
    this.draw(example);
    if (document.activeElement === document.body) this.rest(); // the button that was pressed was drawn anew
  }

  draw(example) {
    const { label, name, taught_at: taught, whole, box, role } = example;
    const heldOut = role === "held out";
    this.url = address(whole ?? example.image);
    this.image.onload = () => box && this.mark(box, label);
    this.show(this.url, `${label || "none of the classes"}, photo ${example.id}`);
    fill(
      this.facts,
      h("h3", {}, label ? h("bdi", {}, label) : "None of the classes"),
      h(
        "p",
        { class: "faint" },
        h("bdi", {}, name),
        `, taught ${localTime(taught)}`,
      ),
      box && h("p", {}, "A region of a larger photo."),
      heldOut && h("p", {}, "Held out: it is used for measuring and was not learned."),
      example.deleted && h("p", {}, "This photo was deleted."),
    );
    fill(this.acts, !example.deleted && this.actions(label, heldOut));
    fill(
      this.links,
      label && h("a", { href: address(`/classes?class=${encodeURIComponent(label)}`) }, "See its class"),
      label && h("a", { href: address(`/sort?left=${encodeURIComponent(label)}`) }, "Compare with another class"),
    );
  }

  actions(label, heldOut) {
    return [
      this.action("Move to another class", () => this.move()),
      label && this.action(heldOut ? "Learn from it" : "Hold out", () => this.holdOut(!heldOut)),
      this.action("Delete", () => this.change("/api/examples/delete", {}, "Deleted."), "danger"),
    ];
  }

  /** Where in the whole photo it lies. */
  mark(box, label) {
    const { naturalWidth: width, naturalHeight: height } = this.image;
    const sides = box.split(",").map((side, i) => Math.min(1, Number(side) / (i % 2 ? height : width)));
    this.marks.replaceChildren(marked(sides, label));
  }

  async move() {
    const found = await trying(() => get("/api/classes"));
    if (!found) return;
    const others = found.classes.map(({ label }) => label).filter((label) => label !== this.example.label);
    const label = await askLabel("What is it?", others, { yes: "Move" });
    if (label) await this.change("/api/examples/relabel", { label }, `Moved to "${label}".`);
  }

  async holdOut(heldOut) {
    const answer = await trying(() => postJson("/api/examples/hold-out", { ids: [this.number], held_out: heldOut }));
    if (!answer) return;
    await this.load();
    this.done(heldOut ? "Held out: it is used for measuring only." : "Learned.", answer.step, () => this.load());
    this.acts.children[1]?.focus();
  }

  /** What was changed leaves the list, and the next one is shown. */
  async change(path, more, words) {
    const { number } = this;
    const answer = await trying(() => postJson(path, { ids: [number], ...more }));
    if (!answer) return;
    const i = this.list.indexOf(number);
    this.list.splice(i, 1);
    if (!this.list.length) {
      this.close();
      tellStep(words, answer.step);
      return;
    }
    await this.go(this.list[Math.min(i, this.list.length - 1)]);
    this.done(words, answer.step, () => {
      this.list.splice(i, 0, number);
      return this.go(number);
    });
  }

  rest() {
    if (this.region || this.steps.hidden) super.rest();
    else this.steps.children[1].focus();
  }

  async file() {
    const response = await fetch(this.url);
    return new File([await response.blob()], this.example.name);
  }
}

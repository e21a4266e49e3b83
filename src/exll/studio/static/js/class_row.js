/** A class on the Workbench: its count, its newest photos, what would help most, and every way to add photos. */

import { fill, h } from "./dom.js";
import { onDrop, pick } from "./dropzone.js";
import { showGallery } from "./gallery.js";
import { photo } from "./pictures.js";
import { adviceWords } from "./progress.js";
import { holdable } from "./recorder.js";
import { teach } from "./queue.js";

const NOTED = 8000; // milliseconds
const SHOWN = 4; // places for photos: nothing moves when one comes

export class ClassRow {
  /**
   * @param {string} label
   * @param {{labels: () => string[], once: () => boolean, select: () => void, record: () => void, stop: () => void}} on
   */
  constructor(label, on) {
    Object.assign(this, { label, on, newest: [], key: null, found: null, noting: 0 });
    this.number = h("strong", {}, "0");
    this.noun = h("span", {}, " photos");
    this.thumbs = h("ul", { class: "thumbs" });
    this.words = h("p", { class: "advice" });
    this.hold = button("", null, "hold");
    this.all = button("See all", () => showGallery(label, on.labels), "quiet", `See all photos of ${label}`);
    this.name = h("button", { type: "button", class: "name", "aria-pressed": "false", onclick: on.select }, h("bdi", {}, label));
    const add = button("Add photos", () => this.pick(), "", `Add photos of ${label}`);
    this.buttons = [this.name, this.hold, add, this.all];
    this.element = h(
      "li",
      { class: "card", "data-label": label },
      h("div", { class: "who" }, h("h3", {}, this.name), h("p", { class: "count" }, this.number, this.noun)),
      this.words,
      this.thumbs,
      h(
        "div",
        { class: "acts" },
        this.hold,
        add,
        this.all,
      ),
    );
    this.ended = holdable(this.hold, on.once, { start: on.record, stop: on.stop });
    onDrop(this.element, (found) => this.teach(found.map(({ file }) => file)));
    this.recording(null);
    this.show({ examples: 0, newest: [] });
  }

  teach(files) {
    this.on.select();
    teach(this.label, files);
  }

  async pick() {
    this.on.select();
    const found = await pick();
    if (found.length) this.teach(found.map(({ file }) => file));
  }

  select(selected) {
    this.name.setAttribute("aria-pressed", String(selected));
    this.element.classList.toggle("selected", selected);
  }

  /** @param {boolean} reachable By the Tab key. */
  reachable(reachable) {
    for (const button of this.buttons) button.tabIndex = reachable ? 0 : -1;
  }

  /** @param {number | null} frames So far; null while nothing is recorded. */
  recording(frames) {
    this.element.classList.toggle("recording", frames !== null);
    const words = this.on.once() ? "Record" : "Hold to record";
    this.hold.textContent = frames === null ? words : `Recording ${frames}`;
    this.hold.setAttribute("aria-label", frames === null ? `${words} ${this.label}` : `Recording ${frames} of ${this.label}`);
    if (frames === null) this.ended?.();
  }

  /** @param {any} found What /api/classes says of it. */
  show(found) {
    this.found = found;
    this.count(found.examples);
    this.see(found.newest);
  }

  /** Say something for a while where the advice is: nothing moves. On a phone there is no room for it.
   * @returns {boolean} Whether it is seen. */
  note(words) {
    clearTimeout(this.noting);
    fill(this.words, words);
    this.noting = setTimeout(() => {
      this.noting = 0;
      this.count(this.found.examples);
    }, NOTED);
    return this.words.checkVisibility();
  }

  /** What would help is known a moment after the count. */
  advise(examples) {
    if (this.noting) return;
    const early = examples > 0 && !this.found.examples;
    fill(this.words, early ? "Too early to tell." : adviceWords({ ...this.found, examples }));
    this.words.title = this.words.textContent;
  }

  count(examples) {
    this.number.textContent = examples.toLocaleString("en");
    this.noun.textContent = examples === 1 ? " photo" : " photos";
    const none = examples + (this.found?.held_out ?? 0) === 0;
    this.all.classList.toggle("none", none); // its place is kept: nothing may move
    this.all.disabled = none;
    this.advise(examples);
  }

  /** New photos come in front, in as many places as before. */
  add(numbers) {
    this.see([...[...numbers].reverse(), ...this.newest]);
  }

  /** Opens large. By keyboard, photos are reached by "See all": four stops per class would be too many. */
  thumb(number) {
    const button = photo(number, this.label, { list: this.newest });
    button.tabIndex = -1;
    return button;
  }

  see(numbers) {
    this.newest = numbers.slice(0, SHOWN);
    const key = this.newest.join();
    if (key === this.key) return;
    this.key = key;
    const known = new Map([...this.thumbs.children].map((item) => [item.dataset.number, item]));
    fill(
      this.thumbs,
      Array.from({ length: SHOWN }, (_, i) => this.newest[i]).map((number) =>
        number === undefined
          ? h("li", { class: "none" })
          : (known.get(String(number)) ?? h("li", { "data-number": number }, this.thumb(number))),
      ),
    );
  }
}

const button = (words, onclick, kind, name) =>
  h("button", { type: "button", class: kind, "aria-label": name, ...(onclick && { onclick }) }, words);

/** A class on the Teach page: its counter, its newest pictures, and every way to add more. */

import { toggleCamera } from "./camera_panel.js";
import { onDrop, pick } from "./dropzone.js";
import { fill, h, quoted } from "./dom.js";
import { showGallery } from "./gallery.js";
import { picture } from "./pictures.js";
import { teach } from "./queue.js";

export class ClassCard {
  /** @param {string} label @param {() => string[]} labels */
  constructor(label, labels) {
    this.label = label;
    this.number = h("strong", {}, "0");
    this.noun = h("span", {}, " pictures");
    this.thumbs = h("ul", { class: "thumbs" });
    this.words = h("p", { class: "faint" });
    this.all = button("See all", () => showGallery(label, labels), `See all pictures of ${label}`);
    const slot = h("div");
    const camera = button(
      "Camera",
      () => toggleCamera(label, slot, camera, (frames) => this.teach(frames)),
      `Camera for ${label}`,
    );
    camera.setAttribute("aria-pressed", "false");
    this.element = h(
      "li",
      { class: "card", "data-label": label },
      h("div", { class: "head" }, h("h2", {}, h("bdi", {}, label)), h("p", { class: "count" }, this.number, this.noun)),
      this.thumbs,
      this.words,
      h(
        "div",
        { class: "row" },
        button("Add photos", () => this.pick(), `Add photos of ${label}`),
        camera,
        this.all,
      ),
      slot,
    );
    onDrop(this.element, (found) => this.teach(found.map(({ file }) => file)));
    this.show(0, []);
  }

  teach(files) {
    return teach(
      this.label,
      files.map((file, i) => (file.name ? file : new File([file], `camera ${i + 1}.jpg`, { type: file.type }))),
    );
  }

  async pick() {
    const found = await pick();
    if (found.length) this.teach(found.map(({ file }) => file));
  }

  /** @param {number} examples @param {number[]} newest @param {any} [progress] */
  show(examples, newest, progress = "") {
    this.count(examples);
    this.all.hidden = examples === 0;
    const key = newest.join();
    if (key !== this.key)
      fill(
        this.thumbs,
        newest.map((number) => h("li", {}, picture(number, this.label))),
      );
    this.key = key;
    if (examples) fill(this.words, progress);
    else fill(this.words, "Drop photos of ", quoted(this.label), " here, or show it to the camera.");
  }

  count(examples) {
    this.number.textContent = examples.toLocaleString("en");
    this.noun.textContent = examples === 1 ? " picture" : " pictures";
  }
}

const button = (words, onclick, name) => h("button", { type: "button", "aria-label": name, onclick }, words);

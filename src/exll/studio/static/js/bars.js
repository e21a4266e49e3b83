/**
 * A bar for every class. A press on one says "it is this". A few classes have their own order, and nothing moves. Of more,
 * the likeliest are on top; they are ordered again only where they must be, and never under the mouse or a finger.
 */

import { byId, fill, h, pointedAt } from "./dom.js";
import { confidence } from "./words.js";

const FEW = 6; // up to so many classes are all in view
const MOST = 8; // so many are shown where there are more
const TOP = 4; // the best class must be among the first so many, and each that has a good chance
const GOOD = 0.2;
const REST = 1500; // milliseconds from one order to the next, at least

export class Bars {
  /** @param {(label: string) => void} pressed */
  constructor(pressed) {
    Object.assign(this, { pressed, labels: [], bars: new Map(), order: [], ordered: 0, all: false, probabilities: {} });
    this.element = byId("bars");
    this.pointed = pointedAt(this.element, () => this.draw());
    this.toggle = byId("all-bars");
    this.toggle.addEventListener("click", () => {
      this.all = !this.all;
      this.draw();
    });
  }

  /** @param {string[]} labels Of all classes, in their order. */
  know(labels) {
    this.labels = labels;
    for (const label of this.bars.keys()) if (!labels.includes(label)) this.bars.delete(label);
    fill(byId("labels"), labels.map((label) => h("option", { value: label })));
    this.draw();
  }

  /** @param {Record<string, number>} probabilities @param {any} prediction */
  show(probabilities, prediction) {
    this.probabilities = probabilities;
    this.prediction = prediction;
    this.draw();
  }

  /** Another photo: the next answer orders the bars anew. */
  renew() {
    this.order = [];
  }

  clear() {
    this.renew();
    this.prediction = null;
    this.probabilities = {};
    this.draw();
  }

  draw() {
    const now = this.visible();
    const items = now.map((label) => this.bar(label).item);
    if (items.some((item, i) => this.element.children[i] !== item) || this.element.children.length !== items.length)
      this.place(items);
    for (const label of now) this.update(label);
    this.element.classList.toggle("idle", !this.prediction);
    this.element.classList.toggle("unknown", this.prediction?.level === "unknown");
    this.toggle.hidden = this.labels.length <= MOST;
    this.toggle.setAttribute("aria-expanded", String(this.all));
    this.toggle.textContent = this.all ? `Show the likeliest ${MOST}` : `Show all ${this.labels.length} classes`;
  }

  /** A button that has the focus keeps it. */
  place(items) {
    const focused = document.activeElement;
    const within = this.element.contains(focused);
    this.element.replaceChildren(...items);
    if (within) (focused.isConnected ? focused : (items[0]?.firstChild ?? this.toggle)).focus({ preventScroll: true });
  }

  bar(label) {
    if (!this.bars.has(label)) {
      const fill = h("span", { class: "fill" });
      const share = h("span", { class: "share" });
      const button = h(
        "button",
        { type: "button", class: "guess", "data-label": label, title: `Teach it as ${label}`, onclick: () => this.pressed(label) },
        h("span", { class: "unseen" }, "It is "),
        h("bdi", {}, label),
        share,
        h("span", { class: "track", "aria-hidden": "true" }, fill),
      );
      this.bars.set(label, { item: h("li", {}, button), fill, share, button });
    }
    return this.bars.get(label);
  }

  update(label) {
    const { fill, share, button } = this.bars.get(label);
    const probability = this.probabilities[label] ?? 0;
    fill.style.width = `${100 * probability}%`;
    share.textContent = this.prediction ? confidence(probability) : "";
    button.classList.toggle("best", this.prediction?.label === label);
  }

  visible() {
    if (this.labels.length <= FEW) return this.labels;
    if (this.prediction) this.sort();
    const ordered = this.prediction ? this.order : this.labels;
    return this.all ? ordered : ordered.slice(0, MOST);
  }

  sort() {
    const share = (label) => this.probabilities[label] ?? 0;
    const ranked = [...this.labels].sort((one, other) => share(other) - share(one));
    const kept = this.order.filter((label) => this.labels.includes(label));
    const top = kept.slice(0, TOP);
    const good = ranked.filter((label, i) => i === 0 || share(label) >= GOOD);
    const inView = this.prediction.level === "unknown" || good.every((label) => top.includes(label));
    const rests = performance.now() - this.ordered < REST;
    if (kept.length && (inView || this.pointed() || rests)) {
      this.order = [...kept, ...ranked.filter((label) => !kept.includes(label))];
    } else {
      this.order = ranked;
      this.ordered = performance.now();
    }
  }
}

/** A bar for every class, in the order of the classes, so that none jumps. A press on one says "it is this". */

import { byId, fill, h } from "./dom.js";

const MOST = 12; // so many are shown where there are more
const COMES_IN = 0.02; // a class that is not shown comes in with at least this probability

export class Bars {
  /** @param {(label: string) => void} pressed */
  constructor(pressed) {
    Object.assign(this, { pressed, labels: [], bars: new Map(), shown: new Set(), all: false, probabilities: {} });
    this.element = byId("bars");
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

  clear() {
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
        h("span", { class: "track", "aria-hidden": "true" }, fill),
        share,
      );
      this.bars.set(label, { item: h("li", {}, button), fill, share, button });
    }
    return this.bars.get(label);
  }

  update(label) {
    const { fill, share, button } = this.bars.get(label);
    const probability = this.probabilities[label] ?? 0;
    fill.style.width = `${100 * probability}%`;
    share.textContent = this.prediction ? `${Math.min(99, Math.round(100 * probability))}%` : "";
    button.classList.toggle("best", this.prediction?.label === label);
  }

  /** With many classes, those that were likely stay until a likelier one needs the place. */
  visible() {
    if (this.all || this.labels.length <= MOST) return this.labels;
    const share = (label) => this.probabilities[label] ?? 0;
    const ranked = [...this.labels].sort((one, other) => share(other) - share(one));
    for (const label of this.shown) if (!this.labels.includes(label)) this.shown.delete(label);
    for (const label of ranked) {
      if (this.shown.has(label)) continue;
      if (this.shown.size < MOST) this.shown.add(label);
      else if (share(label) >= COMES_IN) {
        const weakest = [...this.shown].reduce((least, one) => (share(one) < share(least) ? one : least));
        if (share(label) <= 2 * share(weakest)) break;
        this.shown.delete(weakest);
        this.shown.add(label);
      } else break;
    }
    return this.labels.filter((label) => this.shown.has(label));
  }
}

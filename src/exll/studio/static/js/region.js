/** A rectangle on a photo, drawn with mouse, finger or keyboard. */

import { h } from "./dom.js";
import { say } from "./notice.js";

const STEP = 0.02; // of the photo, for one press of an arrow key
const LEAST = 0.03;
const ASKED_SIDE = 512; // pixels
const FIRST = [0.25, 0.25, 0.75, 0.75];
const CORNERS = [
  [0, 1],
  [2, 1],
  [0, 3],
  [2, 3],
];
const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** Sides are shares of the photo: left, top, right, bottom. */
export class Region {
  /** @param {HTMLImageElement} image @param {() => void} changed Called when it has another place. */
  constructor(image, changed) {
    Object.assign(this, { image, changed, sides: [...FIRST] });
    this.frame = h(
      "div",
      { class: "region", tabindex: 0, role: "group", onkeydown: (event) => this.key(event) },
      CORNERS.map((corner, i) => h("span", { class: `corner c${i}`, "data-corner": i, "aria-hidden": "true" })),
    );
    this.element = h("div", { class: "layer", onpointerdown: (event) => this.grab(event) }, this.frame);
    this.draw();
  }

  /** In pixels of the upright photo. */
  get box() {
    const { naturalWidth: width, naturalHeight: height } = this.image;
    const [left, top, right, bottom] = this.sides;
    return [left * width, top * height, right * width, bottom * height].map(Math.round);
  }

  start() {
    this.sides = [...FIRST];
    this.draw();
    this.frame.focus();
    this.changed();
  }

  /** What is in it, small enough to be asked about at every change. @returns {Promise<Blob>} */
  cut() {
    const [left, top, right, bottom] = this.box;
    const [width, height] = [right - left, bottom - top];
    const scale = Math.min(1, ASKED_SIDE / Math.max(width, height));
    const canvas = h("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
    canvas.getContext("2d").drawImage(this.image, left, top, width, height, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.9));
  }

  grab(event) {
    if (event.button) return;
    event.preventDefault();
    const from = this.at(event);
    const before = [...this.sides];
    const corner = CORNERS[event.target.dataset?.corner];
    const inside = event.target === this.frame;
    const move = (moved) => {
      const to = this.at(moved);
      if (corner) {
        const sides = [...before];
        corner.forEach((side, axis) => (sides[side] = to[axis]));
        this.sides = ordered(sides);
      } else if (inside) this.sides = shifted(before, to[0] - from[0], to[1] - from[1]);
      else this.sides = ordered([...from, ...to]);
      this.draw();
    };
    const end = () => {
      this.element.removeEventListener("pointermove", move);
      this.sides = atLeast(this.sides);
      this.draw();
      this.frame.focus();
      this.changed();
    };
    this.element.setPointerCapture(event.pointerId);
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("lostpointercapture", end, { once: true });
  }

  key(event) {
    const way = WAYS[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const [dx, dy] = way.map((one) => one * STEP);
    if (event.shiftKey) {
      const [left, top, right, bottom] = this.sides;
      this.sides = atLeast([left, top, Math.min(1, right + dx), Math.min(1, bottom + dy)]);
    } else this.sides = shifted(this.sides, dx, dy);
    this.draw();
    say(this.words);
    this.changed();
  }

  at(event) {
    const place = this.element.getBoundingClientRect();
    return [(event.clientX - place.left) / place.width, (event.clientY - place.top) / place.height].map(bounded);
  }

  get words() {
    const [left, top, right, bottom] = this.sides.map((side) => Math.round(100 * side));
    return `Region: ${left} to ${right}% across, ${top} to ${bottom}% down`;
  }

  draw() {
    place(this.frame, this.sides);
    this.frame.setAttribute("aria-label", this.words);
  }
}

/** A region that can no longer be changed. */
export function marked(sides, label) {
  return place(h("div", { class: "region done" }, h("bdi", {}, label)), sides);
}

function place(element, [left, top, right, bottom]) {
  const sides = { left, top, width: right - left, height: bottom - top };
  for (const [name, share] of Object.entries(sides)) element.style[name] = `${100 * share}%`;
  return element;
}

const bounded = (share) => Math.max(0, Math.min(1, share));

const ordered = ([left, top, right, bottom]) => [
  Math.min(left, right),
  Math.min(top, bottom),
  Math.max(left, right),
  Math.max(top, bottom),
];

function shifted([left, top, right, bottom], dx, dy) {
  const x = Math.max(-left, Math.min(1 - right, dx));
  const y = Math.max(-top, Math.min(1 - bottom, dy));
  return [left + x, top + y, right + x, bottom + y];
}

/** Large enough to hold something, and within the photo. */
function atLeast([left, top, right, bottom]) {
  const [x, y] = [Math.min(left, 1 - LEAST), Math.min(top, 1 - LEAST)];
  return [x, y, Math.max(right, x + LEAST), Math.max(bottom, y + LEAST)];
}

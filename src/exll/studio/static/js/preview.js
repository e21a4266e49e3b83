/** The square that shows what the network sees: the whole, and a frame around what it sees once more. */

import { byId, fill, h } from "./dom.js";

const [square, words] = ["preview", "looks"].map(byId);
const TWO = "The network looks twice: at the whole photo, then inside the frame.";
const ONE = "The network sees this square.";

/** @param {HTMLVideoElement | HTMLImageElement} media */
export function see(media) {
  fill(square, h("div", { class: "seen" }, media));
  square.classList.remove("empty");
}

/** @param {...any} content What is said while there is nothing to see. */
export function seeNothing(...content) {
  square.classList.add("empty");
  fill(square, h("p", {}, ...content));
  words.textContent = "";
}

/** @param {number[][]} looks Left, top, right and bottom of each, as shares of the photo: the first fills the square. */
export function showLooks(looks) {
  const [[left, top, right, bottom], ...others] = looks;
  const [width, height] = [right - left, bottom - top];
  const media = square.querySelector(".seen > *");
  if (!media) return;
  place(media, -left / width, -top / height, 1 / width, 1 / height);
  const frames = square.querySelectorAll(".look");
  if (frames.length !== others.length) {
    for (const frame of frames) frame.remove();
    square.append(...others.map(() => h("span", { class: "look", "aria-hidden": "true" })));
  }
  others.forEach(([l, t, r, b], i) =>
    place(square.querySelectorAll(".look")[i], (l - left) / width, (t - top) / height, (r - l) / width, (b - t) / height),
  );
  words.textContent = others.length ? TWO : ONE;
}

function place(element, left, top, width, height) {
  for (const [name, share] of Object.entries({ left, top, width, height })) element.style[name] = `${100 * share}%`;
}

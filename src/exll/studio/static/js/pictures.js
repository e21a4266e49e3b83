/** Thumbnails of taught examples. */

import { thumbnail } from "./api.js";
import { h, wait } from "./dom.js";

const TRIES = 4;

/** @param {number} number @param {string} label */
export function picture(number, label, kind = "") {
  const image = h("img", { class: kind, alt: `${label}, picture ${number}`, width: 64, height: 64, loading: "lazy" });
  let tries = 0;
  image.addEventListener("error", async () => {
    // Many at once may be too many for the server's patience.
    if ((tries += 1) >= TRIES) return;
    await wait(1000 * tries);
    image.src = `${thumbnail(number)}?try=${tries}`;
  });
  image.src = thumbnail(number);
  return image;
}

/** A list of them, and how many more there are. */
export function pictures(numbers, label, { large = false, more = 0 } = {}) {
  return h(
    "ul",
    { class: large ? "thumbs large" : "thumbs" },
    numbers.map((number) => h("li", {}, picture(number, label))),
    more > 0 && h("li", { class: "more" }, `and ${more.toLocaleString("en")} more`),
  );
}

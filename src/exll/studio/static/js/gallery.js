/** All photos of a class in a dialog: select some, move them to another class, delete them. */

import { address } from "./api.js";
import { showDialog } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { Shelf } from "./shelf.js";

const HINT = "Select photos to move or delete them.";
const KEYS = " Shift selects a range. Keys: arrows, Space selects, Enter opens large.";

/** @param {string} label @param {() => string[]} labels */
export async function showGallery(label, labels) {
  await showDialog(`Photos of ${label}`, () => {
    const hint = h(
      "p",
      { class: "faint", tabindex: -1 },
      HINT,
      h("span", { class: "keys" }, KEYS),
      " ",
      h("a", { href: address(`/sort?left=${encodeURIComponent(label)}`) }, "Compare with another class"),
    );
    const shelf = new Shelf(label, { labels, heading: hint });
    shelf.load();
    return h("div", { class: "gallery" }, hint, shelf.element);
  });
  // The page may have been drawn anew meanwhile, without the button that opened this.
  if (document.activeElement === document.body)
    (document.querySelector(`[data-key="${CSS.escape(`See all ${label}`)}"]`) ?? byId("main")).focus();
}

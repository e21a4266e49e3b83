/** Thumbnails of taught photos; those in lists open large. */

import { thumbnail } from "./api.js";
import { h, wait } from "./dom.js";
import { openViewer } from "./viewer.js";

const TRIES = 4;
const WAYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** @param {number} number @param {string} label */
export function picture(number, label, kind = "") {
  const image = h("img", {
    class: kind,
    alt: `${label}, photo ${number}`,
    width: 64,
    height: 64,
    loading: "lazy",
    draggable: "false",
  });
  let tries = 0;
  image.addEventListener("error", async () => {
    // Many at once may be too many for the server's patience.
    if ((tries += 1) >= TRIES) return;
    await wait(1000 * tries);
    image.src = `${thumbnail(number)}&try=${tries}`;
  });
  image.src = thumbnail(number);
  return image;
}

/** A thumbnail that opens large; `list` are the photos to go on to from there. */
export function photo(number, label, { kind = "", list = [number] } = {}) {
  const image = picture(number, label, kind);
  return h(
    "button",
    { type: "button", class: "photo", "data-photo": number, onclick: () => openViewer(number, { list }) },
    image,
  );
}

/** A list of them, and how many more there are. It is one stop of the Tab key: arrows go from one to the next. */
export function pictures(numbers, label, { large = false, more = 0 } = {}) {
  const buttons = numbers.map((number) => photo(number, label, { list: numbers }));
  buttons.forEach((button, i) => {
    button.tabIndex = i === 0 ? 0 : -1;
    button.addEventListener("keydown", (event) => {
      const next = buttons[i + WAYS[event.key]];
      if (!next) return;
      event.preventDefault();
      button.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
  return h(
    "ul",
    { class: large ? "thumbs large" : "thumbs" },
    buttons.map((button) => h("li", {}, button)),
    more > 0 && h("li", { class: "more" }, `and ${more.toLocaleString("en")} more`),
  );
}

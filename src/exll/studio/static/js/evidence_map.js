/** Where in the photo the answer comes from: a toggle between the photo and its maps. */

import { address } from "./api.js";
import { fill, h, quoted } from "./dom.js";

/**
 * @param {HTMLElement} element @param {HTMLImageElement} image The photo as it is shown.
 * @param {any[]} where What /api/explain gave.
 */
export function offerMaps(element, image, where) {
  const plain = image.src;
  const words = image.alt;
  const legend = h(
    "p",
    { class: "legend faint" },
    h("span", {}, "counts more than the average place"),
    h("span", { class: "against" }, "counts less, or against it"),
  );
  const views = [
    ["Photo", null],
    ...where.map(({ label, against, picture }) =>
      against === null
        ? [["Why ", quoted(label)], address(picture), `for ${label}`]
        : [["Why not ", quoted(against)], address(picture), `for ${label} and against ${against}`],
    ),
  ];
  const buttons = views.map(([title, source, what]) =>
    h("button", { type: "button", onclick: (event) => show(event.currentTarget, source, what) }, title),
  );
  const show = (pressed, source, what) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
    image.src = source ?? plain;
    image.alt = source ? `The photo in grey; orange places count more ${what} than the average place, blue ones less` : words;
    legend.hidden = source === null;
  };
  fill(element, h("div", { class: "row", role: "group", "aria-label": "What to show" }, buttons), legend);
  show(buttons[1], ...views[1].slice(1));
}

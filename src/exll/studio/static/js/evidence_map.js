/** Where in the picture the answer comes from: a toggle between the picture and its maps. */

import { fill, h, quoted } from "./dom.js";

/**
 * @param {HTMLElement} element @param {HTMLImageElement} image The picture as it is shown.
 * @param {any[]} where What /api/explain gave.
 */
export function offerMaps(element, image, where) {
  const plain = image.src;
  const words = image.alt;
  const legend = h(
    "p",
    { class: "legend", hidden: true },
    h("span", {}, "counts more than the average place"),
    h("span", { class: "against" }, "counts less, or against it"),
  );
  const views = [
    ["Picture", null],
    ...where.map(({ label, against, picture }) =>
      against === null
        ? [["Why ", quoted(label)], picture, `for ${label}`]
        : [["Why not ", quoted(against)], picture, `for ${label} and against ${against}`],
    ),
  ];
  const buttons = views.map(([title, source, what], i) =>
    h(
      "button",
      { type: "button", "aria-pressed": String(i === 0), onclick: (event) => show(event.currentTarget, source, what) },
      title,
    ),
  );
  const show = (pressed, source, what) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
    image.src = source ?? plain;
    image.alt = source ? `The picture in grey; orange places count more ${what} than the average place, blue ones less` : words;
    legend.hidden = source === null;
  };
  element.hidden = where.length === 0;
  fill(element, h("div", { class: "row", role: "group", "aria-label": "What to show" }, buttons), legend);
}

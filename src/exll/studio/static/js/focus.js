/** The focus stays where it was when a part of a page is drawn anew, or goes to what took its place. */

import { byId } from "./dom.js";

const STOPS = "button:not([hidden]), a[href], input, select, summary";

/** What an element is, whichever drawing it belongs to. */
function keyOf(element) {
  const { key, photo } = element.dataset;
  if (key) return `[data-key="${CSS.escape(key)}"]`;
  return photo ? `[data-photo="${CSS.escape(photo)}"]` : null;
}

/** @param {HTMLElement} root @param {() => void} draw @param {string | null} [wanted] The data-key to go to. */
export function keepingFocus(root, draw, wanted = null) {
  const at = /** @type {HTMLElement} */ (document.activeElement);
  const held = root.contains(at) || (wanted !== null && isNowhere(at));
  const stops = () => [...root.querySelectorAll(STOPS)].filter(isSeen);
  const place = stops().indexOf(at);
  const keys = [wanted && `[data-key="${CSS.escape(wanted)}"]`, at && keyOf(at)].filter(Boolean);
  draw();
  if (!held) return;
  const same = keys.map((key) => root.querySelector(key)).find(isSeen);
  const seen = stops();
  (same ?? seen[Math.max(0, Math.min(place, seen.length - 1))] ?? elsewhere()).focus();
}

const isNowhere = (element) => element === document.body || element === byId("main");
const isSeen = (element) => element?.checkVisibility();

/** Where nothing of a list is left: the field that it was searched with. */
const elsewhere = () => [byId("search"), byId("main")].find(isSeen);

/** After a dialog whose opener is gone. */
export function findFocus(key) {
  if (!isNowhere(document.activeElement)) return;
  [document.querySelector(`[data-key="${CSS.escape(key)}"]`), elsewhere()].find(isSeen).focus();
}

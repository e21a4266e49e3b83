/** Why an answer is what it is, beside the preview: hit, near hit, near miss, and where in the photo. */

import { address, postForm } from "./api.js";
import { byId, fill, h, quoted } from "./dom.js";
import { offerMaps } from "./evidence_map.js";
import { say, trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { counted } from "./words.js";

const SHOWN = 6;
const [panel, evidence, button, bench] = ["why", "evidence", "explain", "bench"].map(byId);

export class Why {
  constructor() {
    this.number = 0; // of the newest question: a late answer to an older one is dropped
  }

  get open() {
    return !panel.hidden;
  }

  /** @param {any} about `asked` of /api/predict, or `file`. */
  async show(about, focus = true) {
    const number = (this.number += 1);
    this.#toggle(true);
    evidence.setAttribute("aria-busy", "true");
    if (!evidence.childElementCount) fill(evidence, h("p", { class: "faint" }, "Looking …"));
    const found = await trying(() => postForm("/api/explain", about));
    if (number !== this.number) return;
    evidence.removeAttribute("aria-busy");
    if (!found) {
      this.close();
      return;
    }
    fill(evidence, reasons(found));
    if (!focus) return;
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "start" });
    say(`Why: ${found.reason}`);
  }

  close() {
    this.number += 1;
    if (panel.contains(document.activeElement)) button.focus({ preventScroll: true });
    this.#toggle(false);
    fill(evidence);
  }

  #toggle(open) {
    panel.hidden = !open;
    bench.classList.toggle("explained", open);
    button.setAttribute("aria-expanded", String(open));
  }
}

function reasons(found) {
  const { hit, near_hit: nearHit, near_miss: nearMiss, local_choice: localChoice, prediction } = found;
  const these = hit.support > 1 ? "these " : "";
  const most = localChoice ? `Within its class, it looks most like ${these}` : `It looks most like ${these}`;
  const says = prediction.known ? most : "The nearest of its class, but not near enough: ";
  return [
    h("p", {}, found.reason),
    where(found),
    found.nothing.length > 0 &&
      card("Not one of mine", ["You said that these are none of your classes. It looks more like them."], {
        examples: found.nothing,
        label: "none of the classes",
        similarity: null,
      }),
    card("Hit", [says, ...of(hit), "."], hit),
    nearHit
      ? card("Near hit", ["It also looks like these, another kind of ", quoted(nearHit.label), "."], nearHit)
      : nothing("Near hit", ["So far ", quoted(hit.label), " has only one group of photos."]),
    localChoice && card("Local choice", ["The nearest group of all: ", ...of(localChoice), "."], localChoice),
    nearMiss && card("Near miss", ["Less alike, and of another class: ", ...of(nearMiss), "."], nearMiss),
    prediction.runner_up === null && nothing("Near miss", ["There is no other class yet."]),
  ];
}

function where(found) {
  if (!found.where.length) return null;
  const image = h("img", { alt: "The photo that was asked about", src: address(found.image) });
  const controls = h("div", { class: "where" });
  offerMaps(controls, image, found.where);
  return h("section", { class: "map-of" }, h("h3", {}, "Where in the photo"), image, controls);
}

const of = ({ support, label }) => [`${counted(support, "photo")} of `, quoted(label)];

function card(title, words, { examples, label, similarity }) {
  const numbers = examples.map(({ example }) => example);
  return h(
    "section",
    {},
    h("h3", {}, title, similarity !== null && h("small", {}, ` similarity ${similarity.toFixed(2)}`)),
    h("p", {}, words),
    pictures(numbers.slice(0, SHOWN), label, { large: true, more: numbers.length - SHOWN }),
  );
}

const nothing = (title, words) => h("section", {}, h("h3", {}, title), h("p", { class: "faint" }, words));

/** An answer in words, with its reasons in pictures. */

import { bar, fill, h, quoted } from "./dom.js";
import { pictures } from "./pictures.js";
import { counted, percent, confidenceWords, confidence } from "./words.js";

const SHOWN = 6;
const LOCAL = "Local inference (the nearest pictures)";
const GLOBAL = "Global inference (whole classes)";

const UNLIKE = "It is unlike the photos you taught.";
const NOTHING_LIKE_IT = "Nothing I know looks like this.";

/** @param {HTMLElement} element @param {any} prediction */
export function showAnswer(element, prediction, taughtAs = []) {
  for (const level of ["unusual", "unknown"]) element.classList.toggle(level, prediction.level === level);
  const words = { usual, unusual, unknown }[prediction.level](prediction);
  fill(element, words, taughtAs.length > 0 && taught(taughtAs));
}

function usual(prediction) {
  const { label, probability, runner_up: other } = prediction;
  return [
    h("p", { class: "faint" }, other === null ? "This is …" : `${confidenceWords(probability)} …`),
    h("p", { class: "says" }, h("bdi", {}, label)),
    howSure(prediction),
  ];
}

function unusual(prediction) {
  return [
    h("p", { class: "says" }, "Maybe ", h("bdi", {}, prediction.label)),
    h("p", {}, h("strong", {}, UNLIKE)),
    howSure(prediction),
  ];
}

/** A model of one class says it of everything, so its probability says nothing. */
function howSure({ probability, runner_up: other }) {
  if (other === null) return h("p", {}, "It is the only class that I know. Teach a second one.");
  return [
    bar(probability),
    h("p", {}, "Confidence: ", h("strong", {}, confidence(probability)), "; second choice: ", quoted(other), "."),
  ];
}

function unknown({ label }) {
  return [
    h("p", { class: "says" }, "Unknown"),
    h("p", {}, h("strong", {}, NOTHING_LIKE_IT)),
    h("p", { class: "faint" }, "The nearest class is ", quoted(label), "."),
  ];
}

function taught(examples) {
  const labels = [...new Set(examples.map(({ label }) => label))];
  return h(
    "p",
    {},
    "This picture was taught as ",
    labels.map((label, i) => [i > 0 && " and ", quoted(label)]),
    ".",
  );
}

/** The words of the answer, for those who listen. */
export function spoken({ label, probability, runner_up: other, level }) {
  if (level === "unknown") return `Unknown. ${NOTHING_LIKE_IT}`;
  const share = other === null ? "the only class that I know" : confidence(probability);
  return level === "unusual" ? `Maybe ${label}, ${share}. ${UNLIKE}` : `${confidenceWords(probability)} ${label}, ${share}`;
}

/** Hit, near hit and near miss. @param {HTMLElement} element @param {any} found What /api/explain gave. */
export function showEvidence(element, found) {
  const { hit, near_hit: nearHit, near_miss: nearMiss, prediction } = found;
  const says = prediction.known
    ? `It looks most like ${hit.support > 1 ? "these " : ""}`
    : "The nearest pictures, but not near enough: ";
  fill(
    element,
    h("h2", {}, "Why"),
    h("p", {}, inferences(found.details)),
    card("Hit", [says, ...of(hit), "."], hit),
    nearHit
      ? card("Near hit", ["It also looks like these, another kind of ", quoted(nearHit.label), "."], nearHit)
      : nothing("Near hit", ["So far ", quoted(hit.label), " has only one group of pictures."]),
    nearMiss
      ? card("Near miss", ["The nearest of another class: ", ...of(nearMiss), "."], nearMiss)
      : nothing("Near miss", ["There is no other class yet."]),
    h("details", {}, h("summary", {}, "The decision in one sentence"), h("p", {}, found.reason)),
  );
}

/** What local inference (the nearest pictures) and global inference (whole classes) say. */
function inferences({ label, local_label: local, global_label: global }) {
  if (local === global) return [`${LOCAL} and ${GLOBAL.toLowerCase()} both say `, quoted(local), "."];
  return [
    `${LOCAL} says `,
    quoted(local),
    `, ${GLOBAL.toLowerCase()} says `,
    quoted(global),
    ". Combined, the answer is ",
    quoted(label),
    ".",
  ];
}

const of = ({ support, label }) => [`${counted(support, "picture")} of `, quoted(label)];

function card(title, words, { examples, label }) {
  const numbers = examples.map(({ example }) => example);
  const closest = examples[0]?.similarity;
  return h(
    "section",
    { class: "card" },
    h("h3", {}, title),
    h("p", {}, words),
    pictures(numbers.slice(0, SHOWN), label, { large: true, more: numbers.length - SHOWN }),
    typeof closest === "number" &&
      h(
        "p",
        { class: "faint" },
        `${examples.length > 1 ? "Similarity of the closest" : "Similarity"}: ${percent(Math.max(0, closest))}`,
      ),
  );
}

const nothing = (title, words) =>
  h("section", { class: "card" }, h("h3", {}, title), h("p", { class: "faint" }, words));

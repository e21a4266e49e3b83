/** An answer in words, with its reasons in pictures. */

import { bar, fill, h, quoted } from "./dom.js";
import { pictures } from "./pictures.js";
import { counted, confidenceWords, confidence } from "./words.js";

const SHOWN = 6;

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

/** Hit, near hit, near miss, and what local inference preferred. @param {HTMLElement} element @param {any} found What /api/explain gave. */
export function showEvidence(element, found) {
  const { hit, near_hit: nearHit, near_miss: nearMiss, local_choice: localChoice, prediction } = found;
  const these = hit.support > 1 ? "these " : "";
  const most = localChoice ? `Within its class, it looks most like ${these}` : `It looks most like ${these}`;
  const says = prediction.known ? most : "The nearest of its class, but not near enough: ";
  fill(
    element,
    h("h2", {}, "Why"),
    h("p", {}, found.reason),
    card("Hit", [says, ...of(hit), "."], hit),
    nearHit
      ? card("Near hit", ["It also looks like these, another kind of ", quoted(nearHit.label), "."], nearHit)
      : nothing("Near hit", ["So far ", quoted(hit.label), " has only one group of pictures."]),
    localChoice && card("Local choice", ["The nearest group of all: ", ...of(localChoice), "."], localChoice),
    nearMiss && card("Near miss", ["Less alike, and of another class: ", ...of(nearMiss), "."], nearMiss),
    prediction.runner_up === null && nothing("Near miss", ["There is no other class yet."]),
  );
}

const of = ({ support, label }) => [`${counted(support, "picture")} of `, quoted(label)];

function card(title, words, { examples, label, similarity }) {
  const numbers = examples.map(({ example }) => example);
  return h(
    "section",
    { class: "card" },
    h("h3", {}, title),
    h("p", {}, words),
    pictures(numbers.slice(0, SHOWN), label, { large: true, more: numbers.length - SHOWN }),
    similarity !== null && h("p", { class: "faint" }, `Similarity: ${similarity.toFixed(2)}`),
  );
}

const nothing = (title, words) =>
  h("section", { class: "card" }, h("h3", {}, title), h("p", { class: "faint" }, words));

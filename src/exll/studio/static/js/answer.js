/** An answer in words: the class, its level and the confidence. */

import { fill, h, quoted } from "./dom.js";
import { confidence } from "./words.js";

export const UNLIKE = "It is unlike the photos you taught.";
const NOTHING_LIKE_IT = "Nothing I know looks like this.";
const ONLY = "It is the only class that I know. Teach a second one.";
const SURE = 0.85; // below, the headline itself says so
const LIKELY = 0.5;
const LONG = 18; // letters of a headline that is written smaller

/** @param {HTMLElement} says @param {HTMLElement} level @param {any} prediction @param {any[]} taughtAs */
export function showAnswer(says, level, prediction, taughtAs = []) {
  const { label, probability, runner_up: other, level: kind, novelty } = prediction;
  fill(says, headline(prediction).map((part) => (typeof part === "string" ? part : h("bdi", {}, part.label))));
  says.classList.toggle("long", says.textContent.length > LONG);
  const sure = other === null ? ONLY : `Confidence: ${confidence(probability)}.`;
  const words = {
    // not every preset judges this
    usual: [sure, other !== null && novelty !== null && h("span", { class: "usual" }, " It looks like the photos you taught.")],
    unusual: [other === null && `${ONLY} `, h("strong", {}, UNLIKE)], // a confidence would say the opposite
    unknown: [h("strong", {}, NOTHING_LIKE_IT), " The nearest class is ", quoted(label), "."],
  };
  fill(level, ...words[kind], taughtAs.length > 0 && taught(taughtAs));
}

/** "Maybe" where it is unlike what was taught; "probably" or two classes where it could be another. */
export function headline({ label, probability, runner_up: other, level }) {
  if (level === "unknown") return ["Unknown"];
  if (level === "unusual") return ["Maybe ", { label }];
  if (other === null || probability >= SURE) return [{ label }];
  return probability >= LIKELY ? ["Probably ", { label }] : [{ label }, " or ", { label: other }, "?"];
}

const KNOWN = { taught: " Taught as ", "held out": " Held out as ", nothing: " Marked as none of your classes" };

/** What was done with this photo before, in one sentence per role. */
function taught(examples) {
  return Object.entries(KNOWN).map(([role, words]) => {
    const labels = [...new Set(examples.filter((example) => example.role === role).map(({ label }) => label))];
    if (!labels.length) return null;
    return [words, labels.filter(Boolean).map((label, i) => [i > 0 && " and ", quoted(label)]), "."];
  });
}

/** The words of the answer, for those who listen. */
export function spoken(prediction) {
  const { probability, runner_up: other, level } = prediction;
  if (level === "unknown") return `Unknown. ${NOTHING_LIKE_IT}`;
  const words = headline(prediction).map((part) => part.label ?? part).join("");
  if (level === "unusual") return `${words}. ${UNLIKE}`;
  return `${words}, ${other === null ? "the only class that I know" : confidence(probability)}`;
}

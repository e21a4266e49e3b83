/** How far a class has come, in words. */

import { quoted } from "./dom.js";
import { percent } from "./words.js";

const OTHERS_AGAIN = "Show the other classes again in another place, too."; // advice for these, not for the class itself
const VERDICTS = ["too early to tell", "needs more", "show it again", "nearly there", "enough"];

export function progressWords(found) {
  return [expected(found), ...adviceWords(found)];
}

function expected({ examples, groups, like_these: here, new_groups: elsewhere }) {
  if (examples === 0) return "";
  if (here === null) return "Too early to tell. ";
  if (groups === null) return `${percent(here)} of its last photos were recognised before they were learned. `;
  const there = elsewhere === null ? "not known" : percent(elsewhere);
  return `Expected right: ${percent(here)} on photos like these, ${there} in new places. `;
}

/** What would help a class most. The name of another class stands apart: it may be written from right to left. */
export function adviceWords({ examples, held_out: heldOut, advice, confused_with: other }) {
  if (!examples) return [heldOut ? "All its photos are held out: teach it some." : "It has no photos yet."];
  const [before, after] = other === null ? [advice] : advice.split(`"${other}"`);
  return after === undefined ? [photos(advice)] : [photos(before), quoted(other), photos(after)];
}

/** The taught class whose advice matters most, or undefined where all have enough. @param {any[]} classes */
export function weakest(classes) {
  const strength = ({ verdict, new_groups: elsewhere, like_these: here, examples }) => [
    VERDICTS.indexOf(verdict),
    elsewhere ?? here ?? 0,
    examples,
  ];
  const compare = (one, other) => one.map((value, i) => value - other[i]).find((difference) => difference) ?? 0;
  const lacking = classes.filter(({ verdict, examples }) => verdict !== "enough" && examples > 0);
  const itself = lacking.filter(({ advice }) => advice !== OTHERS_AGAIN);
  return (itself.length ? itself : lacking)
    .sort((one, other) => compare(strength(one), strength(other)))[0];
}

const photos = (words) => words.replace(/\bexamples\b/g, "photos");

/** How far a class has come, in words. */

import { quoted } from "./dom.js";
import { percent } from "./words.js";

export function progressWords({ advice, groups, like_these: here, new_groups: elsewhere, confused_with: other }) {
  return [expected(here, elsewhere, groups), ...named(advice, other)];
}

function expected(here, elsewhere, groups) {
  if (here === null) return "Too early to tell. ";
  if (groups === null) return `${percent(here)} of its last pictures were recognised before they were learned. `;
  const there = elsewhere === null ? "not known" : percent(elsewhere);
  return `Expected right: ${percent(here)} on photos like these, ${there} in new places. `;
}

/** The name of the other class stands apart: it may be written from right to left. */
function named(advice, other) {
  const [before, after] = other === null ? [advice] : advice.split(`"${other}"`);
  return after === undefined ? [advice] : [before, quoted(other), after];
}

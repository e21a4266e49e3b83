/** Numbers as words. */

export function counted(count, noun) {
  const plural = noun + (/(s|ch|x)$/.test(noun) ? "es" : "s");
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** Photos as every page counts them: those that were taught, and apart from them those held out. */
export const photosOf = ({ examples, held_out: heldOut }) =>
  heldOut ? `${counted(examples, "photo")} taught, ${heldOut.toLocaleString("en")} held out` : counted(examples, "photo");

/** With one digit, as exll prints it: 0% is none and 100% all, and nothing else is rounded to them. */
export function percent(share) {
  if (share === 0 || share === 1) return `${share * 100}%`;
  if (share > 0 && share < 0.0005) return "under 0.1%";
  if (share < 1 && share >= 0.9995) return "over 99.9%";
  return `${(share * 100).toFixed(1)}%`;
}

/** Never 0% or 100%, even where a probability was rounded to them. */
export const confidence = (probability) => percent(Math.max(0.0001, Math.min(probability, 0.9999)));

/** For searching: whether every word that was typed is in the text; "a-b" and "a_b" are two words. */
export const hasWords = (text, typed) => simple(typed).split(/[-_\s]+/).every((word) => simple(text).includes(word));

export function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB"];
  const step = Math.min(units.length - 1, count < 1000 ? 0 : Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return `${value.toLocaleString("en", { maximumFractionDigits: step && value < 100 ? 1 : 0 })} ${units[step]}`;
}

/** @param {number} seconds Since 1970. */
export const localTime = (seconds) =>
  new Date(1000 * seconds).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

/** For searching: capitals and spellings of one letter do not matter. */
export const simple = (text) => text.normalize("NFKC").toLowerCase().trim();

const oneLine = (text) => text.normalize("NFC").trim().replace(/\s+/g, " ");
const loosely = (text) => simple(text).replace(/[\s_-]+/g, " ").trim();

/** A class that is written almost like this name: other capitals, or - or _ for a space. None where there is a class of
 * exactly this name. @param {string[]} labels */
export const existing = (name, labels) =>
  labels.includes(oneLine(name)) ? undefined : labels.find((label) => loosely(label) === loosely(name));

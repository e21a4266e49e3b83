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

/** For shares of few things, where a digit more would say nothing. */
export const wholePercent = (share) =>
  share === 0 || share === 1 ? percent(share) : `${Math.min(99, Math.max(1, Math.round(100 * share)))}%`;

/** Never 100%, even where a probability was rounded to 1. */
export const confidence = (probability) => percent(Math.min(probability, 0.9999));

/** The confidence in words. */
export function confidenceWords(probability) {
  if (probability >= 0.97) return "This is almost certainly";
  if (probability >= 0.85) return "This is very likely";
  if (probability >= 0.65) return "This is probably";
  if (probability >= 0.4) return "This is perhaps";
  return "This is a guess:";
}

export function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB"];
  const step = Math.min(units.length - 1, count < 1000 ? 0 : Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return `${value.toLocaleString("en", { maximumFractionDigits: step && value < 100 ? 1 : 0 })} ${units[step]}`;
}

/** For searching: capitals and spellings of one letter do not matter. */
export const simple = (text) => text.normalize("NFKC").toLowerCase().trim();

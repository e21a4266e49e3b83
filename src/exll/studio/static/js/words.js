/** Numbers as words. */

export function counted(count, noun) {
  const plural = noun + (/(s|ch|x)$/.test(noun) ? "es" : "s");
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** Never 0% or 100% for what is not quite. */
export function percent(share) {
  if (share > 0 && share < 0.005) return "less than 1%";
  if (share < 1 && share >= 0.995) return "more than 99%";
  return `${Math.round(share * 100)}%`;
}

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

/** Where the groups of the map lay last, for as long as this tab is open: a map that is made anew does not jump. */

const SAME = 0.5; // of the photos of two groups, from which on they are one
const KEY = `map ${document.body.dataset.project}`;

/** Places and sides are shares of the plane. `laidOut`: its place comes from a layout of all, and not from its neighbours.
 * @typedef {{examples: number[], support: number, x: number, y: number, side: number, laidOut: boolean}} Known */

/**
 * For every prototype where it lay, or null. All are null where too few are left of the layout: then it is made anew.
 * @param {{examples: number[]}[]} prototypes @returns {(Known | null)[]}
 */
export function placesBefore(prototypes) {
  /** @type {Known[]} */
  const known = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
  const of = new Map(known.flatMap((one) => one.examples.map((number) => [number, one])));
  const found = prototypes.map(({ examples }) => sameGroup(examples, of));
  const left = found.filter((one) => one?.laidOut).length;
  return left >= prototypes.length / 2 ? found : prototypes.map(() => null);
}

/** The group that has most of these photos. */
function sameGroup(examples, of) {
  const counts = new Map();
  for (const one of examples.map((number) => of.get(number)).filter(Boolean)) counts.set(one, (counts.get(one) ?? 0) + 1);
  for (const [one, count] of counts)
    if (count > SAME * Math.max(examples.length, one.examples.length)) return one;
  return null;
}

export function rememberPlaces(prototypes, before, { width, height, places }) {
  const anew = !before.some(Boolean);
  const known = places.map(({ x, y, side }, i) => ({
    examples: prototypes[i].examples,
    support: prototypes[i].support,
    x: x / width,
    y: y / height,
    side: side / Math.sqrt(width * height),
    laidOut: anew || Boolean(before[i]?.laidOut),
  }));
  sessionStorage.setItem(KEY, JSON.stringify(known));
}

/** The names on the map: each beside a group of its class, only where there is room. */

const ROOM = 22_000; // square pixels of the map for every name: more names would hide the photos
const GAP = 3; // pixels between two names
const COVERED = 0.12; // of a name, that may lie over photos of other groups

/** @typedef {{left: number, top: number, width: number, height: number}} Box */

/**
 * Shows each name where there is room, and hides the others. The first have the choice.
 * @param {HTMLElement[]} names In the order of their right to a place.
 * @param {(name: HTMLElement) => number[]} groupsOf The groups of its class, the largest first.
 * @param {Box[]} photos Where the groups are seen. @param {HTMLElement} plane
 */
export function placeNames(names, groupsOf, photos, plane) {
  const { clientWidth: width, clientHeight: height } = plane;
  const most = (width * height) / ROOM;
  const sizes = names.map(({ offsetWidth, offsetHeight }) => ({ width: offsetWidth, height: offsetHeight }));
  const taken = [];
  names.forEach((name, n) => {
    const size = sizes[n];
    const place =
      taken.length < most &&
      groupsOf(name)
        .flatMap((i) => candidates(photos[i], size).map((box) => ({ box, i })))
        .find(
          ({ box, i }) =>
            isInside(box, width, height) &&
            taken.every((other) => !shared(box, other, GAP)) &&
            covered(box, photos, i) <= COVERED * size.width * size.height,
        );
    name.classList.toggle("off", !place);
    if (!place) return;
    taken.push(place.box);
    name.style.transform = `translate(${place.box.left}px, ${place.box.top}px)`;
  });
}

/** On the lower edge of a photo, within it, below it; then the same above. */
function candidates(photo, { width, height }) {
  const left = photo.left + (photo.width - width) / 2;
  const bottom = photo.top + photo.height;
  const tops = [bottom - height / 2, bottom - height - 3, bottom + 1, photo.top - height / 2, photo.top - height - 1];
  return tops.map((top) => ({ left, top, width, height }));
}

const isInside = ({ left, top, width, height }, right, bottom) =>
  left >= 0 && top >= 0 && left + width <= right && top + height <= bottom;

/** The area that two boxes share, the first one with a gap around it. */
function shared(one, other, gap = 0) {
  const across = Math.min(one.left + one.width + gap, other.left + other.width) - Math.max(one.left - gap, other.left);
  const down = Math.min(one.top + one.height + gap, other.top + other.height) - Math.max(one.top - gap, other.top);
  return across > 0 && down > 0 ? across * down : 0;
}

const covered = (box, photos, own) => photos.reduce((sum, photo, i) => (i === own ? sum : sum + shared(box, photo)), 0);

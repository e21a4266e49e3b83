/** Where photos lie on the map: near their places, and apart from one another. What was there before stays there. */

const FILLED = 0.5; // of the plane
const EVEN = 0.65; // how far places are evened out: order says who is near whom, and gaps would cost room for photos
const LEAST_MEAN = 30; // pixels: with more photos than fit at this size, the plane grows beyond what is seen at once
const LARGEST = 110;
const [SMALL, BIG] = [0.7, 1.8]; // against the mean side
const GAP = 4;
const EDGE = 5; // room for the frame of the chosen one
const ROUNDS = 300;
const MUCH = 0.25;
const [RING, TURNS] = [8, 24]; // pixels between rings of places to try, and how many on each
const NEIGHBOURS = 3; // whose places say where a new one goes

/** @typedef {{x: number, y: number, side: number, kept: boolean}} Place */

/**
 * Side and centre for every prototype, and the size of the plane, which has the shape that is given.
 * @param {{x: number, y: number, support: number}[]} prototypes @param {number} width @param {number} height
 * @param {({x: number, y: number, side: number, support: number} | null)[]} before Where each lay and how
 * large it was, as shares of the plane; null for a new one.
 * @returns {{width: number, height: number, places: Place[]}}
 */
export function layOut(prototypes, width, height, before) {
  const scale = Math.max(1, Math.sqrt((prototypes.length * LEAST_MEAN ** 2) / (FILLED * width * height)));
  const plane = { width: width * scale, height: height * scale };
  const size = Math.sqrt(plane.width * plane.height);
  const sides = sidesOf(prototypes, plane).map((side, i) => stays(side, prototypes[i], before[i], size));
  const shares = before.some(Boolean) ? amongKept(prototypes, before) : spread(prototypes);
  const places = shares.map(({ x, y }, i) => ({
    x: x * plane.width,
    y: y * plane.height,
    side: sides[i],
    kept: Boolean(before[i]),
  }));
  if (before.some(Boolean)) findRoom(places, plane);
  for (let round = 0; round < ROUNDS && pushApart(places, plane); round += 1);
  return { ...plane, places };
}

/** New ones go to the nearest free place; where there is none, all make room. */
function findRoom(places, plane) {
  const settled = places.filter(({ kept }) => kept);
  for (const place of places.filter(({ kept }) => !kept)) {
    Object.assign(place, around(place, plane).find((to) => isFree(to, place.side, settled, plane)));
    settled.push(place);
  }
}

/** Places on rings, the nearest first. */
function around({ x, y }, { width, height }) {
  const found = [{ x, y }];
  for (let far = RING; far < Math.max(width, height); far += RING)
    for (let turn = 0; turn < TURNS; turn += 1) {
      const angle = (2 * Math.PI * turn) / TURNS;
      found.push({ x: x + far * Math.cos(angle), y: y + far * Math.sin(angle) });
    }
  return found;
}

function isFree({ x, y }, side, others, { width, height }) {
  const half = side / 2 + EDGE;
  if (x < half || y < half || x > width - half || y > height - half) return false;
  return others.every((one) => Math.max(Math.abs(one.x - x), Math.abs(one.y - y)) >= (one.side + side) / 2 + GAP);
}

/** The side of one with as many photos as before does not change with that of others, unless they change it much. */
function stays(side, { support }, before, size) {
  const kept = before?.support === support ? before.side * size : side;
  return Math.abs(kept - side) < MUCH * side ? kept : side;
}

function spread(prototypes) {
  const x = evened(prototypes.map((one) => one.x));
  const y = evened(prototypes.map((one) => one.y));
  return prototypes.map((_, i) => ({ x: x[i], y: y[i] }));
}

/** A new one goes where those lie that are nearest to it now. */
function amongKept(prototypes, before) {
  const kept = prototypes.map((_, i) => i).filter((i) => before[i]);
  return prototypes.map((one, i) => {
    if (before[i]) return before[i];
    const apart = (j) => Math.hypot(one.x - prototypes[j].x, one.y - prototypes[j].y);
    const nearest = [...kept].sort((a, b) => apart(a) - apart(b)).slice(0, NEIGHBOURS);
    const weights = nearest.map((j) => 1 / (apart(j) + 1e-3));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const mean = (axis) => nearest.reduce((sum, j, n) => sum + weights[n] * before[j][axis], 0) / total;
    return { x: mean("x"), y: mean("y") };
  });
}

/** Between where they are and where equal steps would have them. */
function evened(places) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b] || a - b);
  const even = [];
  order.forEach((i, rank) => (even[i] = (rank + 0.5) / places.length));
  return places.map((place, i) => (1 - EVEN) * place + EVEN * even[i]);
}

/** Areas stand to each other as supports do, within bounds in which a photo can be seen and hides no others. */
function sidesOf(prototypes, { width, height }) {
  const roots = prototypes.map(({ support }) => Math.sqrt(support));
  const mean = roots.reduce((sum, root) => sum + root, 0) / roots.length;
  const shares = roots.map((root) => Math.max(SMALL, Math.min(BIG, root / mean)));
  const area = shares.reduce((sum, share) => sum + share ** 2, 0);
  const side = Math.min(Math.sqrt((FILLED * width * height) / area), LARGEST / Math.max(...shares));
  return shares.map((share) => share * side - GAP);
}

/** One round: what overlaps moves apart along the axis on which that is shorter. Says whether anything had to. */
function pushApart(places, { width, height }) {
  const reach = Math.max(...places.map(({ side }) => side)) + GAP;
  const cells = new Map();
  const cell = (x, y) => x * 10_000 + y;
  places.forEach(({ x, y }, i) => {
    const key = cell(Math.floor(x / reach), Math.floor(y / reach));
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(i);
  });
  let moved = false;
  places.forEach((one, i) => {
    const [column, row] = [Math.floor(one.x / reach), Math.floor(one.y / reach)];
    for (let across = -1; across <= 1; across += 1)
      for (let down = -1; down <= 1; down += 1)
        for (const j of cells.get(cell(column + across, row + down)) ?? [])
          if (j > i) moved = part(one, places[j]) || moved;
  });
  for (const place of places) {
    const half = place.side / 2 + EDGE;
    place.x = Math.max(half, Math.min(width - half, place.x));
    place.y = Math.max(half, Math.min(height - half, place.y));
  }
  return moved;
}

function part(one, other) {
  const apart = (one.side + other.side) / 2 + (one.kept && other.kept ? 0 : GAP); // a little growth moves nothing
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const [x, y] = [apart - Math.abs(dx), apart - Math.abs(dy)];
  if (x <= 0.5 || y <= 0.5) return false;
  const [axis, by] = x < y ? ["x", (dx < 0 ? -x : x) / 2] : ["y", (dy < 0 ? -y : y) / 2];
  one[axis] -= by;
  other[axis] += by;
  return true;
}

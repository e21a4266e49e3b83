/** Where photos lie on the map: near their places, and apart from one another. Always the same for the same map. */

const FILLED = 0.5; // of the plane
const EVEN = 0.65; // how far places are evened out: order says who is near whom, and gaps would cost room for photos
const LEAST_MEAN = 30; // pixels: with more photos than fit at this size, the plane grows beyond what is seen at once
const LARGEST = 110;
const [SMALL, BIG] = [0.7, 1.8]; // against the mean side
const GAP = 4;
const ROUNDS = 300;

/**
 * Side and centre for every prototype, and the size of the plane, which has the shape that is given.
 * @param {{x: number, y: number, support: number}[]} prototypes @param {number} width @param {number} height
 */
export function layOut(prototypes, width, height) {
  const scale = Math.max(1, Math.sqrt((prototypes.length * LEAST_MEAN ** 2) / (FILLED * width * height)));
  const plane = { width: width * scale, height: height * scale };
  const sides = sidesOf(prototypes, plane);
  const x = evened(prototypes.map((one) => one.x));
  const y = evened(prototypes.map((one) => one.y));
  const places = prototypes.map((_, i) => ({ x: x[i] * plane.width, y: y[i] * plane.height, side: sides[i] }));
  for (let round = 0; round < ROUNDS && pushApart(places, plane); round += 1);
  return { ...plane, places };
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
    const half = place.side / 2 + 1;
    place.x = Math.max(half, Math.min(width - half, place.x));
    place.y = Math.max(half, Math.min(height - half, place.y));
  }
  return moved;
}

function part(one, other) {
  const apart = (one.side + other.side) / 2 + GAP;
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const [x, y] = [apart - Math.abs(dx), apart - Math.abs(dy)];
  if (x <= 0.5 || y <= 0.5) return false;
  if (x < y) {
    const by = (dx < 0 ? -x : x) / 2;
    one.x -= by;
    other.x += by;
  } else {
    const by = (dy < 0 ? -y : y) / 2;
    one.y -= by;
    other.y += by;
  }
  return true;
}

/** What part of the map is seen: zoom and pan by wheel, drag, pinch, buttons and keys. */

const STEP = 1.4;
const CLOSEST = 160; // pixels of a photo of mean size, at the largest zoom
const CLICK = 5; // pixels that a hand moves while it clicks

export class View {
  /** @param {HTMLElement} plane @param {() => void} changed */
  constructor(plane, changed) {
    Object.assign(this, { plane, changed, zoom: 1, x: 0, y: 0, most: 1, width: 1, height: 1 });
    this.pointers = new Map();
    this.dragged = false;
    plane.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    plane.addEventListener("pointerdown", (event) => this.down(event));
    plane.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"])
      plane.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    // a drag that ends over a photo is no click on it
    plane.addEventListener("click", (event) => this.dragged && (event.preventDefault(), event.stopPropagation()), true);
  }

  /** The whole plane of a layout; `keep` leaves the part that is seen. */
  over({ width, height, places }, keep) {
    Object.assign(this, { width, height });
    this.fit = Math.min(this.plane.clientWidth / width, this.plane.clientHeight / height);
    const mean = places.reduce((sum, { side }) => sum + side, 0) / places.length;
    this.most = Math.max(this.fit, CLOSEST / mean);
    if (!keep) this.zoom = this.fit;
    this.to(this.zoom, this.x, this.y);
  }

  get whole() {
    return this.zoom <= this.fit * 1.001;
  }

  /** A place of the plane as it is seen. */
  seen({ x, y }) {
    return [x * this.zoom + this.x, y * this.zoom + this.y];
  }

  to(zoom, x, y) {
    this.zoom = Math.max(this.fit, Math.min(this.most, zoom));
    this.x = within(x, this.plane.clientWidth - this.width * this.zoom);
    this.y = within(y, this.plane.clientHeight - this.height * this.zoom);
    this.plane.classList.toggle("zoomed", !this.whole);
    this.changed();
  }

  /** What lies at a point of the screen stays there. */
  zoomBy(factor, x = this.plane.clientWidth / 2, y = this.plane.clientHeight / 2) {
    const zoom = Math.max(this.fit, Math.min(this.most, this.zoom * factor));
    const by = zoom / this.zoom;
    this.to(zoom, x - (x - this.x) * by, y - (y - this.y) * by);
  }

  closer() {
    this.zoomBy(STEP);
  }

  farther() {
    this.zoomBy(1 / STEP);
  }

  all() {
    this.to(this.fit, 0, 0);
  }

  panBy(x, y) {
    this.to(this.zoom, this.x + x, this.y + y);
  }

  /** Moves only where a place is not seen. */
  reveal({ x, y, side }) {
    const half = (side * this.zoom) / 2 + 8;
    const [left, top] = this.seen({ x, y });
    const by = (at, size) => (at < half ? half - at : at > size - half ? size - half - at : 0);
    const [dx, dy] = [by(left, this.plane.clientWidth), by(top, this.plane.clientHeight)];
    if (dx || dy) this.panBy(dx, dy);
  }

  wheel(event) {
    if (event.deltaY > 0 && this.whole) return; // nothing to see beyond: the page scrolls on
    event.preventDefault();
    this.zoomBy(Math.exp(-Math.max(-80, Math.min(80, event.deltaY)) / 240), ...this.at(event));
  }

  down(event) {
    if (event.button) return;
    this.pointers.set(event.pointerId, this.at(event));
    if (this.pointers.size === 1) this.dragged = false;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.at(event);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other && !this.dragged && Math.hypot(now[0] - before[0], now[1] - before[1]) < CLICK) return;
    if (!this.dragged) this.plane.setPointerCapture(event.pointerId);
    this.dragged = true;
    this.pointers.set(event.pointerId, now);
    if (other)
      this.zoomBy(
        apart(now, other) / Math.max(1, apart(before, other)),
        (now[0] + other[0]) / 2,
        (now[1] + other[1]) / 2,
      );
    else this.panBy(now[0] - before[0], now[1] - before[1]);
  }

  at(event) {
    const place = this.plane.getBoundingClientRect();
    return [event.clientX - place.left - this.plane.clientLeft, event.clientY - place.top - this.plane.clientTop];
  }
}

const apart = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

/** Room is what is left over: in the middle where there is some, else within the edges. */
const within = (at, room) => (room >= 0 ? room / 2 : Math.max(room, Math.min(0, at)));

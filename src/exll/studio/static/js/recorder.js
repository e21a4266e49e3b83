/** Recording: frames are taught in small batches while the button is held, so that the answers move meanwhile. */

import { postForm } from "./api.js";
import { wait } from "./dom.js";
import { complain } from "./notice.js";
import { teach } from "./queue.js";
import { newGroup, UNDONE } from "./sending.js";
import { counted } from "./words.js";

const BETWEEN = 200; // milliseconds from frame to frame
const BATCH = 4;
const MOST = 150; // frames in one recording
let last = Promise.resolve(); // what is being sent: recordings follow each other, so that each stays one step to undo

/** One recording of a class, and one step to undo. */
export class Recording {
  /** @param {string} label @param {(count: number, numbers: number[]) => void} told Frames so far, and newly taught. */
  constructor(label, camera, told) {
    Object.assign(this, { label, camera, told, on: true, count: 0, waiting: [], sending: null, undone: false, group: newGroup() });
    this.became = { taught: 0, already: 0, conflict: 0 }; // of the frames that were sent
  }

  stop() {
    this.on = false;
  }

  /** Until it is stopped. */
  async run() {
    while (this.on && this.count < MOST) {
      const started = performance.now();
      try {
        const frame = await this.camera.frame();
        this.count += 1;
        this.waiting.push(new File([frame], `camera ${this.count}.jpg`, { type: frame.type }));
      } catch (error) {
        complain(error);
        break;
      }
      this.told(this.count, []);
      this.sending ??= last = last.then(() => this.send());
      await wait(Math.max(0, BETWEEN - (performance.now() - started)));
    }
    this.on = false;
  }

  /** What became of the frames, when all are sent. */
  async summary() {
    await this.sending;
    if (this.undone) return "The recording was undone";
    const { taught, already, conflict } = this.became;
    return [
      `${counted(taught, "photo")} of ${this.label} learned`,
      already && `${already.toLocaleString("en")} the same as one taught before`,
      conflict && `${conflict.toLocaleString("en")} taught as another class before`,
    ]
      .filter(Boolean)
      .join(", ");
  }

  async send() {
    while (this.waiting.length) {
      const files = this.waiting.splice(0, BATCH);
      try {
        const fields = { label: this.label, files, group: this.group, clip: this.group, unless_undone: true };
        const { results } = await postForm("/api/teach", fields).catch(resultsOf);
        for (const { status } of results) this.became[status] += 1;
        this.told(this.count, results.filter(({ example }) => example).map(({ example }) => example.id));
      } catch (error) {
        if (error.status === UNDONE) {
          this.stop();
          [this.undone, this.waiting] = [true, []];
          break;
        }
        teach(this.label, files, { group: this.group, clip: this.group }); // it says what is wrong, and can try again
      }
    }
    this.sending = null;
  }
}

/** Of frames that are all in other classes already: they are counted, and nobody is asked while recording. */
function resultsOf(error) {
  if (error.body?.results?.every(({ status }) => status === "conflict")) return error.body;
  throw error;
}

/**
 * A button that records while it is held by pointer or key; where `once()` says so, one press starts and one stops.
 * @param {HTMLElement} button @param {() => boolean} once @param {{start: () => void, stop: () => void}} does
 * @returns {() => void} To be called when the recording has ended by itself.
 */
export function holdable(button, once, { start, stop }) {
  let on = false;
  const begin = () => {
    if (on) return;
    on = true;
    start();
  };
  const end = () => {
    if (!on) return;
    on = false;
    stop();
  };
  const press = () => (on && once() ? end() : begin());
  const release = () => once() || end();
  button.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    button.setPointerCapture(event.pointerId);
    press();
  });
  for (const kind of ["pointerup", "pointercancel", "blur"]) button.addEventListener(kind, release);
  button.addEventListener("contextmenu", (event) => event.preventDefault()); // a long touch
  const keyed = (act) => (event) => {
    if (event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    if (!event.repeat) act();
  };
  button.addEventListener("keydown", keyed(press));
  button.addEventListener("keyup", keyed(release));
  // Screen readers click without a press, and cannot hold.
  button.addEventListener("click", (event) => event.detail || (on ? end() : begin()));
  return () => (on = false);
}

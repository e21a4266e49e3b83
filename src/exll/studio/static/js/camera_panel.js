/** The camera inside a class's card: hold to record, or take one. */

import { Camera } from "./camera.js";
import { fill, h, wait } from "./dom.js";
import { say, trying } from "./notice.js";
import { counted } from "./words.js";

const BETWEEN = 200;
const MOST_AT_ONCE = 150;
let open = null;

/** Only one camera is open at a time. @param {string} label @param {(frames: Blob[]) => void} recorded */
export function toggleCamera(label, slot, button, recorded) {
  const same = open?.slot === slot;
  open?.close();
  if (!same) trying(() => new Panel(label, slot, button, recorded).start());
}

class Panel {
  constructor(label, slot, button, recorded) {
    Object.assign(this, { label, slot, button, recorded, held: false });
    this.camera = new Camera();
    this.status = h("p", { class: "faint", role: "status" });
    this.hold = h("button", { type: "button", class: "primary hold" }, "Hold to record");
    this.element = h(
      "div",
      { class: "camera" },
      this.camera.video,
      h("div", { class: "row" }, this.hold, h("button", { type: "button", onclick: () => this.takeOne() }, "Take one picture")),
      this.status,
    );
    this.listen();
  }

  async start() {
    open = this;
    try {
      await this.camera.open();
    } catch (error) {
      open = null;
      throw error;
    }
    this.button.setAttribute("aria-pressed", "true");
    fill(this.slot, this.element);
    this.element.scrollIntoView({ block: "nearest" });
    this.status.textContent = "Turn the object while you record, so that all its sides are learned.";
    await this.offerDevices();
  }

  close() {
    this.release();
    this.camera.close();
    this.button.setAttribute("aria-pressed", "false");
    fill(this.slot);
    open = null;
  }

  listen() {
    this.hold.addEventListener("pointerdown", (event) => {
      this.hold.setPointerCapture(event.pointerId);
      this.record();
    });
    for (const kind of ["pointerup", "pointercancel", "blur"]) this.hold.addEventListener(kind, () => this.release());
    this.hold.addEventListener("contextmenu", (event) => event.preventDefault()); // a long touch
    this.hold.addEventListener("keydown", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      if (!event.repeat) this.record();
    });
    this.hold.addEventListener("keyup", () => this.release());
  }

  async offerDevices() {
    const devices = await this.camera.devices();
    if (devices.length < 2) return;
    const select = h(
      "select",
      { "aria-label": "Camera" },
      devices.map((device, i) => h("option", { value: device.deviceId }, device.label || `Camera ${i + 1}`)),
    );
    select.value = this.camera.stream.getVideoTracks()[0].getSettings().deviceId;
    select.addEventListener("change", () => trying(() => this.camera.open(select.value)));
    this.element.append(select);
  }

  async takeOne() {
    const frame = await trying(() => this.camera.frame());
    if (frame) this.recorded([frame]);
  }

  /** One hold is one step to undo, so the pictures are sent when it ends. */
  async record() {
    if (this.held) return;
    this.held = true;
    this.element.classList.add("recording");
    const frames = [];
    while (this.held && frames.length < MOST_AT_ONCE) {
      const started = performance.now();
      const frame = await trying(() => this.camera.frame());
      if (!frame) break;
      frames.push(frame);
      this.status.textContent = `Recording: ${counted(frames.length, "picture")}`;
      await wait(Math.max(0, BETWEEN - (performance.now() - started)));
    }
    this.release();
    this.element.classList.remove("recording");
    this.status.textContent = `Recorded ${counted(frames.length, "picture")}.`;
    say(this.status.textContent);
    if (frames.length) this.recorded(frames);
  }

  release() {
    this.held = false;
  }
}

addEventListener("pagehide", () => open?.close());

/** "No, it is this": teaches what is on the preview once, and says what that did. */

import { postForm, postJson } from "./api.js";
import { byId, fill, quoted } from "./dom.js";
import { complain, say, trying } from "./notice.js";
import { undoStep } from "./undo.js";
import { confidence } from "./words.js";

const GONE = 404; // the server keeps what was asked about only for a while
const [words, undo, learn, bars] = ["did-words", "did-undo", "did-learn", "bars"].map(byId);

export class Correction {
  /** @param {() => void} changed Called when the answer may be another. */
  constructor(changed) {
    Object.assign(this, { changed, busy: false, step: null, heldOut: null });
    undo.addEventListener("click", () => {
      const { step } = this;
      this.hint("");
      undoStep(step);
    });
    learn.addEventListener("click", () => this.learn(this.heldOut));
  }

  /** Whether what is said here is of the newest step, which undo would take back. */
  isOf(newest) {
    return this.busy || (this.step !== null && this.step === newest?.id);
  }

  /** @param {string} hint What to do, while nothing was done. */
  hint(hint) {
    // not a field: phones would show their keyboard
    if ([undo, learn].includes(document.activeElement)) bars.querySelector("button")?.focus({ preventScroll: true });
    undo.hidden = learn.hidden = true;
    this.step = this.heldOut = null;
    fill(words, hint);
  }

  /** A photo of another class is moved. A second press while the first is on its way does nothing.
   * @param {{asked: string | null, file: Blob}} about */
  async teach(about, label) {
    if (this.busy) return false;
    this.busy = true;
    bars.setAttribute("aria-busy", "true");
    try {
      this.show(await this.send(about, { label, move: true }));
      this.changed();
      return true;
    } catch (error) {
      complain(error, () => this.teach(about, label));
      return false;
    } finally {
      this.busy = false;
      bars.removeAttribute("aria-busy");
    }
  }

  /** A photo that was held out for measuring. @param {{id: number, label: string}} example */
  async learn({ id, label }) {
    this.busy = true;
    const { step } = (await trying(() => postJson("/api/examples/hold-out", { ids: [id], held_out: false }))) ?? {};
    if (step) {
      this.hint("");
      this.step = step;
      this.#tell("Taught as ", quoted(label), ". It is no longer held out.");
    }
    this.busy = false;
  }

  async send({ asked, file }, fields) {
    try {
      if (asked) return await postForm("/api/correct", { asked, ...fields });
    } catch (error) {
      if (error.status !== GONE) throw error;
    }
    return postForm("/api/correct", { file, ...fields });
  }

  show({ label, status, before, after, turned, step, example }) {
    if (status === "already") {
      this.hint("");
      if (example?.role !== "held out") {
        fill(words, "Taught as ", quoted(label), " before; not taught again.");
        return;
      }
      fill(words, "Held out as ", quoted(label), ", to measure the model. So it was not taught.");
      say(words.textContent);
      this.heldOut = example;
      learn.hidden = false;
      return;
    }
    this.step = step;
    const change = `: ${confidence(before.probability)} → ${confidence(after.probability)}.`;
    this.#tell(status === "moved" ? "Moved to " : "Taught as ", quoted(label), change, !turned && " The answer is still another one.");
  }

  #tell(...sentence) {
    fill(words, ...sentence);
    undo.hidden = false;
    say(words.textContent.replace("→", "to"));
  }
}

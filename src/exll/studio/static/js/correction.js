/** "No, it is this": teaches what is on the preview once, and says what that did. */

import { postForm, postJson } from "./api.js";
import { choice } from "./dialogs.js";
import { byId, fill, h, quoted } from "./dom.js";
import { complain, say, trying } from "./notice.js";
import { confidence } from "./words.js";

const GONE = 404; // the server keeps what was asked about only for a while
const [words, undo, bars] = ["did-words", "did-undo", "bars"].map(byId);

export class Correction {
  /** @param {() => void} changed Called when the answer may be another. */
  constructor(changed) {
    Object.assign(this, { changed, busy: false });
    undo.addEventListener("click", () => {
      this.hint("");
      byId("undo").click(); // which says what it has taken back
    });
  }

  /** @param {string} hint What to do, while nothing was done. */
  hint(hint) {
    if (document.activeElement === undo) byId("other").focus({ preventScroll: true });
    undo.hidden = true;
    fill(words, hint);
  }

  /** A second press while the first is on its way does nothing. @param {{asked: string | null, file: Blob}} about */
  async teach(about, label, twoLabels = false) {
    if (this.busy) return false;
    this.busy = true;
    bars.setAttribute("aria-busy", "true");
    try {
      this.show(await this.send(about, { label, two_labels: twoLabels }));
      this.changed();
      return true;
    } catch (error) {
      this.busy = false;
      const known = error.status === 409 ? await this.taughtAs(about) : [];
      if (known.length) return await this.settle(about, known, label);
      complain(error, () => this.teach(about, label, twoLabels));
      return false;
    } finally {
      this.busy = false;
      bars.removeAttribute("aria-busy");
    }
  }

  async send({ asked, file }, fields) {
    try {
      if (asked) return await postForm("/api/correct", { asked, ...fields });
    } catch (error) {
      if (error.status !== GONE) throw error;
    }
    return postForm("/api/correct", { file, ...fields });
  }

  async taughtAs({ file }) {
    return (await postForm("/api/predict", { file }).catch(() => null))?.taught_as ?? [];
  }

  /** This photo was taught as another class. */
  async settle(about, examples, label) {
    const known = examples.map((example) => example.label).join(", ");
    const answer = await choice(
      "This photo was taught before",
      [h("p", {}, "It was taught as ", quoted(known), ". Now you say ", quoted(label), ".")],
      [
        [`Call it ${label}`, "relabel"],
        ["Both classes are right", "both", ""],
      ],
      `Leave it as ${known}`,
    );
    if (answer === "both") return this.teach(about, label, true);
    if (answer !== "relabel") return false;
    const ids = examples.map(({ id }) => id);
    const changed = await trying(() => postJson("/api/examples/relabel", { ids, label }));
    if (!changed) return false;
    this.#tell("The class of the photo is ", quoted(label), " now.");
    this.changed();
    return true;
  }

  show({ label, status, before, after, turned }) {
    if (status === "already") {
      this.hint("");
      fill(words, "Taught as ", quoted(label), " before; not taught again.");
      return;
    }
    const change = `: ${confidence(before.probability)} → ${confidence(after.probability)}.`;
    this.#tell("Taught as ", quoted(label), change, !turned && " One photo is not enough; teach a few more.");
  }

  #tell(...sentence) {
    fill(words, ...sentence);
    undo.hidden = false;
    say(words.textContent.replace("→", "to"));
  }
}

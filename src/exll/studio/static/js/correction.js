/** "No, it is ...": teaches the picture once, and shows what that did. */

import { get, postForm, postJson } from "./api.js";
import { chips, choice } from "./dialogs.js";
import { bar, fill, h, quoted } from "./dom.js";
import { complain, say, trying } from "./notice.js";
import { confidence } from "./words.js";

export class Correction {
  /** @param {HTMLElement} element @param {() => void} changed Called when the answer may be another. */
  constructor(element, changed) {
    Object.assign(this, { element, changed, busy: false });
  }

  clear() {
    fill(this.element);
  }

  /** After an edit the classes may be others. What somebody is typing stays, and so does what a correction did. */
  async offerAgain(about) {
    const typing = this.element.querySelector("#other");
    if (typing) await this.offer(about, () => typing.isConnected && !typing.value);
  }

  /** @param {{asked: string, prediction: any, taughtAs: any[]}} about @param {() => boolean} wanted Still, by then. */
  async offer(about, wanted = () => true) {
    const answer = await trying(() => get("/api/classes"));
    if (!answer || !wanted()) return;
    const { label, known } = about.prediction;
    const others = answer.classes.map((one) => one.label).filter((one) => !(known && one === label));
    const input = h("input", { id: "other", autocomplete: "off", maxlength: 100, placeholder: "a new name" });
    const submit = (event) => {
      event.preventDefault();
      if (input.value.trim()) this.teach(about, input.value.trim());
      else input.focus();
    };
    fill(
      this.element,
      h("h2", {}, known ? "Is that right?" : "What is it?"),
      known &&
        about.taughtAs.length === 0 &&
        h(
          "p",
          {},
          h(
            "button",
            { type: "button", onclick: () => this.teach(about, label) },
            "Yes, teach it as ",
            quoted(label),
          ),
        ),
      others.length > 0 && h("p", {}, known ? "No, it is …" : "It is …"),
      others.length > 0 && chips(others, (one) => this.teach(about, one)),
      h(
        "form",
        { class: "inline", onsubmit: submit },
        h("label", { for: "other" }, known ? "No, it is something else" : "It is something new"),
        input,
        h("button", {}, "Teach"),
      ),
    );
  }

  /** A second click while the first is on its way does nothing. */
  async teach(about, label, twoLabels = false) {
    if (this.busy) return;
    this.busy = true;
    this.element.setAttribute("aria-busy", "true");
    try {
      this.show(await postForm("/api/correct", { label, asked: about.asked, two_labels: twoLabels }));
      this.changed();
    } catch (error) {
      this.busy = false;
      if (error.status === 409 && about.taughtAs.length) await this.settle(about, label);
      else complain(error, () => this.teach(about, label, twoLabels));
    } finally {
      this.busy = false;
      this.element.removeAttribute("aria-busy");
    }
  }

  /** This picture was taught as another class. */
  async settle(about, label) {
    const known = about.taughtAs.map((example) => example.label).join(", ");
    const answer = await choice(
      "This picture was taught before",
      [h("p", {}, "It was taught as ", quoted(known), ". Now you say ", quoted(label), ".")],
      [
        [`Call it ${label}`, "relabel"],
        ["Both classes are right", "both", ""],
      ],
      `Leave it as ${known}`,
    );
    if (answer === "both") await this.teach(about, label, true);
    if (answer !== "relabel") return;
    const changed = await trying(() =>
      postJson("/api/examples/relabel", { ids: about.taughtAs.map(({ id }) => id), label }),
    );
    if (!changed) return;
    fill(
      this.element,
      h("h2", {}, "Changed"),
      h("p", {}, "The class of the picture is ", quoted(label), " now."),
    );
    this.changed();
  }

  show({ label, status, before, after, turned, sentence }) {
    fill(
      this.element,
      h(
        "h2",
        {},
        status === "already" ? "Taught before" : turned ? "Corrected" : "Not corrected yet",
      ),
      h("p", { role: "status" }, sentence),
      h(
        "div",
        { class: "turning" },
        h("span", {}, "Before"),
        bar(before.probability, true),
        h("span", {}, confidence(before.probability)),
        h("span", {}, "Now"),
        bar(after.probability),
        h("span", {}, h("strong", {}, confidence(after.probability))),
      ),
      h(
        "p",
        { class: "faint" },
        "The probability of ",
        quoted(label),
        " for this picture. ",
        status === "already" ? "It was not taught again." : "It was taught once; undo takes it back.",
      ),
    );
    say(sentence);
  }
}

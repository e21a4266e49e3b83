/** A group of photos that look alike: name all of them at once, or say that they are none of the classes. */

import { headline, UNLIKE } from "./answer.js";
import { postJson } from "./api.js";
import { chips, confirmed, nameMeant } from "./dialogs.js";
import { fill, h, pointedAt, quoted } from "./dom.js";
import { Tiles } from "./inbox_tiles.js";
import { tell, trying } from "./notice.js";
import { tellStep } from "./undo.js";
import { confidence, counted } from "./words.js";

const CHIPS = 3;
const FEW = 2; // photos: two such groups stand side by side
const LIKELY = 0.5;
const CONFIDENT = 0.85; // from here on the server says that a photo is known

/** Photos that are to be named, marked or dismissed; whichever has no tick is left alone. */
export class InboxCard {
  /** @param {() => void} done Called when the server did something. */
  constructor(done) {
    Object.assign(this, { done, busy: false, labels: [], drawn: "", group: null });
    this.title = h("h2", { tabindex: -1 });
    this.says = h("p", { class: "says" });
    this.yes = h("p", { class: "yes" });
    this.choice = h("div");
    this.pointed = pointedAt(this.choice, () => this.group && this.update(this.group, this.labels));
    this.input = h("input", {
      autocomplete: "off",
      maxlength: 100,
      placeholder: "another name",
      "aria-label": "Name of another class",
    });
    this.form = h(
      "form",
      { class: "inline", onsubmit: (event) => this.submit(event) },
      this.input,
      h("button", {}, "Teach"),
    );
    this.tiles = new Tiles(true, () => this.count());
    this.element = h(
      "section",
      { class: "card group" },
      h("div", { class: "look" }, this.title, this.tiles.element),
      h(
        "div",
        { class: "answers" },
        this.says,
        this.yes,
        this.choice,
        this.form,
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", onclick: () => this.nothing() }, "Not one of mine"),
          h("button", { type: "button", class: "danger", onclick: () => this.dismiss() }, "Dismiss"),
        ),
      ),
    );
  }

  /** What the model thinks of the group now. @param {any} group @param {string[]} labels All classes. */
  update(group, labels) {
    Object.assign(this, { group, labels });
    fill(this.says, opinion(group));
    const guesses = group.guesses.map(({ label }) => label);
    const ordered = [...guesses, ...labels.filter((label) => !guesses.includes(label))].slice(isGuess(group) ? 1 : 0);
    if (this.drawn !== JSON.stringify(ordered) && !this.pointed()) {
      this.drawn = JSON.stringify(ordered);
      fill(this.choice, chips(ordered, (label) => this.teach(label), CHIPS));
    }
    this.count();
  }

  /** How many are meant; the words on the button follow. */
  count() {
    const { size, chosen } = this.tiles;
    const some = chosen.length < size;
    this.element.classList.toggle("few", size <= FEW);
    this.title.textContent = counted(size, "photo") + (some ? `, ${chosen.length} selected` : "");
    const guess = this.group?.guesses[0];
    if (!guess || !isGuess(this.group)) {
      fill(this.yes);
      return;
    }
    const words = size === 1 ? "Yes, it is " : some ? `Yes, the ${chosen.length} selected are ` : "Yes, all are ";
    if (!this.yes.firstChild) {
      fill(this.yes, h("button", { type: "button", onclick: () => this.teach(this.group.guesses[0].label) }));
    }
    this.yes.firstChild.className = guess.probability >= CONFIDENT ? "primary" : "";
    fill(this.yes.firstChild, words, quoted(guess.label));
  }

  async submit(event) {
    event.preventDefault();
    const name = await nameMeant(this.input.value, this.labels);
    if (name) this.teach(name);
    else this.input.focus();
  }

  teach(label) {
    return this.act("teach", { label }, ({ taught }) => `${counted(taught, "photo")} taught as "${label}".`);
  }

  nothing() {
    return this.act(
      "nothing",
      {},
      ({ taught }) => `${counted(taught, "photo")} marked as none of your classes. What looks like this is unknown from now on.`,
    );
  }

  async dismiss() {
    const what = counted(this.tiles.chosen.length, "photo");
    if (!this.tiles.chosen.length) this.askToSelect();
    else if (await confirmed("Dismiss?", `${what} will be removed from this project. This cannot be undone.`, `Dismiss ${what}`)) {
      await this.act("dismiss", {}, ({ dismissed }) => `${counted(dismissed, "photo")} dismissed.`);
    }
  }

  /** A second click while the first is on its way does nothing. */
  async act(what, more, words) {
    const ids = this.tiles.chosen;
    if (this.busy) return;
    if (!ids.length) {
      this.askToSelect();
      return;
    }
    this.busy = true;
    this.element.setAttribute("aria-busy", "true");
    const answer = await trying(() => postJson(`/api/inbox/${what}`, { ids, ...more }));
    this.busy = false;
    this.element.removeAttribute("aria-busy");
    if (answer) {
      this.input.value = "";
      tellStep(words(answer), answer.step ?? null);
    }
    await this.done();
  }

  askToSelect() {
    tell("No photo is selected.", "Tick at least one photo of this group.");
  }
}

/** Whether the model has one class in mind. */
const isGuess = ({ level, guesses: [guess] }) => level !== "unknown" && guess?.probability >= LIKELY;

/** In the words of the Workbench. */
function opinion({ guesses, level, photos }) {
  const [guess, other] = guesses;
  if (!guess) return ["The model knows no class yet."];
  const parts = headline({ ...guess, runner_up: other?.label ?? null, level });
  const words = {
    usual: `Confidence: ${confidence(guess.probability)}.`,
    unusual: photos.length === 1 ? UNLIKE : "They are unlike the photos you taught.",
    unknown: ["The nearest class is ", quoted(guess.label), "."],
  };
  const said = parts.map((part) => (typeof part === "string" ? part : quoted(part.label)));
  return [h("strong", {}, said, parts.at(-1) !== "?" && "."), " ", words[level]];
}

/** All pictures of a class in a dialog: select some, move them to another class, delete them. */

import { get, postJson } from "./api.js";
import { askLabel, confirmed, showDialog } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { say, tell, trying } from "./notice.js";
import { picture } from "./pictures.js";
import { counted } from "./words.js";

const PAGE = 60;

/** @param {string} label @param {() => string[]} labels */
export function showGallery(label, labels) {
  return showDialog(`Pictures of ${label}`, () => new Gallery(label, labels).element);
}

class Gallery {
  constructor(label, labels) {
    Object.assign(this, { label, labels, chosen: new Set(), next: null, shown: [] });
    this.list = h("ul", { class: "picks" });
    this.words = h("span", { role: "status" });
    this.more = button("Show more", () => this.load());
    this.actions = h(
      "span",
      { class: "row", hidden: true },
      button("Change the class", () => this.relabel()),
      button("Delete", () => this.remove(), "danger"),
    );
    this.element = [
      h(
        "div",
        { class: "row tools" },
        button("Select all shown", () => this.chooseAll()),
        this.actions,
        this.words,
      ),
      this.list,
      this.more,
    ];
    this.load();
  }

  async load() {
    const before = this.next === null ? "" : `&before=${this.next}`;
    const page = await trying(
      () => get(`/api/examples?label=${encodeURIComponent(this.label)}&limit=${PAGE}${before}`),
      () => this.load(),
    );
    if (!page) return;
    this.shown.push(...page.examples.map((example) => example.id));
    this.list.append(...page.examples.map((example) => this.item(example)));
    this.next = page.next;
    this.more.hidden = page.next === null;
    this.count();
  }

  item({ id, label, name, taught_at: taught }) {
    const box = h("input", { type: "checkbox", value: id, "aria-label": `Select picture ${id}, ${name}` });
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(id);
      else this.chosen.delete(id);
      this.count();
    });
    const when = new Date(taught * 1000).toLocaleString();
    return h("li", {}, h("label", { class: "pick", title: `${name}, taught ${when}` }, picture(id, label), box));
  }

  chooseAll() {
    const all = this.chosen.size < this.shown.length;
    this.chosen = new Set(all ? this.shown : []);
    for (const box of this.list.querySelectorAll("input")) box.checked = all;
    this.count();
  }

  count() {
    this.actions.hidden = this.chosen.size === 0;
    this.words.textContent = this.chosen.size
      ? `${this.chosen.size} selected`
      : this.shown.length
        ? ""
        : "No pictures.";
  }

  async relabel() {
    const others = this.labels().filter((label) => label !== this.label);
    const label = await askLabel(`What ${this.chosen.size === 1 ? "is it" : "are they"}?`, others, { yes: "Change" });
    if (label) await this.change("/api/examples/relabel", { label }, `moved to ${label}`);
  }

  async remove() {
    const what = counted(this.chosen.size, "picture");
    if (await confirmed("Delete?", `${what} of ${this.label} will be deleted. You can undo this.`, `Delete ${what}`)) {
      await this.change("/api/examples/delete", {}, "deleted");
    }
  }

  async change(path, more, done) {
    const ids = [...this.chosen];
    const answer = await trying(() => postJson(path, { ids, ...more }));
    if (!answer) return;
    tell(`${counted(answer.changed, "picture")} ${done}.`, "Undo takes it back.", { seconds: 8 });
    say(`${counted(answer.changed, "picture")} ${done}.`);
    this.chosen.clear();
    this.shown = [];
    this.next = null;
    fill(this.list);
    await this.load();
  }
}

const button = (words, onclick, kind = "") => h("button", { type: "button", class: kind, onclick }, words);

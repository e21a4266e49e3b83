/** All photos of one class, with tools: select, move, delete. The gallery shows one, the Sort page two. */

import { get, postJson } from "./api.js";
import { askLabel, confirmed } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { trying } from "./notice.js";
import { Tiles } from "./tiles.js";
import { tellStep } from "./undo.js";
import { counted } from "./words.js";

const PAGE = 120;

export class Shelf {
  /**
   * @param {string} label
   * @param {{labels: () => string[], heading: HTMLElement, extra?: any, changed?: () => void}} options `heading` has the focus where no
   * photo is left.
   */
  constructor(label, { labels, heading, changed = () => {}, extra = null }) {
    Object.assign(this, { label, labels, heading, changed, wanted: PAGE });
    this.tiles = new Tiles(`Photos of ${label}`, () => this.count());
    this.words = h("span", { role: "status" });
    this.more = button("Show more", () => this.showMore());
    this.more.hidden = true;
    this.alike = button("", () => this.tiles.chooseAlike());
    this.alike.title = "Of each group of photos that are almost the same, all but one";
    this.alike.hidden = true;
    this.all = button("Select all", () => this.tiles.chooseAll());
    this.actions = h(
      "span",
      { class: "row", hidden: true },
      extra ?? button("Move to another class", () => this.ask()),
      button("Delete", () => this.remove(), "danger"),
    );
    this.element = [
      h("div", { class: "row tools" }, this.all, this.alike, this.words, this.actions),
      this.tiles.element,
      this.more,
    ];
  }

  async load() {
    const label = encodeURIComponent(this.label);
    const found = await trying(
      () => Promise.all([this.examples(label), get(`/api/examples/duplicates?label=${label}`)]),
      () => this.load(),
    );
    if (!found) return;
    const [{ examples, next }, { groups }] = found;
    const lost = document.activeElement === this.more && next === null;
    this.more.hidden = next === null;
    this.tiles.show(examples, groups);
    const spare = groups.reduce((sum, group) => sum + group.length - 1, 0);
    this.alike.hidden = spare === 0;
    fill(this.alike, h("span", { class: "wide" }, "Select near-"), `duplicates (${spare.toLocaleString("en")})`);
    this.count();
    if (lost) this.tiles.focus(this.tiles.numbers.length - 1);
  }

  /** As many as were shown before, in pages that the server gives. */
  async examples(label) {
    const examples = [];
    let next = null;
    do {
      const before = next === null ? "" : `&before=${next}`;
      const page = await get(`/api/examples?label=${label}&limit=${PAGE}${before}`);
      examples.push(...page.examples);
      next = page.next;
    } while (next !== null && examples.length < this.wanted);
    return { examples, next };
  }

  showMore() {
    this.wanted = this.tiles.numbers.length + PAGE;
    return this.load();
  }

  count() {
    const { size } = this.tiles.chosen;
    const held = this.actions.contains(document.activeElement);
    this.actions.hidden = size === 0;
    if (held && !size) this.all.focus();
    this.all.textContent = size && size === this.tiles.numbers.length ? "Select none" : "Select all";
    this.all.hidden = this.tiles.numbers.length === 0;
    this.words.textContent = size
      ? `${size.toLocaleString("en")} selected`
      : this.tiles.numbers.length
        ? ""
        : "No photos.";
    this.changed();
  }

  async ask() {
    const others = this.labels().filter((label) => label !== this.label);
    const label = await askLabel(`What ${this.tiles.chosen.size === 1 ? "is it" : "are they"}?`, others, {
      yes: "Move",
    });
    if (label) await this.move(label);
  }

  move(label, ids = [...this.tiles.chosen]) {
    return this.change("/api/examples/relabel", { ids, label }, `moved to "${label}"`);
  }

  async remove() {
    const what = counted(this.tiles.chosen.size, "photo");
    if (await confirmed("Delete?", `${what} of "${this.label}" will be deleted. You can undo this.`, `Delete ${what}`))
      await this.change("/api/examples/delete", { ids: [...this.tiles.chosen] }, "deleted");
  }

  /** The focus goes to the photo that follows those that are gone, or to the heading. */
  async change(path, body, done) {
    const { first } = this.tiles;
    const answer = await trying(() => postJson(path, body));
    if (!answer) return false;
    tellStep(`${counted(answer.changed, "photo")} ${done}.`, answer.step, () => this.refocus(first));
    await this.refocus(first);
    return true;
  }

  async refocus(first) {
    await this.load();
    if (!this.tiles.focus(first)) this.heading.focus();
  }
}

const button = (words, onclick, kind = "") => h("button", { type: "button", class: kind, onclick }, words);

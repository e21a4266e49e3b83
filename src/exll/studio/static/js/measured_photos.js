/** Held-out photos with what was said of them, in a dialog. */

import { get } from "./api.js";
import { showDialog } from "./dialogs.js";
import { h } from "./dom.js";
import { trying } from "./notice.js";
import { photo, picture } from "./pictures.js";
import { confidence, counted } from "./words.js";

const PAGE = 60;

/** @param {any} title @param {Record<string, any>} which Parameters of /api/evaluation/photos. */
export function showMeasured(title, which) {
  return showDialog(title, () => {
    const list = h("ul", { class: "measured" });
    const numbers = [];
    const words = h("p", { role: "status" }, "Looking …");
    const more = h("button", { type: "button", hidden: true, onclick: () => load() }, "Show more");
    async function load() {
      const start = list.children.length;
      const query = new URLSearchParams({ ...which, skip: start, limit: PAGE });
      const page = await trying(() => get(`/api/evaluation/photos?${query}`), load);
      if (!page) return;
      numbers.push(...page.photos.map(({ example }) => example.id));
      list.append(...page.photos.map((one) => item(one, numbers)));
      words.textContent = counted(page.count, "photo");
      more.hidden = list.children.length >= page.count;
      if (start) list.children[start]?.querySelector("button").focus();
    }
    load();
    return [words, list, more];
  });
}

function item({ example, prediction, near_duplicate_of: taught }, list) {
  return h(
    "li",
    {},
    photo(example.id, example.label, { list }),
    h("p", {}, "True class: ", h("strong", {}, h("bdi", {}, example.label))),
    h("p", {}, said(prediction)),
    taught !== null && h("p", { class: "beside" }, picture(taught, example.label), "a taught photo, almost the same"),
  );
}

function said({ label, known, level, probability }) {
  if (!known) return ["Answer: unknown (nearest: ", h("bdi", {}, label), ")"];
  const named = h("strong", {}, h("bdi", {}, label));
  return level === "unusual" ? ["Answer: maybe ", named] : ["Answer: ", named, `, ${confidence(probability)}`];
}

/** Held-out photos with what was said of them, in a dialog. */

import { address, get } from "./api.js";
import { showDialog } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { trying } from "./notice.js";
import { picture } from "./pictures.js";
import { confidence, counted } from "./words.js";

const PAGE = 60;

/** @param {any} title @param {Record<string, any>} which Parameters of /api/evaluation/photos. */
export function showMeasured(title, which) {
  return showDialog(title, () => {
    const list = h("ul", { class: "measured" });
    const words = h("p", { role: "status" }, "Looking …");
    const more = h("button", { type: "button", hidden: true, onclick: () => load() }, "Show more");
    async function load() {
      const start = list.children.length;
      const query = new URLSearchParams({ ...which, skip: start, limit: PAGE });
      const page = await trying(() => get(`/api/evaluation/photos?${query}`), load);
      if (!page) return;
      list.append(...page.photos.map(item));
      words.textContent = counted(page.count, "photo");
      more.hidden = list.children.length >= page.count;
      if (start) list.children[start]?.querySelector("a").focus();
    }
    load();
    return [words, list, more];
  });
}

function item({ example, prediction, near_duplicate_of: twin }) {
  return h(
    "li",
    {},
    opened(example),
    h("p", {}, "Is ", h("strong", {}, h("bdi", {}, example.label))),
    h("p", {}, said(prediction)),
    twin !== null && h("p", { class: "twin" }, picture(twin, example.label), "taught, nearly the same"),
  );
}

function said({ label, known, level, probability }) {
  const sure = `, ${confidence(probability)}`;
  if (!known) return ["Answer: unknown (nearest: ", h("bdi", {}, label), ")"];
  return [level === "unusual" ? "Answer: maybe " : "Answer: ", h("strong", {}, h("bdi", {}, label)), sure];
}

/** Large, in a tab of its own. */
const opened = ({ id, image, label }) =>
  h("a", { href: address(image), target: "_blank", title: "See it large" }, picture(id, label));

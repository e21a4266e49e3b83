/** Choosing a class: one that exists, found by typing, or a new one. */

import { nameMeant, showDialog } from "./dialogs.js";
import { fill, h, pointedAt } from "./dom.js";
import { confidence, hasWords } from "./words.js";

const MOST_CHIPS = 12;
const LEAST_SHOWN = 0.01; // less probable classes have no number
let counter = 0;

/** Ask for a class that exists; there is no way to name another. The only one is chosen already. Gives null where
 * nothing was chosen. */
export function askExisting(title, labels, { yes, content = null }) {
  return showDialog(title, (close) => {
    const search = h("input", {
      id: "find-class",
      type: "search",
      autocomplete: "off",
      "data-first": labels.length > 1,
    });
    const list = h("select", {
      id: "existing",
      size: Math.max(2, Math.min(8, labels.length)),
      "data-first": labels.length === 1,
    });
    const submit = () => (list.value ? close(list.value) : list.focus());
    const draw = () => {
      const found = labels.filter((label) => hasWords(label, search.value));
      const kept = found.includes(list.value) ? list.value : found.length === 1 ? found[0] : null;
      fill(
        list,
        found.map((label) => h("option", { value: label, selected: label === kept }, label)),
      );
    };
    search.addEventListener("input", draw);
    for (const field of [search, list])
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter") submit();
        else if (field === search && event.key === "ArrowDown") list.focus();
        else return;
        event.preventDefault();
      });
    list.addEventListener("dblclick", submit);
    draw();
    return [
      content,
      labels.length > 1 && h("div", { class: "field" }, h("label", { for: "find-class" }, "Find a class"), search),
      h("div", { class: "field" }, h("label", { for: "existing" }, "Class"), list),
      h(
        "div",
        { class: "row end" },
        h("button", { type: "button", onclick: () => close() }, "Cancel"),
        h("button", { type: "button", class: "primary", onclick: submit }, yes),
      ),
    ];
  });
}

/** A field for a name, and a button for every class that the letters typed so far are in. `show` says in which order, and
 * how probable each is. The buttons stay as they are while the mouse, a finger or the focus is on them. */
export function classField(words, chosen) {
  let labels = [];
  let shares = {};
  const id = `class-field-${(counter += 1)}`;
  const input = h("input", { id, autocomplete: "off", maxlength: 100, placeholder: "class, new or known" });
  const list = h("div", { class: "chips", role: "group", "aria-label": "Classes" });
  const submit = async () => {
    const name = await nameMeant(input.value, labels);
    if (name) chosen(name);
    else input.focus();
  };
  const draw = () => {
    const found = labels.filter((label) => hasWords(label, input.value));
    fill(
      list,
      found
        .slice(0, MOST_CHIPS)
        .map((label) =>
          h(
            "button",
            { type: "button", onclick: () => chosen(label) },
            h("bdi", {}, label),
            shares[label] >= LEAST_SHOWN && h("span", { class: "share" }, ` ${confidence(shares[label])}`),
          ),
        ),
      found.length > MOST_CHIPS &&
        h("span", { class: "faint" }, `${found.length - MOST_CHIPS} more: type to find them`),
    );
  };
  input.addEventListener("input", draw);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    submit();
  });
  const element = h(
    "div",
    { class: "class-field" },
    h("label", { for: id }, words),
    h("div", { class: "row" }, input, h("button", { type: "button", class: "primary", onclick: submit }, "Teach")),
    list,
  );
  const drawUnused = () => !pointed() && !list.contains(document.activeElement) && draw();
  const pointed = pointedAt(list, drawUnused);
  list.addEventListener("focusout", ({ relatedTarget }) => list.contains(relatedTarget) || drawUnused());
  const show = (ordered, probable = {}) => {
    [labels, shares] = [ordered, probable];
    drawUnused();
  };
  return { element, input, show };
}

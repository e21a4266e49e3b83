/** Questions in a <dialog>: they close with Escape, and the focus goes back where it was. */

import { byId, fill, h } from "./dom.js";
import { homeMessages } from "./notice.js";

let counter = 0;

/**
 * Show a dialog until it is closed; gives what `close` was called with, or null for Escape.
 * @param {string} title
 * @param {(close: (answer?: any) => void) => any} build Children of its form.
 */
export function showDialog(title, build) {
  return new Promise((resolve) => {
    const heading = `dialog-${(counter += 1)}`;
    const before = document.activeElement;
    let answer = null;
    const close = (given = null) => {
      answer = given;
      dialog.close();
    };
    const dialog = h(
      "dialog",
      { "aria-labelledby": heading },
      h(
        "form",
        { method: "dialog", onsubmit: (event) => event.preventDefault() },
        h(
          "div",
          { class: "head" },
          h("h2", { id: heading }, title),
          h("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => close() }, "×"),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      homeMessages();
      dialog.remove();
      goBackTo(before);
      resolve(answer);
    });
    dialog.firstElementChild.append(...[build(close)].flat(Infinity).filter(Boolean));
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("[data-first]")?.focus();
  });
}

/** A page that was drawn anew meanwhile has another element of the same key. */
function goBackTo(before) {
  const key = before?.dataset?.key;
  const again = key && document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (before?.isConnected) before.focus();
  else (again || byId("main")).focus();
}

/** @param {string} title @param {string} words @param {string} yes */
export async function confirmed(title, words, yes) {
  return (await choice(title, [h("p", {}, words)], [[yes, true, "danger"]])) === true;
}

/** Buttons for answers, and one that changes nothing; `beside` stands with them. @param {[string, any, string?][]} answers */
export function choice(title, content, answers, otherwise = "Cancel", beside = null) {
  return showDialog(title, (close) => [
    content,
    h(
      "div",
      { class: "row end" },
      beside,
      h("button", { type: "button", onclick: () => close() }, otherwise),
      answers.map(([words, value, kind = "primary"], i) =>
        h("button", { type: "button", class: kind, "data-first": i === 0, onclick: () => close(value) }, words),
      ),
    ),
  ]);
}

/**
 * Ask for a class: typed anew or one that is known.
 * @param {string} title @param {string[]} labels @param {{given?: string, yes?: string, content?: any, beside?: any}} [options]
 * @returns {Promise<string | null>}
 */
export function askLabel(title, labels, { given = "", yes = "Teach", content = null, beside = null } = {}) {
  return showDialog(title, (close) => {
    const input = h("input", {
      id: "class-name",
      autocomplete: "off",
      maxlength: 100,
      value: given,
      "data-first": true,
    });
    const submit = () => {
      if (input.value.trim()) close(input.value.trim());
      else input.focus();
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        submit();
      }
    });
    return [
      content,
      h("div", { class: "field" }, h("label", { for: "class-name" }, "Name of the class"), input),
      labels.length > 0 && chips(labels, (label) => close(label)),
      h(
        "div",
        { class: "row end" },
        beside,
        h("button", { type: "button", onclick: () => close() }, "Cancel"),
        h("button", { type: "button", class: "primary", onclick: submit }, yes),
      ),
    ];
  });
}

/** A button for every class; where there are many, a field finds them. */
export function chips(labels, chosen, most = 24) {
  const list = h("div", { class: "chips", role: "group", "aria-label": "Classes" });
  const draw = (all) =>
    fill(
      list,
      labels
        .slice(0, all ? labels.length : most)
        .map((label) => h("button", { type: "button", onclick: () => chosen(label) }, h("bdi", {}, label))),
      !all &&
        labels.length > most &&
        h("button", { type: "button", class: "quiet", onclick: () => draw(true) }, `${labels.length - most} more …`),
    );
  return draw(false);
}

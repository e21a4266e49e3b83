/** Questions in a <dialog>: they close with Escape, and the focus goes back where it was. */

import { byId, fill, h, quoted } from "./dom.js";
import { homeMessages } from "./notice.js";
import { existing } from "./words.js";

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
  const seen = [before, again].find((one) => one && one !== document.body && one.checkVisibility());
  (seen ?? byId("main")).focus({ preventScroll: !seen });
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
 * Names as they are meant: one that is written almost like an existing class may be that class. Null where the person
 * closes the question.
 * @param {string[]} names @param {string[]} labels Classes that there are.
 * @returns {Promise<string[] | null>}
 */
export async function meant(names, labels) {
  const like = names.map((name) => existing(name, labels));
  const pairs = names.map((name, i) => [name, like[i]]).filter(([, label]) => label);
  if (!pairs.length) return names;
  const [[name, label]] = pairs;
  const one = pairs.length === 1;
  const use = await choice(
    one ? `You have "${label}". Use it?` : `You have ${pairs.length} of these classes. Use them?`,
    one
      ? [h("p", {}, quoted(name), " would become another class.")]
      : [
          h("p", {}, "Otherwise these become classes of their own:"),
          h("ul", { class: "scroll" }, pairs.map(([typed, known]) => h("li", {}, quoted(typed), ": you have ", quoted(known)))),
        ],
    [
      [one ? "Use it" : "Use them", true],
      [one ? "Keep both" : "Keep all", false, ""],
    ],
  );
  return use === null ? null : use ? names.map((typed, i) => like[i] ?? typed) : names;
}

/** The same for a field: null also where nothing is typed. @param {string} typed @param {string[]} labels */
export async function nameMeant(typed, labels) {
  const names = typed.trim() && (await meant([typed.trim()], labels));
  return names ? names[0] : null;
}

/**
 * Ask for a class: typed anew or one that is known.
 * @param {string} title @param {string[]} labels For each a button.
 * @param {{known?: string[], given?: string, yes?: string, content?: any, beside?: any}} [options] `known`: classes that a
 * typed name may mean.
 * @returns {Promise<string | null>}
 */
export function askLabel(title, labels, { known = labels, given = "", yes = "Teach", content = null, beside = null } = {}) {
  return showDialog(title, (close) => {
    const input = h("input", {
      id: "class-name",
      autocomplete: "off",
      maxlength: 100,
      value: given,
      "data-first": true,
    });
    const submit = async () => {
      const name = await nameMeant(input.value, known);
      if (name) close(name);
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

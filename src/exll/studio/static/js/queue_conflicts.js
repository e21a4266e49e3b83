/** Photos that are in another class already: only the person knows which class is right. Asked once for all of them. */

import { postJson } from "./api.js";
import { showDialog } from "./dialogs.js";
import { h, quoted } from "./dom.js";
import { trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { decide } from "./queue.js";
import { counted } from "./words.js";

const SHOWN = 8;
let asked = 0; // how many there were when this page last asked by itself
let closeOpen = null;

/**
 * @param {{key: number, store: number, label: string, taughtAs: {id: number, label: string}[]}[]} conflicts
 * @param {boolean} byItself Not because a button was pressed: then only once, and not over another dialog.
 */
export async function askAbout(conflicts, byItself = false) {
  if (!conflicts.length) closeOpen?.(); // decided on another page
  const again = byItself && conflicts.length <= asked;
  asked = Math.min(asked, conflicts.length);
  if (!conflicts.length || again || closeOpen) return;
  if (byItself && (document.visibilityState !== "visible" || document.querySelector("dialog[open]"))) return;
  asked = conflicts.length;
  const decision = await question(conflicts);
  closeOpen = null;
  if (decision === "moved" && !(await trying(() => relabel(conflicts)))) return;
  if (decision) await decide(decision, conflicts);
}

async function relabel(conflicts) {
  for (const [label, ids] of gathered(conflicts, ({ label }) => label, ({ taughtAs }) => taughtAs.map(({ id }) => id)))
    await postJson("/api/examples/relabel", { ids, label });
  return true;
}

function question(conflicts) {
  const many = conflicts.length > 1;
  const pairs = gathered(
    conflicts,
    ({ label, taughtAs }) => JSON.stringify([[...new Set(taughtAs.map(nameOf))].join(", "), label]),
    ({ taughtAs }) => taughtAs.map(({ id }) => id),
  );
  const [[before, label]] = [...pairs.keys()].map((pair) => JSON.parse(pair));
  const one = pairs.size === 1;
  const it = many ? "them" : "it";
  const answers = [
    [one ? `Leave ${it} as ${before}` : "Leave them as they are", "left", ""],
    [many ? "Both classes are right" : "Both are right", "both", ""],
    [one ? `Call ${it} ${label}` : "Change their classes", "moved", "primary"],
  ];
  return showDialog(
    many ? `${counted(conflicts.length, "photo")} are in another class` : "This photo is in another class",
    (close) => {
      closeOpen = close;
      return [
        [...pairs].map(([pair, ids]) => kind(JSON.parse(pair), ids)),
        h(
          "div",
          { class: "row end" },
          answers.map(([text, value, style], i) =>
            h("button", { type: "button", class: style, "data-first": i === 2, onclick: () => close(value) }, text),
          ),
        ),
      ];
    },
  );
}

const nameOf = ({ label }) => label || "none of the classes";

function kind([before, label], ids) {
  return h(
    "div",
    {},
    h("p", {}, `${counted(ids.length, "photo")}: taught as `, quoted(before), ". Now you say ", quoted(label), "."),
    pictures(ids.slice(0, SHOWN), before, { large: true, more: ids.length - SHOWN }),
  );
}

/** Lists by a key. */
function gathered(items, keyOf, partsOf) {
  const lists = new Map();
  for (const item of items) {
    if (!lists.has(keyOf(item))) lists.set(keyOf(item), []);
    lists.get(keyOf(item)).push(...partsOf(item));
  }
  return lists;
}

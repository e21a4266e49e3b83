/** What is confused: the most frequent first, and all answers as a matrix whose cells open their photos. */

import { byId, fill, h, quoted } from "./dom.js";
import { showMeasured } from "./measured_photos.js";
import { counted } from "./words.js";

const MOST = 12; // confusions in the list
const FEW = 12; // classes of which the matrix is open at once
const END = 8; // letters of a name that are never cut off
const ARROWS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const byName = (one, other) => one.localeCompare(other, undefined, { numeric: true });

/** @param {{confusion: any[], classes: any[]}} evaluation */
export function showConfusion({ confusion, classes }) {
  const taught = new Set(classes.filter((one) => one.taught).map(({ label }) => label));
  const wrong = confusion.filter(({ truth, answer }) => truth !== answer && (answer !== null || taught.has(truth)));
  fill(
    byId("confused").querySelector("ul"),
    wrong.length === 0 && h("li", {}, "Nothing: the model is right on every held-out photo."),
    wrong.slice(0, MOST).map(confusionItem),
    wrong.length > MOST && h("li", { class: "faint" }, `and ${wrong.length - MOST} more in the matrix`),
  );
  const fold = byId("matrix-fold");
  if (!fold.dataset.known) fold.open = classes.length <= FEW;
  fold.dataset.known = "yes"; // from now on the person decides
  const table = matrix(confusion, classes);
  fill(byId("matrix"), table);
}

function confusionItem(cell) {
  return h(
    "li",
    {},
    h("button", { type: "button", class: "quiet", onclick: () => open(cell) }, inWords(cell)),
  );
}

const inWords = ({ truth, answer, count }) => [
  `${counted(count, "photo")} of `,
  quoted(truth),
  answer === null ? " called unknown" : [" called ", quoted(answer)],
];

function open({ truth, answer, count }) {
  const which = answer === null ? { truth, unknown: true } : { truth, answer };
  const title = truth === answer ? [`${counted(count, "photo")} of `, quoted(truth), ", all recognised"] : inWords({ truth, answer, count });
  return showMeasured(title, which);
}

function matrix(confusion, classes) {
  const total = new Map(classes.map(({ label, examples }) => [label, examples]));
  const rows = [...total.keys()].sort(byName);
  const said = new Set(confusion.map(({ answer }) => answer).filter((answer) => answer !== null));
  const columns = [...new Set([...classes.filter(({ taught }) => taught).map(({ label }) => label), ...said])].sort(byName);
  const cells = new Map(confusion.map((cell) => [JSON.stringify([cell.truth, cell.answer]), cell]));
  const at = (truth, answer) => cells.get(JSON.stringify([truth, answer])) ?? { truth, answer, count: 0 };
  const table = h(
    "table",
    { role: "grid", "aria-label": "Answers by true class", class: "matrix" },
    h("thead", {}, headings(columns)),
    h(
      "tbody",
      {},
      rows.map((truth) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", title: truth }, nameOf(truth)),
          [...columns, null].map((answer) => cellOf(at(truth, answer), total.get(truth))),
        ),
      ),
    ),
  );
  walk(table);
  return table;
}

/** Where there is no room, the middle of a name is left out: many have the same beginning. */
function nameOf(label) {
  const letters = [...label];
  return h("bdi", {}, h("span", {}, letters.slice(0, -END).join("")), h("span", {}, letters.slice(-END).join("")));
}

const headings = (columns) =>
  h(
    "tr",
    {},
    h("th", { scope: "col", class: "axes" }, "true class \\ answer"),
    columns.map((label) => h("th", { scope: "col", title: label }, nameOf(label))),
    h("th", { scope: "col" }, h("em", {}, "unknown")),
  );

function cellOf(cell, examples) {
  const { truth, answer, count } = cell;
  const kind = truth === answer ? "right" : answer === null ? "unknown" : "wrong";
  const element = h("td", { role: "gridcell", class: count ? kind : `${kind} none`, tabindex: -1 }, count || "");
  if (!count) return element;
  element.style.setProperty("--share", String(count / examples));
  element.title = `${truth}: ${answer ?? "unknown"}, ${count} of ${examples}`;
  element.setAttribute("aria-label", `${count}: ${truth} called ${answer ?? "unknown"}`);
  element.addEventListener("click", () => open(cell));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(cell);
  });
  return element;
}

/** One stop for the Tab key; the arrow keys go from cell to cell. */
function walk(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  const stop = (cell) => {
    table.querySelector('td[tabindex="0"]')?.setAttribute("tabindex", "-1");
    cell.setAttribute("tabindex", "0");
    return cell;
  };
  stop(table.querySelector("td:not(.none)") ?? rows[0][0]);
  table.addEventListener("focusin", ({ target }) => target.tagName === "TD" && stop(target));
  table.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key];
    if (!step) return;
    const i = rows.findIndex((row) => row.includes(event.target));
    const j = rows[i]?.indexOf(event.target);
    const next = rows[i + step[0]]?.[j + step[1]];
    event.preventDefault();
    next?.focus();
  });
}

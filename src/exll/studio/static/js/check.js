/** The Check page: doubtful pictures, and pictures in two classes. */

import { get, postJson } from "./api.js";
import { askLabel } from "./dialogs.js";
import { byId, fill, gathered, h, nothingYet, quoted } from "./dom.js";
import { onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import { picture, pictures } from "./pictures.js";
import { counted, confidence } from "./words.js";

const COMPARED = 4;
let labels = [];
let newest = new Map();

async function look() {
  byId("judged").textContent ||= "Looking …";
  const found = await trying(() => Promise.all([get("/api/suspects"), get("/api/classes")]), look);
  if (!found) return;
  const [{ suspects, contradictions, judged, kept }, { classes }] = found;
  labels = classes.map(({ label }) => label);
  const twice = new Set(contradictions.flatMap(({ examples }) => examples.map(({ id }) => id)));
  const doubtful = suspects.filter(({ example }) => !twice.has(example.id));
  fill(
    byId("judged"),
    judged > 0 && h("p", {}, summary(doubtful.length + contradictions.length, judged, kept)),
    judged === 0 && nothingYet("Nothing to check yet.", "Teach two classes first"),
  );
  newest = new Map(classes.map((one) => [one.label, one.newest]));
  list("suspects", doubtful.map(suspectItem));
  list(
    "contradictions",
    contradictions.map(({ examples }) => contradictionItem(examples)),
  );
}

function summary(doubtful, judged, kept) {
  const found = doubtful ? `${counted(doubtful, "picture")} to look at` : "Every picture fits its class";
  return `${found}; ${counted(judged, "picture")} checked${kept ? `, ${kept} confirmed by you` : ""}.`;
}

function list(id, items) {
  byId(id).hidden = items.length === 0;
  fill(byId(id).querySelector("ul"), items);
}

function suspectItem({ example, would_be: other, doubt }) {
  const { id, label, name } = example;
  return item(
    id,
    label,
    [
      h("p", {}, "Taught as ", quoted(label), ", but the other pictures suggest ", quoted(other), "."),
      h("p", { class: "faint" }, `Doubt: ${confidence(doubt)}; `, h("bdi", {}, name)),
      h(
        "div",
        { class: "compared" },
        [label, other].map((one) => compared(one, id)),
      ),
    ],
    [
      [["Keep ", quoted(label)], () => keep([id])],
      [["It is ", quoted(other)], () => relabel([id], other)],
      ["It is something else …", () => ask([id], label)],
      ["Remove", () => remove([id]), "danger"],
    ],
  );
}

/** Some other pictures of a class, to hold the doubtful one against. */
function compared(label, id) {
  const numbers = (newest.get(label) ?? []).filter((number) => number !== id).slice(0, COMPARED);
  return h("div", {}, h("p", { class: "faint" }, "Other pictures of ", quoted(label)), pictures(numbers, label));
}

function contradictionItem(examples) {
  const ids = examples.map(({ id }) => id);
  const names = [...new Set(examples.map(({ label }) => label))];
  return item(
    ids[0],
    names[0],
    [
      h(
        "p",
        {},
        "This picture was taught as ",
        names.map((label, i) => [i > 0 && " and as ", quoted(label)]),
        ".",
      ),
    ],
    [
      ...names.map((label) => [
        ["Only ", quoted(label)],
        () => remove(examples.filter((one) => one.label !== label).map(({ id }) => id)),
      ]),
      ["All are right", () => keep(ids)],
      ["Remove it", () => remove(ids), "danger"],
    ],
  );
}

function item(id, label, words, actions) {
  const element = h(
    "li",
    { class: "card verdict" },
    picture(id, label, "picture"),
    h("div", {}, words),
    h(
      "div",
      { class: "row" },
      actions.map(([title, run, kind = ""]) =>
        h("button", { type: "button", class: kind, onclick: () => decide(element, run) }, title),
      ),
    ),
  );
  return element;
}

/** What is decided leaves the list at once; the focus goes to what is next. */
async function decide(element, run) {
  if (!(await run())) return;
  const next = element.nextElementSibling ?? element.previousElementSibling;
  element.remove();
  (next?.querySelector("button") ?? byId("main")).focus();
}

async function change(path, body, done) {
  const answer = await trying(() => postJson(path, body));
  if (!answer) return false;
  tell(done, "", { seconds: 6 });
  say(done);
  return true;
}

const keep = (ids) => change("/api/suspects/keep", { ids }, "Kept. Undo lists it again.");
const relabel = (ids, label) =>
  change("/api/examples/relabel", { ids, label }, `The class is ${label} now. Undo restores the old one.`);
const remove = (ids) => change("/api/examples/delete", { ids }, "Removed. Undo restores it.");

async function ask(ids, label) {
  const name = await askLabel(
    "What is it?",
    labels.filter((one) => one !== label),
    { yes: "Change" },
  );
  return Boolean(name) && relabel(ids, name);
}

onAny(["changed", "rebuilt", "anew"], gathered(look, 300));
look();

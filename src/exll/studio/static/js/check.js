/** The Check page: photos that are doubtful or in two classes; each decision can be undone where it was made. */

import { address, get, postJson } from "./api.js";
import { askLabel } from "./dialogs.js";
import { byId, fill, gathered, h, nothingYet, quoted } from "./dom.js";
import { onAny } from "./events.js";
import { keepingFocus } from "./focus.js";
import { say, trying } from "./notice.js";
import { photo, pictures } from "./pictures.js";
import { undoStep } from "./undo.js";
import { confidence, counted } from "./words.js";

const CLEAR = 0.9; // the probability from which on one answer is suggested

let labels = [];
let judged = 0;
let cases = []; // in the order they are shown; those decided here stay, until the page is left
let notShown = 0;
let newest = null; // the newest step, which is the one that can be undone
let decisions = 0; // begun and ended

async function look() {
  byId("judged").textContent ||= "Looking …";
  const before = decisions;
  const found = await trying(() => Promise.all([get("/api/suspects"), get("/api/classes"), get("/api/project")]), look);
  if (!found) return;
  if (before !== decisions) {
    lookSoon(); // the answer may be older than the last decision
    return;
  }
  const [answer, { classes }, { undo }] = found;
  labels = classes.map(({ label }) => label);
  ({ judged, not_shown: notShown } = answer);
  newest = undo?.id ?? null;
  cases = merged(cases, listed(answer));
  draw();
}

/** What the server has in doubt now. */
function listed({ suspects, contradictions }) {
  const of = new Map(suspects.map((suspect) => [suspect.example.id, suspect]));
  const twice = contradictions.map(({ examples, like }) => ({
    key: `twice ${examples.map(({ id }) => id)}`,
    examples,
    like,
    right: rightLabel(examples, of),
  }));
  const known = new Set(twice.flatMap(({ examples }) => examples.map(({ id }) => id)));
  const doubtful = suspects.filter(({ example }) => !known.has(example.id));
  return [
    ...twice,
    ...doubtful.map((suspect) => ({ key: `one ${suspect.example.id} ${suspect.example.label}`, suspect })),
  ];
}

/** The class of a photo in several classes, where the others are almost certainly wrong; else none. */
function rightLabel(examples, suspectOf) {
  const wrong = ({ id }, label) => suspectOf.get(id)?.would_be === label && isClear(suspectOf.get(id));
  const found = examples.find(({ label }) =>
    examples.every((example) => example.label === label || wrong(example, label)),
  );
  return found?.label;
}

const isClear = ({ wrong }) => wrong >= CLEAR;

/** Places are kept: a case that was decided stays where it was, and one that is in doubt again is open again. */
function merged(before, now) {
  const open = new Map(now.map((one) => [one.key, one]));
  const kept = before
    .filter((one) => stands(one) || one.deciding || open.has(one.key))
    .map((one) => (open.has(one.key) && !one.deciding ? open.get(one.key) : one));
  const there = new Set(kept.map(({ key }) => key));
  return [...kept, ...now.filter(({ key }) => !there.has(key))];
}

/** Whether a decision was made and not taken back: steps are undone from the newest on. */
const stands = ({ decided }) => Boolean(decided) && !(decided.step > (newest ?? 0));

function draw() {
  const done = cases.filter(({ decided }) => decided).length;
  fill(
    byId("judged"),
    judged > 0 && h("p", {}, summary(done)),
    judged === 0 && !cases.length && nothingYet("Nothing to check yet.", "Teach two classes first"),
  );
  keepingFocus(byId("main"), () => {
    list("suspects", cases.filter(({ suspect }) => suspect).map(suspectItem));
    list("contradictions", cases.filter(({ examples }) => examples).map(contradictionItem));
  });
}

function summary(done) {
  const checked = `${counted(judged, "photo")} checked.`;
  if (!cases.length) return `No photo stands out; ${checked}`;
  return `${done} of ${(cases.length + notShown).toLocaleString("en")} decided; ${checked}`;
}

function list(id, items) {
  byId(id).hidden = items.length === 0;
  fill(byId(id).querySelector("ul"), items);
}

function suspectItem(one) {
  const { example, would_be: other, wrong, like_own: own, like_other: alike } = one.suspect;
  const { id, label, name } = example;
  return item(
    one,
    id,
    label,
    [
      h("h3", {}, "Taught as ", quoted(label), ", but the other photos suggest ", quoted(other)),
      h("p", { class: "faint" }, `Probability that this class is wrong: ${confidence(wrong)}. Photo: `, h("bdi", {}, name)),
      h("div", { class: "compared" }, compared(label, own), compared(other, alike)),
    ],
    [
      [["Move to ", quoted(other)], () => relabel([id], other), isClear(one.suspect) ? "primary" : ""],
      [["Keep ", quoted(label)], () => keep([id], label)],
      ["Something else", () => ask([id], label)],
      ["Delete", () => remove([id]), "danger"],
    ],
    h(
      "a",
      {
        class: "button",
        "data-key": `${one.key} sort`,
        href: address(`/sort?left=${encodeURIComponent(label)}&right=${encodeURIComponent(other)}`),
      },
      "Sort the two classes",
    ),
  );
}

function compared(label, numbers) {
  return h(
    "div",
    {},
    h("h4", {}, "Most like it in ", quoted(label)),
    numbers.length ? pictures(numbers, label) : h("p", { class: "faint" }, "No other photo."),
  );
}

function contradictionItem(one) {
  const { examples } = one;
  const ids = examples.map(({ id }) => id);
  const names = [...new Set(examples.map(({ label }) => label))];
  return item(
    one,
    ids[0],
    names[0],
    [
      h(
        "h3",
        {},
        "This photo was taught as ",
        names.map((label, i) => [i > 0 && " and as ", quoted(label)]),
      ),
      h(
        "div",
        { class: "compared" },
        names.map((label) => compared(label, one.like[examples.findIndex((example) => example.label === label)])),
      ),
    ],
    [
      ...names.map((label) => [
        ["Only ", quoted(label)],
        () =>
          remove(
            examples.filter((example) => example.label !== label).map(({ id }) => id),
            [`Now it is only `, quoted(label), "."],
          ),
        label === one.right ? "primary" : "",
      ]),
      ["All are right", () => keep(ids, names.join(" and "))],
      ["Delete", () => remove(ids), "danger"],
    ],
  );
}

function item(one, id, label, words, actions, more = null) {
  const shown = photo(id, label, { kind: "picture" });
  if (one.decided) {
    const undo = one.decided.step === newest && button("Undo", `${one.key} undo`, () => undone(one));
    return h("li", { class: "card verdict decided", "data-case": one.key }, shown, h("p", {}, one.decided.words), undo);
  }
  return h(
    "li",
    { class: "card verdict", "data-case": one.key },
    shown,
    h("div", {}, words),
    h(
      "div",
      { class: "row" },
      actions.map(([title, run, kind], i) => button(title, `${one.key} ${i}`, () => decide(one, run), kind)),
      more,
    ),
  );
}

const button = (words, key, onclick, kind = "") =>
  h("button", { type: "button", class: kind, "data-key": key, onclick }, words);

/** What is decided stays, small and with Undo; the focus goes to the next one that is open. */
async function decide(one, run) {
  if (one.deciding) return;
  one.deciding = true; // news of it may come before the answer
  decisions += 1;
  const decided = await run();
  one.deciding = false;
  decisions += 1;
  if (!decided) return;
  one.decided = decided;
  newest = decided.step ?? newest;
  draw();
  say(`${summary(cases.filter(({ decided }) => decided).length)}`);
  const items = [...document.querySelectorAll(".verdict")];
  const i = items.findIndex(({ dataset }) => dataset.case === one.key);
  const open = [...items.slice(i), ...items.slice(0, i)].find((element) => !element.matches(".decided"));
  const to = open?.querySelector(".row button") ?? items[i]?.querySelector(".decided > button");
  to?.focus();
  open?.scrollIntoView({ block: "nearest" });
}

async function undone(one) {
  if (!(await undoStep(one.decided.step))) return;
  await look();
  document.querySelector(`[data-case="${CSS.escape(one.key)}"] .row button`)?.focus();
}

async function change(path, body, words) {
  const answer = await trying(() => postJson(path, body));
  return answer ? { words, step: answer.step } : null;
}

const keep = (ids, label) => change("/api/suspects/keep", { ids }, ["Kept as ", quoted(label), "."]);
const relabel = (ids, label) => change("/api/examples/relabel", { ids, label }, ["Moved to ", quoted(label), "."]);
const remove = (ids, words = "Deleted.") => change("/api/examples/delete", { ids }, words);

async function ask(ids, label) {
  const others = labels.filter((one) => one !== label);
  const name = await askLabel("What is it?", others, { yes: "Move" });
  return name ? relabel(ids, name) : null;
}

const lookSoon = gathered(look, 300);
onAny(["changed", "rebuilt", "anew"], lookSoon);
look();

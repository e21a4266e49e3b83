/** The Classes page: the rules, and whether each class was taught enough. */

import { get, postJson } from "./api.js";
import { askLabel, choice, confirmed } from "./dialogs.js";
import { byId, fill, gathered, h, nothingYet } from "./dom.js";
import { onAny } from "./events.js";
import { showGallery } from "./gallery.js";
import { complain, tell, trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { progressWords } from "./progress.js";
import { counted, percent, simple } from "./words.js";

const RULES = 4;
const PICTURES = 6;
const opened = new Set(); // classes of which all rules are shown
let labels = [];

async function look() {
  const found = await trying(() => Promise.all([get("/api/classes"), get("/api/rules")]), look);
  if (!found) return;
  const [{ classes }, { classes: ruled }] = found;
  const rules = new Map(ruled.map((one) => [one.label, one.rules]));
  labels = classes.map(({ label }) => label);
  byId("find").hidden = labels.length < 2;
  const at = document.activeElement?.dataset.key;
  const sections = classes.map((one) => section(one, rules.get(one.label) ?? []));
  fill(byId("classes"), sections.length ? sections : nothingYet("No class yet.", "Teach the first one"));
  if (at) document.querySelector(`[data-key="${CSS.escape(at)}"]`)?.focus();
  filter();
}

function section(one, rules) {
  const { label, examples } = one;
  const all = opened.has(label);
  const action = (words, run, kind = "") =>
    h(
      "button",
      { type: "button", class: kind, "data-key": `${words} ${label}`, "aria-label": `${words} ${label}`, onclick: run },
      words,
    );
  return h(
    "section",
    { class: "class", "data-label": label },
    h(
      "div",
      {},
      h("h2", {}, h("bdi", {}, label)),
      h("p", {}, counted(examples, "picture"), ", ", counted(one.prototypes, "rule")),
      h("p", {}, badge(one)),
      h("p", { class: "faint" }, progressWords(one)),
      h(
        "p",
        { class: "row" },
        action("See all", () => showGallery(label, () => labels)),
        action("Rename", () => rename(label)),
        labels.length > 1 && action("Merge", () => merge(label)),
        action("Delete", () => remove(one), "danger"),
      ),
    ),
    h(
      "div",
      {},
      rules.slice(0, all ? rules.length : RULES).map((rule) => ruleOf(rule, label)),
      rules.length === 0 && h("p", { class: "faint" }, "No rules yet: this class is still being learned."),
      rules.length > RULES &&
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            "data-key": `more ${label}`,
            "aria-expanded": String(all),
            onclick: () => toggle(label),
          },
          all ? "Show fewer rules" : `Show ${counted(rules.length - RULES, "more rule")}`,
        ),
    ),
  );
}

function ruleOf({ support, share, examples }, label) {
  return h(
    "div",
    { class: "rule" },
    h(
      "div",
      { class: "if" },
      h("p", {}, h("b", {}, "IF"), " it looks like"),
      pictures(examples.slice(0, PICTURES), label, { more: support - Math.min(PICTURES, examples.length) }),
    ),
    h(
      "div",
      {},
      h("p", {}, h("b", {}, "THEN"), " ", h("strong", {}, h("bdi", {}, label))),
      h("p", { class: "faint" }, `${percent(share)} of its pictures`),
    ),
  );
}

const KINDS = { enough: "enough", "needs more": "needs" };
const badge = ({ verdict }) => h("span", { class: `badge ${KINDS[verdict] ?? ""}` }, verdict);

function toggle(label) {
  if (!opened.delete(label)) opened.add(label);
  look();
}

async function rename(label, given = label) {
  const name = await askLabel(`Rename ${label}`, [], { given, yes: "Rename" });
  if (!name || name === label) return;
  try {
    await postJson("/api/classes/rename", { label, new_label: name });
    tell(`Renamed ${label} to ${name}.`, "", { seconds: 8 });
  } catch (error) {
    if (error.status !== 409) complain(error, () => rename(label, name));
    else if (
      await choice(
        `The class ${name} exists already`,
        [h("p", {}, "The two can become one class.")],
        [["Merge them", true]],
      )
    )
      await join(label, name);
  }
}

async function merge(label, given = "") {
  const name = await askLabel(
    `Merge ${label} into …`,
    labels.filter((one) => one !== label),
    { given, yes: "Merge" },
  );
  if (name && name !== label) await join(label, name);
}

async function join(label, into) {
  const done = await trying(
    () => postJson("/api/classes/rename", { label, new_label: into, merge: true }),
    () => merge(label, into),
  );
  if (done) tell(`Merged ${label} into ${into}.`, "Undo takes it back.", { seconds: 8 });
}

async function remove({ label, examples }) {
  const sure = await confirmed(
    `Delete ${label}?`,
    `The class and its ${counted(examples, "picture")} will be deleted. You can undo this.`,
    `Delete ${label}`,
  );
  if (sure && (await trying(() => postJson("/api/classes/delete", { label }))))
    tell(`Deleted ${label}.`, "Undo brings it back.", { seconds: 8 });
}

function filter() {
  const wanted = simple(byId("search").value);
  const all = [...document.querySelectorAll(".class")];
  for (const one of all) one.hidden = !simple(one.dataset.label).includes(wanted);
  byId("found").textContent = wanted ? `${all.filter((one) => !one.hidden).length} of ${all.length} found` : "";
}

byId("search").addEventListener("input", filter);
byId("find").addEventListener("submit", (event) => event.preventDefault());
onAny(["changed", "rebuilt", "anew"], gathered(look, 300));
look();

/** The Classes page: the rules, and whether each class was taught enough. */

import { address, get, postJson } from "./api.js";
import { askExisting } from "./class_choice.js";
import { askLabel, choice, confirmed } from "./dialogs.js";
import { byId, fill, gathered, h, nothingYet } from "./dom.js";
import { onAny } from "./events.js";
import { findFocus, keepingFocus } from "./focus.js";
import { showGallery } from "./gallery.js";
import { complain, trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { progressWords } from "./progress.js";
import { tellStep } from "./undo.js";
import { counted, hasWords, percent, photosOf, simple } from "./words.js";

const MANY = 12; // classes: with more of them, only one rule of each is shown at first
const [RULES, RULES_OF_MANY] = [4, 1];
const PICTURES = 6;
const KINDS = { enough: "enough", "needs more": "needs" };
const URGENCY = ["never taught", "needs more", "show it again", "too early to tell"];
const ORDERS = {
  taught: () => 0,
  name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
  need: (a, b) => need(a) - need(b),
  photos: (a, b) => a.examples - b.examples,
};
const opened = new Set(); // classes of which all rules are shown
let classes = [];
let rules = new Map();
let next = null; // where the focus goes when the page is drawn anew

const labels = () => classes.map(({ label }) => label);
const others = (label) => labels().filter((one) => one !== label);
/** Held-out photos too: they go along with their class. */
const all = ({ examples, held_out: heldOut }) => counted(examples + heldOut, "photo");
const allOf = (label) => all(classes.find((one) => one.label === label) ?? { examples: 0, held_out: 0 });

/** The weakest first: by what is expected of photos from new places, else by the verdict. */
const need = ({ verdict, new_groups: share, like_these: here }) =>
  (URGENCY.includes(verdict) ? 0 : 1) + (share ?? here ?? 0);

async function look() {
  const found = await trying(() => Promise.all([get("/api/classes"), get("/api/rules")]), look);
  if (!found) return;
  classes = found[0].classes;
  rules = new Map(found[1].classes.map((one) => [one.label, one.rules]));
  draw();
}

function draw() {
  byId("find").hidden = classes.length < 2 && !byId("search").value;
  const shown = [...classes].sort(ORDERS[byId("order").value]);
  const fillAll = () => {
    fill(byId("classes"), shown.length ? shown.map(section) : nothingYet("No class yet.", "Teach the first one"));
    filter();
  };
  keepingFocus(byId("classes"), fillAll, next);
  next = null;
}

function section(one) {
  const { label, examples } = one;
  const own = rules.get(label) ?? [];
  return h(
    "section",
    { class: "class", "data-label": label },
    h(
      "div",
      {},
      h("h2", {}, h("bdi", {}, label), " ", h("span", { class: `badge ${KINDS[one.verdict] ?? ""}` }, one.verdict)),
      h(
        "p",
        {},
        photosOf(one),
        examples > 0 && `, ${counted(own.length, "rule")}`,
      ),
      h("p", { class: "faint" }, progressWords(one)),
      h(
        "p",
        { class: "row" },
        action("See all", label, () => showGallery(label, labels)),
        classes.length > 1 && sortLink(one),
        action("Rename", label, () => rename(label)),
        classes.length > 1 && action("Merge", label, () => merge(label)),
        action("Delete", label, () => remove(one), "danger"),
      ),
    ),
    rulesOf(one, own),
  );
}

function action(words, label, run, kind = "") {
  const name = `${words} ${label}`;
  return h("button", { type: "button", class: kind, "data-key": name, "aria-label": name, onclick: run }, words);
}

function sortLink({ label, confused_with: other }) {
  const right = other === null ? "" : `&right=${encodeURIComponent(other)}`;
  const href = address(`/sort?left=${encodeURIComponent(label)}${right}`);
  return h("a", { class: "button", "data-key": `Sort ${label}`, "aria-label": `Sort ${label}`, href }, "Sort");
}

function rulesOf({ label, examples }, own) {
  const open = opened.has(label);
  const few = classes.length > MANY ? RULES_OF_MANY : RULES;
  return h(
    "div",
    {},
    own.slice(0, open ? own.length : few).map((rule) => ruleOf(rule, label)),
    own.length === 0 &&
      h("p", { class: "faint" }, examples ? "No rules yet: this class is still being learned." : "No rules: it was never taught."),
    own.length > few &&
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          "data-key": `more ${label}`,
          "aria-expanded": String(open),
          onclick: () => toggle(label),
        },
        open ? "Show fewer rules" : `Show ${counted(own.length - few, "more rule")}`,
        h("span", { class: "unseen" }, ` of ${label}`),
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
      h("p", { class: "faint" }, `${percent(share)} of its photos`),
    ),
  );
}

function toggle(label) {
  if (!opened.delete(label)) opened.add(label);
  draw();
}

async function rename(label, given = label) {
  const content = h(
    "p",
    {},
    "Its photos stay as they are. If there is a class of that name already, you can merge the two.",
  );
  const name = await askLabel(`Rename "${label}"`, [], { known: others(label), given, yes: "Rename", content });
  if (!name || name === label) return findFocus(`Rename ${label}`);
  next = `Rename ${name}`;
  try {
    const { step } = await postJson("/api/classes/rename", { label, new_label: name });
    tellStep(`Renamed "${label}" to "${name}".`, step);
  } catch (error) {
    next = `Rename ${label}`;
    if (error.status !== 409) complain(error, () => rename(label, name));
    else if (await choice(`The class "${name}" exists already`, joined(label, name), [["Merge them", true]]))
      await join(label, name);
  }
}

const joined = (label, name) =>
  h(
    "p",
    {},
    `The ${allOf(label)} of "${label}" would be added to the ${allOf(name)} of "${name}". You can undo this.`,
  );

async function merge(label) {
  const content = h(
    "p",
    {},
    `Its ${allOf(label)} will be added to the class you choose. You can undo this.`,
  );
  const { confused_with: confused } = classes.find((one) => one.label === label);
  const likeliest = others(label).sort((a, b) => (b === confused) - (a === confused));
  const name = await askExisting(`Merge "${label}" into …`, likeliest, { yes: "Merge", content });
  if (name) await join(label, name);
  else findFocus(`Merge ${label}`);
}

async function join(label, into) {
  next = `See all ${into}`;
  const done = await trying(() => postJson("/api/classes/rename", { label, new_label: into, merge: true }));
  if (done) tellStep(`Merged "${label}" into "${into}".`, done.step);
}

/** The focus goes to the class that follows. */
async function remove(one) {
  const { label } = one;
  const sure = await confirmed(
    `Delete the class "${label}"?`,
    `The class and its ${all(one)} will be deleted. You can undo this.`,
    `Delete ${label}`,
  );
  if (!sure) return findFocus(`Delete ${label}`);
  const sections = [...document.querySelectorAll(".class:not([hidden])")].map((one) => one.dataset.label);
  const i = sections.indexOf(label);
  next = `See all ${sections[i + 1] ?? sections[i - 1]}`;
  const done = await trying(() => postJson("/api/classes/delete", { label }));
  if (done) tellStep(`Deleted "${label}".`, done.step);
}

function filter() {
  const wanted = simple(byId("search").value);
  const all = [...document.querySelectorAll(".class")];
  const exact = all.some((one) => simple(one.dataset.label) === wanted);
  const hit = (label) => (exact ? simple(label) === wanted : hasWords(label, wanted));
  for (const one of all) one.hidden = wanted !== "" && !hit(one.dataset.label);
  byId("found").textContent = wanted ? `${all.filter((one) => !one.hidden).length} of ${all.length} found` : "";
}

byId("search").value = new URLSearchParams(location.search).get("class") ?? "";
byId("search").addEventListener("input", filter);
byId("order").addEventListener("change", draw);
byId("find").addEventListener("submit", (event) => event.preventDefault());
onAny(["changed", "rebuilt", "anew"], gathered(look, 300));
look();

/** The Teach page. */

import { get } from "./api.js";
import { ClassCard } from "./class_card.js";
import { byId, gathered, h } from "./dom.js";
import { guardPage, onDrop, onPaste, pick } from "./dropzone.js";
import { on, onAny } from "./events.js";
import { say, trying } from "./notice.js";
import { progressWords } from "./progress.js";
import { receive } from "./receiving.js";

const NAMED = "named classes"; // named, but without a picture yet: the server does not know them
const FIRST = "Nothing taught yet. Drop photos of the first thing here.";

/** @type {Map<string, ClassCard>} */
const cards = new Map();
const taught = new Set();
const labels = () => [...cards.keys()];

function card(label) {
  if (!cards.has(label)) {
    cards.set(label, new ClassCard(label, labels));
    byId("cards").append(cards.get(label).element);
  }
  return cards.get(label);
}

function show({ classes }) {
  taught.clear();
  for (const one of classes) {
    taught.add(one.label);
    card(one.label).show(one.examples, one.newest, progressWords(one));
  }
  const named = remembered().filter((label) => !taught.has(label));
  sessionStorage.setItem(NAMED, JSON.stringify(named));
  for (const label of named) card(label).show(0, []);
  for (const [label, { element }] of cards) {
    if (taught.has(label) || named.includes(label)) continue;
    element.remove();
    cards.delete(label);
  }
  welcome();
}

function welcome() {
  const empty = cards.size === 0;
  byId("drop").classList.toggle("empty", empty);
  byId("drop-words").replaceChildren(
    ...(empty
      ? [h("strong", {}, FIRST), h("br"), "Or type the name of a class above and show it to the camera."]
      : [
          h("strong", {}, "Drop photos or whole folders here"),
          ", or paste a picture. On a card they are taught as that class.",
        ]),
  );
}

const remembered = () => JSON.parse(sessionStorage.getItem(NAMED) ?? "[]");

async function look() {
  const found = await trying(() => get("/api/classes"), look);
  if (found) show(found);
}

const received = (found) => receive(found, labels());

byId("new-class").addEventListener("submit", (event) => {
  event.preventDefault();
  const input = byId("new-label");
  const label = input.value.trim().replace(/\s+/g, " ").normalize("NFC");
  if (!label) {
    input.focus();
    return;
  }
  if (!cards.has(label)) sessionStorage.setItem(NAMED, JSON.stringify([...remembered(), label]));
  const { element } = card(label);
  welcome();
  input.value = "";
  element.scrollIntoView({ block: "nearest" });
  element.querySelector("button").focus();
  say(`${label}: add photos or use the camera.`);
});

async function picked(options) {
  const found = await pick(options);
  if (found.length) received(found);
}

byId("pick-files").addEventListener("click", () => picked({}));
byId("pick-folder").addEventListener("click", () => picked({ folder: true }));
onDrop(byId("drop"), received);
onPaste((found, target) => {
  const label = target.closest(".card")?.dataset.label;
  if (label) cards.get(label).teach(found.map(({ file }) => file));
  else received(found);
});
guardPage();
on("changed", ({ counts }) => {
  for (const [label, count] of Object.entries(counts)) card(label).count(count);
});
onAny(["changed", "rebuilt", "anew"], gathered(look, 500)); // what is expected of every class takes a while to find
look();

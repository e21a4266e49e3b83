/** What every page has: the strip that says what the model is doing, and undo. */

import { get, postJson } from "./api.js";
import { byId, gathered } from "./dom.js";
import { on, onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import { counted } from "./words.js";

const strip = document.querySelector(".strip");
const undo = byId("undo");

function state(words, busy = false) {
  strip.classList.toggle("busy", busy);
  byId("state").textContent = words;
}

function ready(examples, classes) {
  if (examples) state(`I know ${counted(classes, "class")} from ${counted(examples, "picture")}.`);
  else state("Nothing taught yet.");
}

async function look() {
  const facts = await get("/api/project").catch(() => null);
  if (!facts) return;
  undo.hidden = facts.undo === null;
  byId("undo-what").textContent = facts.undo ? `: ${facts.undo.sentence.replace(/\.$/, "")}` : "";
  undo.title = facts.undo?.sentence ?? "";
  if (facts.rebuilding) state("Learning your change …", true);
  else ready(facts.examples, facts.classes);
}

const lookSoon = gathered(look, 300);

on("rebuilding", ({ done, examples }) => {
  const share = examples > 200 ? ` ${Math.round((100 * done) / examples)}%` : "";
  state(`Learning your change …${share}`, true);
});
on("changed", ({ counts, examples }) => {
  if (!strip.classList.contains("busy")) ready(examples, Object.keys(counts).length);
});
on("lost", () => state("No connection to the studio; trying again …", true));
onAny(["connected", "changed", "rebuilt", "anew"], lookSoon);

undo.addEventListener("click", () =>
  trying(async () => {
    const { undone } = await postJson("/api/undo");
    tell(`Undone: ${undone.sentence}`, "", { seconds: 8 });
    say(`Undone: ${undone.sentence}`);
    look();
  }),
);

look();

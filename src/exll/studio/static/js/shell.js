/** What every page has: the strip that says what the model is doing, and undo. */

import { get, postJson } from "./api.js";
import { byId, gathered } from "./dom.js";
import { on, onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import { counted } from "./words.js";

const strip = document.querySelector(".strip");
const undo = byId("undo");
let news = 0;

function state(words, busy = false) {
  strip.classList.toggle("busy", busy);
  byId("state").textContent = words;
}

function ready(examples, classes) {
  if (examples) state(`I know ${counted(classes, "class")} from ${counted(examples, "picture")}.`);
  else state("Nothing taught yet.");
}

/** @param {{sentence: string} | null} step */
function offerUndo(step) {
  undo.hidden = step === null;
  byId("undo-what").textContent = step ? `: ${step.sentence.replace(/\.$/, "")}` : "";
  undo.title = step?.sentence ?? "";
}

async function look() {
  const heard = news;
  const project = await get("/api/project").catch(() => null);
  if (!project) return;
  if (heard !== news) {
    lookSoon(); // the answer may be older than the news
    return;
  }
  offerUndo(project.undo);
  if (project.rebuilding) state("Learning your change …", true);
  else ready(project.examples, project.classes);
}

const lookSoon = gathered(look, 300);

on("rebuilding", ({ done, examples }) => {
  const share = examples > 200 ? ` ${Math.round((100 * done) / examples)}%` : "";
  state(`Learning your change …${share}`, true);
});
on("changed", ({ counts, examples, undo: step }) => {
  news += 1;
  offerUndo(step);
  if (!strip.classList.contains("busy")) ready(examples, Object.keys(counts).length);
});
on("lost", () => state("No connection to the studio; trying again …", true));
onAny(["connected", "rebuilt", "anew"], lookSoon);

undo.addEventListener("click", () =>
  trying(async () => {
    const { undone, next } = await postJson("/api/undo");
    tell(`Undone: ${undone.sentence}`, "", { seconds: 8 });
    say(`Undone: ${undone.sentence}`);
    offerUndo(next);
  }),
);

look();

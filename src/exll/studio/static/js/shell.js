/** What every page has: the strip that says what the model is doing, and undo. */

import { get, postJson } from "./api.js";
import { byId, gathered } from "./dom.js";
import { on, onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import { counted } from "./words.js";

const strip = document.querySelector(".strip");
const undo = byId("undo");
let news = 0;
let told = Infinity; // the time of the last undo that this page has told of; not known before the first look
let undoing = Promise.resolve();

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

/** Each undo is told once, whether it was made on this page or elsewhere: it may have taken back work of this page. */
function tellUndone({ sentence, undone_at: at }, here = false) {
  if (!here && at <= told) return;
  told = at;
  const words = `${here ? "Undone" : "Undone on another page"}: ${sentence}`;
  tell(words, "", here ? { seconds: 8 } : {});
  say(words);
}

/** News of the undo that this page has just asked for may come before the answer. */
const heardUndone = (undone) => undoing.then(() => tellUndone(undone));

/** Beside the link to the Inbox. */
function showWaiting(count) {
  byId("waiting").hidden = !count;
  byId("waiting").textContent = count;
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
  showWaiting(project.waiting);
  if (told === Infinity) told = project.undone?.undone_at ?? 0;
  else if (project.undone) heardUndone(project.undone);
  if (project.rebuilding) state("Learning your change …", true);
  else ready(project.examples, project.classes);
}

const lookSoon = gathered(look, 300);

on("rebuilding", ({ done, examples }) => {
  const share = examples > 200 ? ` ${Math.round((100 * done) / examples)}%` : "";
  state(`Learning your change …${share}`, true);
});
on("inbox", ({ waiting }) => showWaiting(waiting));
on("changed", ({ counts, examples, waiting, undo: step, undone }) => {
  news += 1;
  if (undone) heardUndone(undone);
  offerUndo(step);
  showWaiting(waiting);
  if (!strip.classList.contains("busy")) ready(examples, Object.keys(counts).length);
});
on("lost", () => state("No connection to the studio; trying again …", true));
onAny(["connected", "rebuilt", "anew"], lookSoon);

undo.addEventListener("click", () => {
  undoing = trying(async () => {
    const { undone, next } = await postJson("/api/undo");
    tellUndone(undone, true);
    offerUndo(next);
  });
});

look();

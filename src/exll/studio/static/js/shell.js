/** What every page has: the strip that says what the model is doing, the queue of uploads, and undo. */

import { CLIENT, get, postJson } from "./api.js";
import { byId, gathered } from "./dom.js";
import { on, onAny } from "./events.js";
import { complain, forgetSteps, forgetUnreached, say, tell } from "./notice.js";
import "./queue_strip.js";
import "./sample.js";
import { counted } from "./words.js";

const strip = document.querySelector(".strip");
const [undo, redo] = ["undo", "redo"].map(byId);
const offered = { undo: null, redo: null };
let news = 0;
let told = Infinity; // the time of the last undo that this page has told of; not known before the first look
let undoing = Promise.resolve();
let reopening = ""; // what the foot says when the stream of news ends

function state(words, busy = false) {
  strip.classList.toggle("busy", busy);
  byId("state").textContent = words;
}

/** Whose step it is, where it is not this page's. */
export function whose({ made_by: by }) {
  if (by === CLIENT) return "";
  return by?.startsWith("page-") ? " (in another window)" : " (a program)";
}

/** Long names lose their middle: their beginnings are often the same. The tooltip has all of it. */
const shortened = (sentence) => sentence.replace(/"([^"]{11})[^"]{4,}([^"]{10})"/g, '"$1…$2"');

function ready(examples, classes) {
  if (examples) state(`I know ${counted(classes, "class")} from ${counted(examples, "photo")}.`);
  else state("Nothing taught yet.");
}

/** @param {{undo: any, redo: any}} steps What undo and redo would do. */
function offer(steps) {
  forgetSteps(steps.undo?.id ?? 0);
  const at = document.activeElement;
  show(undo, byId("undo-what"), (offered.undo = steps.undo));
  show(redo, byId("redo-what"), (offered.redo = steps.redo));
  // a button that goes gives the focus to the other one
  if ([undo, redo].includes(at) && at.hidden) ([undo, redo].find((one) => !one.hidden) ?? byId("main")).focus();
}

function show(button, words, step) {
  button.hidden = !step;
  const sentence = step?.sentence.replace(/\.$/, "") ?? "";
  words.textContent = step ? `: ${shortened(sentence)}${whose(step)}` : "";
  button.title = step ? `${sentence}${whose(step)}` : "";
}

/** Each undo is told once, whether it was made on this page or elsewhere: it may have taken back work of this page. */
function tellUndone({ sentence, undone_at: at, undone_by: by }, asked = false) {
  if (!asked && at <= told) return;
  told = at;
  const own = asked || by === CLIENT;
  const words = `${own ? "Undone" : by?.startsWith("page-") ? "Undone in another window" : "Undone by a program"}: ${sentence}`;
  tell(words, "", asked ? {} : { seconds: 0 });
  say(words);
}

/** News of the undo that this page has just asked for may come before the answer. */
const heardUndone = (undone) => undoing.then(() => tellUndone(undone));

/** Beside the link to the Inbox. */
export function showWaiting(count) {
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
  offer(project);
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
on("changed", ({ classes, examples, waiting, undo: last, redo: undoneLast, undone }) => {
  news += 1;
  if (undone) heardUndone(undone);
  offer({ undo: last, redo: undoneLast });
  showWaiting(waiting);
  if (!strip.classList.contains("busy")) ready(examples, classes);
});
on("importing", ({ done, images }) => {
  if (done < images) state(`Learning ${done} of ${counted(images, "photo")} …`, true);
  else lookSoon();
});
on("reopening", ({ change }) => {
  reopening = `Learning all photos again with ${change} …`;
  state(reopening, true);
});
on("lost", () => {
  state(reopening || "No connection to the studio; trying again …", true);
  reopening = ""; // the stream ends once for it
});
onAny(["connected", "rebuilt", "anew"], lookSoon);
on("connected", forgetUnreached);
addEventListener("slow-edit", ({ detail: edit }) => {
  if (!strip.classList.contains("busy")) state("Working …", true);
  edit.catch(() => {}).finally(look);
});

/** The step that is shown is the one that is meant: where another came in between, the server refuses. */
function step(kind) {
  const { id } = offered[kind] ?? {};
  if (!id) return;
  undoing = undoing.then(async () => {
    try {
      const answer = await postJson(`/api/${kind}`, { step: id });
      if (kind === "undo") tellUndone(answer.undone, true);
      else tell(`Redone: ${answer.redone.sentence}`);
      offer(kind === "undo" ? { undo: answer.next, redo: answer.redo } : { undo: answer.undo, redo: answer.next });
    } catch (error) {
      complain(error);
      await look();
    }
  });
}

/** A field has its own undo while there is something in it. */
const typing = (element) =>
  element?.matches("input:not([type=checkbox], [type=radio]), textarea, select") && element.value !== "";

undo.addEventListener("click", () => step("undo"));
redo.addEventListener("click", () => step("redo"));
document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || event.altKey || typing(document.activeElement)) return;
  if (document.querySelector("dialog[open]") || (key !== "z" && key !== "y")) return;
  event.preventDefault();
  step(key === "y" || event.shiftKey ? "redo" : "undo");
});

look();

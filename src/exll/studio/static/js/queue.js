/**
 * Everything that is to be taught goes through one queue. Files are stored in the browser before they are sent, and
 * removed when the server has answered for them: whichever page of the studio is open goes on with those that wait.
 */

import { wait } from "./dom.js";
import { on } from "./events.js";
import { QueueStore, together } from "./queue_store.js";
import { inDatabase, inMemory } from "./queue_tables.js";
import { inTurn } from "./queue_turn.js";
import { answersFor, batches, newGroup, tooLarge, UNDONE, whileSending } from "./sending.js";

const NAME = `exll queue ${document.body.dataset.project}`;
const LONGEST_PAUSE = 30; // seconds

const heard = new EventTarget();
const otherPages = new BroadcastChannel(NAME);
const stores = [new QueueStore(inMemory())]; // the last one is this page's own, for what the browser cannot store
let state = together([]);
let unstored = 0;
let trouble = null; // the error after which we wait and try again
let failures = 0;
let tryAgain = () => {};
let sending = false;
let halted = false;
let looking = Promise.resolve();
let mayLeave = null;

/** This page knows what earlier ones left. */
export const started = start();
let storing = started;

async function start() {
  try {
    stores.unshift(new QueueStore(await inDatabase(NAME)));
  } catch {
    // Where the browser stores nothing, this page keeps the files and must stay open.
  }
  await look();
  send();
  for (const store of stores) store.tidy();
}

/**
 * @param {string} label @param {(File | Blob)[]} files
 * @param {{group?: string, clip?: string, holdOutEvery?: number, heldOut?: boolean}} [options] One group is one step to
 *   undo, and one `clip` has the frames of one recording. Of every `holdOutEvery` photos one is kept for measuring and not
 *   learned; with `heldOut` all are.
 */
export function teach(label, files, { group = newGroup(), clip = null, holdOutEvery = 0, heldOut = false } = {}) {
  unstored += files.length;
  publish();
  storing = whileSending(() => storing.then(() => keep(files, { label, group, clip, holdOutEvery, heldOut, twoLabels: false })));
}

/** How many photos are not answered for yet. */
export const queued = () => unstored + state.waiting;

/** @param {(state: any) => void} listener Called now and after every change. */
export function onQueue(listener) {
  const tell = () => {
    const total = state.round.done + queued();
    const stopping = halted || state.ending;
    listener({ ...state, waiting: queued(), total, stopping, trouble, staying: unstored > 0 || mayLeave !== null });
  };
  heard.addEventListener("change", tell);
  tell();
}

const publish = () => heard.dispatchEvent(new Event("change"));

/** What is under way is finished; the rest can be gone on with until it is dismissed. */
export async function cancel() {
  halted = true;
  publish();
  tryAgain();
  await storing;
  await each((store) => store.stop());
  halted = false;
  trouble = null;
  send();
}

export async function goOn() {
  await each((store) => store.resume());
  send();
}

export async function dismiss() {
  await each((store) => store.dismiss());
  for (const store of stores) store.tidy();
}

/** @param {"left" | "moved" | "both"} decision @param {{store: number, key: number}[]} conflicts Of the state. */
export async function decide(decision, conflicts) {
  const keysOf = (number) => conflicts.filter(({ store }) => store === number).map(({ key }) => key);
  await each((store, number) => store.decide(decision, keysOf(number)));
  send();
}

export function tryNow() {
  [failures, trouble] = [0, null];
  publish();
  tryAgain();
}

async function each(change) {
  for (const [number, store] of stores.entries()) await change(store, number);
  await changed();
}

function changed() {
  otherPages.postMessage("changed");
  return look();
}

/** One after the other, so that no older state is shown after a newer one. */
function look() {
  looking = looking.catch(() => {}).then(async () => {
    const states = [];
    for (const store of stores) states.push(await store.read());
    stay(states.at(-1).waiting + states.at(-1).conflicts.length > 0);
    state = together(states);
    publish();
  });
  return looking;
}

/** What only this page has would be lost with it. */
function stay(needed) {
  if (needed && !mayLeave) whileSending(() => new Promise((done) => (mayLeave = done)));
  if (needed || !mayLeave) return;
  mayLeave();
  mayLeave = null;
}

async function keep(files, about) {
  for (const part of batches(files)) {
    const refused = part.map((file) => tooLarge(file)).filter(Boolean);
    const entries = part
      .filter((file) => !tooLarge(file))
      .map((file) => ({ ...about, size: file.size, file: file.name ? file : new File([file], "photo.jpg", file) }));
    const problems = refused.map(({ file, error, hint }) => ({ file, label: about.label, error, hint }));
    const add = (store) => store.add(about.group, entries, problems);
    await add(stores[0]).catch(() => add(stores.at(-1)));
    unstored -= part.length;
    await changed();
    send();
  }
}

/** Until nothing waits. Another page may have the turn; when it is closed, this one goes on. */
async function send() {
  if (sending || halted || !(state.waiting || state.round.sending)) return;
  sending = true;
  try {
    await inTurn(NAME, stores[0], async (stillOurs) => {
      while (!halted && (await stillOurs()) && (await sendNext()));
    });
  } finally {
    sending = false;
  }
  await look();
  send();
}

/** @returns {Promise<boolean>} Whether there was something to send. */
async function sendNext() {
  for (const store of stores) {
    const batch = await store.next();
    await changed();
    if (!batch.length) continue;
    try {
      const [answered, results] = await answersFor(batch, failures);
      await store.answered(answered, results);
      [failures, trouble] = [0, null];
    } catch (error) {
      if (error.status === UNDONE) await store.undone(batch[0].taughtFor);
      else {
        await store.unanswered();
        trouble = error;
        await changed();
        await pause();
      }
    }
    await changed();
    return true;
  }
  return false;
}

async function pause() {
  failures += 1;
  const seconds = Math.min(LONGEST_PAUSE, 2 ** (failures - 1));
  await Promise.race([wait(1000 * seconds), new Promise((done) => (tryAgain = done))]);
}

otherPages.addEventListener("message", () => look().then(send));
on("connected", () => tryAgain());

/** Requests with many files: what one may hold, what was answered for each file, and the question before leaving. */

import { postForm } from "./api.js";
import { bytes } from "./words.js";

export const BATCH_FILES = 24;
const BATCH_BYTES = 24_000_000;
const TRIES = 4; // where the server itself fails
const NOT_NOW = [0, 401, 408, 429, 502, 503, 504]; // tried until it works
export const UNDONE = 410; // the step that the photos belong to was undone meanwhile
const UNREADABLE = { status: "unreadable", error: "The browser cannot read this file now.", hint: "Choose it again." };
const ask = (event) => event.preventDefault();
let reasons = 0;

/** What is taught with one of these is one step to undo. (randomUUID is missing where there is no TLS.) */
export const newGroup = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** Why a file would be refused for its size, or null. The server would not even read its name. */
export function tooLarge(file, most = Number(document.body.dataset.fileBytes)) {
  if (file.size <= most) return null;
  const error = `This file has ${bytes(file.size)}; at most ${bytes(most)} are accepted.`;
  return { status: "too large", file: file.name, error, hint: "Make it smaller." };
}

/** As many files at a time as one request may hold. */
export function batches(files) {
  const made = [];
  for (let start = 0; start < files.length; start += made.at(-1).length) {
    const next = files.slice(start, start + BATCH_FILES);
    made.push(next.slice(0, firstBatch(next)));
  }
  return made;
}

/** How many of these, from the first on, one request may hold; at least one. @param {{size: number}[]} files */
export function firstBatch(files) {
  let count = 0;
  for (let size = 0; count < files.length && count < BATCH_FILES; count += 1) {
    size += files[count].size;
    if (count && size > BATCH_BYTES) break;
  }
  return count;
}

/**
 * Teach entries of the queue, which have all but the file in common. Gives those that were answered for,
 * and the answers. Fails where trying again later may help, and where the step was undone.
 */
export async function answersFor(batch, failures) {
  const [{ label, group, clip, holdOutEvery, heldOut, twoLabels }] = batch;
  const files = batch.map(({ file }) => file);
  const fields = {
    label,
    group,
    unless_undone: true,
    clip,
    files,
    two_labels: twoLabels || null,
    hold_out_every: holdOutEvery || null,
    held_out: heldOut || null,
  };
  try {
    return [batch, (await postForm("/api/teach", fields)).results];
  } catch (error) {
    if (error.body?.results) return [batch, error.body.results]; // none could be taught
    const gone = error.status === 0 ? await unreadable(batch) : [];
    if (gone.length) return [gone, gone.map(() => UNREADABLE)];
    if (error.status === UNDONE || NOT_NOW.includes(error.status) || (error.status >= 500 && failures < TRIES)) throw error;
    return [batch, batch.map(() => ({ status: "refused", error: error.message, hint: error.hint }))];
  }
}

/** Files may be moved or removed after they were chosen. */
async function unreadable(batch) {
  const read = await Promise.allSettled(batch.map(({ file }) => file.slice(0, 1).arrayBuffer()));
  return batch.filter((_, i) => read[i].status === "rejected");
}

/** While something runs that would be lost with the page, the browser asks before the page is left. */
export async function whileSending(work) {
  reasons += 1;
  addEventListener("beforeunload", ask);
  try {
    return await work();
  } finally {
    reasons -= 1;
    if (!reasons) removeEventListener("beforeunload", ask);
  }
}

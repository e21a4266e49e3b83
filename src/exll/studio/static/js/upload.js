/** Many files to the server, some at a time. Nothing is lost: what did not arrive is named and can be sent again. */

import { postForm } from "./api.js";
import { bytes } from "./words.js";

const BATCH_FILES = 24;
const BATCH_BYTES = 24_000_000;

/**
 * @typedef {{file: File | Blob, result: any}} Judged
 * @typedef {{taught: number, already: Judged[], conflicts: Judged[], unreadable: Judged[], unsent: (File | Blob)[],
 *   cancelled: boolean, error: any}} Sent
 */

/** What is taught with one of these is one step to undo. (randomUUID is missing where there is no TLS.) */
export const newGroup = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** Why a file would be refused for its size, or null. The server would not even read its name. */
export function tooLarge(file, most = Number(document.body.dataset.fileBytes)) {
  if (file.size <= most) return null;
  const error = `This file has ${bytes(file.size)}; at most ${bytes(most)} are accepted.`;
  return { status: "too large", file: file.name, error, hint: "Make it smaller." };
}

/**
 * @param {string} label @param {(File | Blob)[]} given
 * @param {{group: string, signal?: AbortSignal, twoLabels?: boolean, progress?: (done: number) => void}} options
 * @returns {Promise<Sent>}
 */
export async function teachAll(label, given, { group, signal, twoLabels = false, progress = () => {} }) {
  const sent = { taught: 0, already: [], conflicts: [], unreadable: [], unsent: [], cancelled: false, error: null };
  const files = given.filter((file) => !tooLarge(file));
  for (const file of given) if (tooLarge(file)) sent.unreadable.push({ file, result: tooLarge(file) });
  const refused = sent.unreadable.length;
  let done = 0;
  for (const batch of batches(files)) {
    // A batch that is under way is finished: only its answer says what was learned.
    if (signal?.aborted) {
      sent.unsent = files.slice(done);
      sent.cancelled = true;
      break;
    }
    try {
      sort(await results({ label, files: batch, two_labels: twoLabels, group }), batch, sent);
    } catch (error) {
      sent.unsent = files.slice(done);
      sent.error = error;
      break;
    }
    done += batch.length;
    progress(refused + done);
  }
  return sent;
}

/** Where none of a batch could be taught, the error says why for each. */
async function results(fields) {
  try {
    return (await postForm("/api/teach", fields)).results;
  } catch (error) {
    if (error.body?.results) return error.body.results;
    throw error;
  }
}

function sort(results, batch, sent) {
  const { already, conflicts: conflict, unreadable } = sent;
  const heaps = { already, conflict, unreadable, "too large": unreadable };
  results.forEach((result, i) => {
    if (result.status === "taught") sent.taught += 1;
    else heaps[result.status].push({ file: batch[i], result });
  });
}

/** As many files at a time as one request may hold. */
export function batches(files) {
  const made = [];
  let size = Infinity;
  for (const file of files) {
    if (size + file.size > BATCH_BYTES || made.at(-1).length >= BATCH_FILES) {
      made.push([]);
      size = 0;
    }
    made.at(-1).push(file);
    size += file.size;
  }
  return made;
}

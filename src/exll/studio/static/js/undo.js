/** Undo for the step that was just made, where it was made. */

import { postJson } from "./api.js";
import { say, tell, trying } from "./notice.js";

/** Says whether it was undone: where another step came in between, the server refuses. */
export async function undoStep(step) {
  return Boolean(await trying(() => postJson("/api/undo", { step })));
}

/** Say what was done, with Undo for as long as it is the newest step. @param {string} words @param {number | null} step */
export function tellStep(words, step, undone = () => {}) {
  const undo = async () => (await undoStep(step)) && undone();
  tell(words, "", { step, action: step === null ? undefined : ["Undo", undo] });
  say(words);
}

/** Undo for the step that was just made, where it was made. */

import { get, postJson } from "./api.js";
import { trying } from "./notice.js";

/** The newest step: after a change of this page, its own. */
export async function lastStep() {
  return (await trying(() => get("/api/project")))?.undo?.id ?? null;
}

/** Says whether it was undone: where another step came in between, the server refuses. */
export async function undoStep(step) {
  return Boolean(await trying(() => postJson("/api/undo", { step })));
}

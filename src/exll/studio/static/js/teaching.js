/** The one place that knows who sends photos to be taught. */

import { teach as send } from "./jobs.js";

/** Returns at once; progress and faults are shown by whoever sends. @param {string} label @param {(File | Blob)[]} files */
export const teach = (label, files, { group } = {}) => send(label, files, group);
export { showCutOff } from "./jobs.js";
export { newGroup, tooLarge } from "./upload.js";

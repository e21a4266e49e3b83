/** While something is being sent, the browser asks before the page is left. What was cut off is named on return. */

const KEY = "cut off";
const ask = (event) => event.preventDefault();
let sending = 0;

/**
 * Uploads of pictures of a class that did not all arrive yet. A browser that leaves the page breaks off its requests
 * first, so an upload stays here after an error, until it is tried again or dismissed.
 * @type {Set<{label: string, done: number, total: number}>}
 */
export const unfinished = new Set();

/** @param {() => Promise<any>} work */
export async function whileSending(work) {
  sending += 1;
  addEventListener("beforeunload", ask);
  try {
    return await work();
  } finally {
    sending -= 1;
    if (!sending) removeEventListener("beforeunload", ask);
  }
}

/** The uploads that were unfinished when this tab last left the page; told once. */
export function cutOff() {
  const uploads = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
  sessionStorage.removeItem(KEY);
  return uploads;
}

addEventListener("pagehide", () => {
  if (unfinished.size) sessionStorage.setItem(KEY, JSON.stringify([...unfinished]));
});
addEventListener("pageshow", (event) => event.persisted && sessionStorage.removeItem(KEY)); // the page goes on

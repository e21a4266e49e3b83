/** One page of a browser at a time: two tabs must not send the same photo. */

import { wait } from "./dom.js";

const LASTS = 9000; // milliseconds that a turn holds when nothing more is heard of its page
const RENEWED = 3000;

/** A tab keeps its name when it goes to another page: its turn goes on there. */
function tab() {
  const known = sessionStorage.getItem("tab") ?? crypto.getRandomValues(new Uint32Array(2)).join("-");
  sessionStorage.setItem("tab", known);
  return known;
}

/**
 * Wait for the turn, then work. Without TLS a browser has no locks, and the turn is a note in the store.
 * @param {string} name @param {any} store @param {(stillOurs: () => Promise<boolean>) => Promise<void>} work
 */
export async function inTurn(name, store, work) {
  if (navigator.locks) {
    await navigator.locks.request(name, () => work(async () => true));
    return;
  }
  const take = () => store.lease(tab(), Date.now() + LASTS);
  while (!(await take())) await wait(RENEWED / 3);
  const giveUp = () => store.lease(tab(), 0);
  const renewing = setInterval(take, RENEWED);
  addEventListener("pagehide", giveUp);
  try {
    await work(take);
  } finally {
    clearInterval(renewing);
    removeEventListener("pagehide", giveUp);
    await giveUp();
  }
}

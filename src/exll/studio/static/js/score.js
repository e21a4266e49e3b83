/** The accuracy on held-out photos as a small figure, on pages that have a place for it. */

import { address, get } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { onAny } from "./events.js";
import { counted, percent } from "./words.js";

const QUIET = 3000; // milliseconds without a change
const FIRST = 1000;
const LEAST = 5000; // between two questions
let timer = 0;
let asked = -LEAST;

async function look() {
  asked = performance.now();
  const found = await get("/api/evaluation").catch(() => null);
  const place = byId("score");
  if (!found || !place) return;
  place.hidden = found.examples === 0;
  if (place.hidden) return;
  fill(
    place,
    h(
      "a",
      { href: address("/evaluation") },
      `Right on ${percent(found.accuracy)} of ${counted(found.examples, "held-out photo")}`,
    ),
  );
  place.title = `The model is right on ${found.right.toLocaleString("en")} of ${counted(found.examples, "photo")} that it never learned.`;
}

/** Only when nothing has changed for a while: measuring must not slow teaching down. */
function lookSoon() {
  clearTimeout(timer);
  timer = setTimeout(look, Math.max(QUIET, asked + LEAST - performance.now()));
}

if (byId("score")) {
  onAny(["changed", "rebuilt", "anew", "settings"], lookSoon);
  setTimeout(look, FIRST); // the page itself comes first
}

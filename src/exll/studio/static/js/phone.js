/** A one-time link for one more device, and its QR code. */

import { address, postJson } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { tell, trying } from "./notice.js";
import { counted } from "./words.js";

let drawn = "";
let ends = 0;

async function make() {
  const made = await trying(() => postJson("/api/phone", { next: address("/") }), make);
  if (!made) return;
  URL.revokeObjectURL(drawn);
  drawn = URL.createObjectURL(new Blob([made.qr_svg], { type: "image/svg+xml" }));
  fill(byId("phone-code"), h("img", { src: drawn, alt: "QR code of the link" }));
  Object.assign(byId("phone-address"), { href: made.link, textContent: made.link });
  ends = performance.now() + 1000 * made.seconds;
  byId("phone-link").hidden = false;
  byId("make-link").textContent = "Make another link";
  showLeft();
}

function showLeft() {
  if (!ends) return;
  const left = ends - performance.now();
  const words = left > 60_000 ? counted(Math.ceil(left / 60_000), "minute") : "less than a minute";
  const place = byId("phone-left");
  if (place.textContent !== `Valid for ${words}.`) place.textContent = `Valid for ${words}.`; // said aloud when it changes
  if (left > 0) return;
  ends = 0;
  byId("phone-link").hidden = true;
  byId("make-link").textContent = "Make a link";
}

async function copy() {
  try {
    await navigator.clipboard.writeText(byId("phone-address").href);
    tell("Copied the link.", "", { seconds: 4 });
  } catch {
    tell("This browser does not let the page copy.", "Select the link and copy it.", { fault: true });
  }
}

byId("make-link").addEventListener("click", make);
byId("copy-link").addEventListener("click", copy);
setInterval(showLeft, 5000);

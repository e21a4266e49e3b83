/** A button for the sample project, wherever a page has a place for it. */

import { address, get, postJson } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { trying } from "./notice.js";

async function make(button) {
  button.setAttribute("aria-disabled", "true");
  const { root } = (await trying(() => postJson("/api/projects/sample"))) ?? {};
  button.removeAttribute("aria-disabled");
  if (root === undefined) return;
  if (root !== address("") || document.body.dataset.view === "project") location.assign(`${root}/`);
}

async function offer(place) {
  const { examples, held_out: heldOut } = await get("/api/project").catch(() => ({ examples: 1 }));
  const words = examples || heldOut
    ? "Twelve kinds of drawn household objects, in a project of their own."
    : "Twelve kinds of drawn household objects, taught to this project in a few seconds.";
  const button = h("button", { type: "button" }, "Try the sample");
  button.addEventListener("click", () => button.getAttribute("aria-disabled") || make(button));
  fill(place, h("p", { class: "row" }, button, h("span", { class: "faint" }, words)));
}

if (byId("sample")) offer(byId("sample"));

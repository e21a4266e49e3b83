/** A button for the sample project, wherever a page has a place for it. */

import { address, get, postJson } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { on } from "./events.js";
import { say, trying } from "./notice.js";

async function make(button) {
  const words = button.textContent;
  button.setAttribute("aria-disabled", "true");
  button.textContent = "Making the sample …";
  say("Making the sample. This takes a few seconds.");
  const { root } = (await trying(() => postJson("/api/projects/sample"))) ?? {};
  const ready = () => {
    button.removeAttribute("aria-disabled");
    button.textContent = words;
  };
  if (root === undefined) ready();
  else if (root !== address("") || document.body.dataset.view === "project") location.assign(`${root}/`);
  else {
    on("importing", ({ done, images }) => done === images && ready()); // it is taught after the answer
    on("anew", ready);
  }
}

async function offer(place) {
  const { examples, held_out: heldOut } = await get("/api/project").catch(() => ({ examples: 1 }));
  const words = examples || heldOut
    ? "Twelve kinds of drawn household objects, in a project of their own. 24 of the drawings are held out: Evaluation asks about them."
    : "Twelve kinds of drawn household objects, taught to this project in a few seconds. 24 of the drawings are held out: Evaluation asks about them.";
  const button = h("button", { type: "button" }, "Try the sample");
  button.addEventListener("click", () => button.getAttribute("aria-disabled") || make(button));
  fill(place, h("p", { class: "row" }, button, h("span", { class: "faint" }, words)));
}

if (byId("sample")) offer(byId("sample"));

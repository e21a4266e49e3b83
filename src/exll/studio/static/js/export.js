/** The Export page: downloads, and programs that run as they are. */

import { address, get } from "./api.js";
import { byId, fill, gathered, h } from "./dom.js";
import { onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import { snippets } from "./snippets.js";

let project = null;

/** While nothing is taught there is nothing to export; the server would answer with bare JSON. */
for (const id of ["get-model", "get-images", "get-manifest", "get-report"]) {
  byId(id).addEventListener("click", (event) => {
    if (project?.examples !== 0) return;
    event.preventDefault();
    tell("Nothing was taught yet.", "Teach something first.", { fault: true });
  });
}

async function copy(button, text, code) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS a browser has no clipboard for pages: the old way.
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

function shown({ id, title, words, text }) {
  const code = h("code", { id: `code-${id}` }, text);
  const button = h("button", { type: "button", "aria-label": `Copy: ${title}` }, "Copy");
  button.addEventListener("click", () => copy(button, text, code));
  return h(
    "article",
    { class: "panel snippet" },
    h("div", { class: "head" }, h("h3", {}, title), button),
    h("p", {}, words),
    h("pre", { tabindex: 0, class: "scroll", role: "region", "aria-label": title }, code),
  );
}

async function look() {
  project = (await trying(() => get("/api/project"), look)) ?? project;
  const place = byId("snippets");
  const given = {
    model: place.dataset.model,
    address: location.origin + address(""),
    locked: place.dataset.locked === "true",
    ownCertificate: place.dataset.own === "true",
  };
  const key = JSON.stringify(given);
  if (place.dataset.shown === key) return; // whoever reads or copies is not disturbed
  place.dataset.shown = key;
  fill(place, snippets(given).map(shown));
}

onAny(["changed", "anew"], gathered(look, 500));
look();

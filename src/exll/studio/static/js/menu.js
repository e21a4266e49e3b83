/** The pages as a menu, on screens where they do not fit side by side. */

import { byId } from "./dom.js";

const [button, pages] = ["menu", "pages"].map(byId);

function open(wanted) {
  button.setAttribute("aria-expanded", String(wanted));
}

button.addEventListener("click", () => open(button.getAttribute("aria-expanded") === "false"));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || button.getAttribute("aria-expanded") === "false") return;
  if (pages.contains(document.activeElement)) button.focus();
  open(false);
});
document.addEventListener("pointerdown", ({ target }) => {
  if (!pages.contains(target) && target !== button) open(false);
});
pages.addEventListener("focusout", ({ relatedTarget: to }) => {
  if (to && !pages.contains(to) && to !== button) open(false);
});

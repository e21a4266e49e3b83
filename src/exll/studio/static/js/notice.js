/** One message at a time at the foot of the page, and words for those who listen. */

import { byId, h } from "./dom.js";

const READABLE = 8; // seconds
const foot = byId("foot");
let worked = null; // where the focus was last, outside the foot of the page

/** Read aloud by screen readers, seen by nobody. */
export function say(words) {
  byId("spoken").textContent = words;
}

/**
 * At the foot of the page, which grows by it and so covers nothing that cannot be scrolled to. Only the newest is seen.
 * Faults stay until they are dismissed: they are seen again when what came after them has gone.
 * @param {string} words @param {string} [hint]
 * @param {{fault?: boolean, action?: [string, () => void], seconds?: number, step?: number | null}} [options] `step`:
 *   it goes when this is no longer the newest step. `seconds` is 0 for what stays until the next message; `unreached`: it goes when
 *   the studio answers again.
 */
export function tell(words, hint = "", { fault = false, action, seconds = fault ? 0 : READABLE, step = null, unreached = false } = {}) {
  const region = byId("messages");
  // Behind an open dialog nothing can be read or pressed.
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (dialog) dialog.append(region);
  else homeMessages();
  const dismiss = () => keepFocus(region, () => message.remove());
  const message = h(
    "div",
    { class: fault ? "message fault" : "message", role: fault ? "alert" : "status", "data-step": step, "data-unreached": unreached },
    h("div", {}, h("p", {}, words), hint && h("p", {}, hint)),
    action && actionButton(action, dismiss),
    h("button", { type: "button", class: "close", "aria-label": "Dismiss", onclick: dismiss }, "×"),
  );
  keepFocus(region, () => {
    for (const old of [...region.children])
      if (!old.matches(".fault") || old.textContent === message.textContent) old.remove();
    region.append(message);
  });
  if (seconds) setTimeout(dismiss, 1000 * seconds);
}

/** Whatever speaks of a step goes when that is undone or another one came. @param {number} newest The newest step, or 0. */
export function forgetSteps(newest) {
  for (const element of document.querySelectorAll("[data-step]")) {
    const step = Number(element.dataset.step);
    if (step === newest) element.dataset.seen = "yes";
    else if (newest > step || element.dataset.seen) keepFocus(element.parentElement, () => element.remove());
  }
}

/** The studio answers again: what says that it does not is out of date. */
export function forgetUnreached() {
  for (const message of document.querySelectorAll("[data-unreached]")) keepFocus(message.parentElement, () => message.remove());
}

/** After a dialog, messages are at the foot of the page again. */
export const homeMessages = () => foot.prepend(byId("messages"));

/** Where a change takes the focused element away, the focus goes to another one of the region, or back to the work. */
export function keepFocus(region, change) {
  const inside = region.contains(document.activeElement);
  change();
  const at = document.activeElement;
  if (!inside || (region.contains(at) && at.checkVisibility())) return;
  const next = [...region.querySelectorAll("button")].find((button) => button.checkVisibility());
  (next ?? (worked?.checkVisibility() ? worked : byId("main"))).focus({ preventScroll: true });
}

document.addEventListener("focusin", ({ target }) => {
  if (!foot.contains(target)) worked = target;
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && !document.querySelector("dialog[open]"))
    byId("messages").lastElementChild?.querySelector(".close").click();
});

/** The page ends above its foot, however high that is, and what one works with is scrolled out from under it. */
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--foot", `${foot.offsetHeight}px`);
  if (worked === document.activeElement && worked !== byId("main")) worked?.scrollIntoView({ block: "nearest" });
}).observe(foot);

function actionButton([words, run], dismiss) {
  return h(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: () => {
        dismiss();
        run();
      },
    },
    words,
  );
}

/** What the server said went wrong. @param {any} error @param {() => void} [again] */
export function complain(error, again) {
  if (error.name === "AbortError") return;
  tell(error.message, error.hint ?? "", { fault: true, action: again && ["Try again", again], unreached: error.status === 0 });
}

/** Run, and show what goes wrong. Gives undefined then. */
export async function trying(work, again) {
  try {
    return await work();
  } catch (error) {
    complain(error, again);
    return undefined;
  }
}

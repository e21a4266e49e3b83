/** Messages that stay until they are dismissed, and words for those who listen. */

import { byId, h } from "./dom.js";

const MOST = 3;
const foot = byId("foot");
let worked = null; // where the focus was last, outside the foot of the page

/** Read aloud by screen readers, seen by nobody. */
export function say(words) {
  byId("spoken").textContent = words;
}

/**
 * At the foot of the page, which grows by them and so covers nothing that cannot be scrolled to.
 * @param {string} words @param {string} [hint]
 * @param {{fault?: boolean, action?: [string, () => void], seconds?: number}} [options]
 */
export function tell(words, hint = "", { fault = false, action, seconds } = {}) {
  const region = byId("messages");
  // Behind an open dialog nothing can be read or pressed.
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (dialog) dialog.append(region);
  else homeMessages();
  const dismiss = () => keepFocus(region, () => message.remove());
  const message = h(
    "div",
    { class: fault ? "message fault" : "message", role: fault ? "alert" : "status" },
    h("div", {}, h("p", {}, words), hint && h("p", {}, hint)),
    action && actionButton(action, dismiss),
    h("button", { type: "button", class: "close", "aria-label": "Dismiss", onclick: dismiss }, "×"),
  );
  keepFocus(region, () => {
    region.append(message);
    while (region.children.length > MOST) region.firstElementChild.remove();
  });
  if (seconds) setTimeout(dismiss, 1000 * seconds);
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
  (next ?? (worked?.isConnected ? worked : byId("main"))).focus({ preventScroll: true });
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
  const { bottom } = (document.activeElement ?? document.body).getBoundingClientRect();
  const covered = bottom - foot.getBoundingClientRect().top;
  if (covered > 0 && worked === document.activeElement && worked !== byId("main")) scrollBy(0, covered + 8);
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
  tell(error.message, error.hint ?? "", { fault: true, action: again && ["Try again", again] });
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

/** Messages that stay until they are dismissed, and words for those who listen. */

import { byId, h } from "./dom.js";

const MOST = 4;

/** Read aloud by screen readers, seen by nobody. */
export function say(words) {
  byId("spoken").textContent = words;
}

/**
 * @param {string} words @param {string} [hint]
 * @param {{fault?: boolean, action?: [string, () => void], seconds?: number}} [options]
 */
export function tell(words, hint = "", { fault = false, action, seconds } = {}) {
  const region = byId("messages");
  // Behind an open dialog nothing can be read or pressed.
  ([...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body).append(region);
  const message = h(
    "div",
    { class: fault ? "message fault" : "message", role: fault ? "alert" : "status" },
    h("div", {}, h("p", {}, words), hint && h("p", {}, hint), action && actionButton(action, () => message.remove())),
    h("button", { type: "button", class: "close", "aria-label": "Dismiss", onclick: () => message.remove() }, "×"),
  );
  region.append(message);
  while (region.children.length > MOST) region.firstElementChild.remove();
  if (seconds) setTimeout(() => message.remove(), 1000 * seconds);
}

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

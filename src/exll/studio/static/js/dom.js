/** Elements without a library. */

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * An element with attributes, listeners ("onclick") and children. Text is always text, never markup.
 * @param {string} tag
 * @param {Record<string, any>} [given]
 * @param {...(Node | string | number | null | undefined | false | Array<any>)} children
 * @returns {any}
 */
export function h(tag, given = {}, ...children) {
  return filled(document.createElement(tag), given, children);
}

/** The same for drawings. */
export function svg(tag, given = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), given, children);
}

function filled(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

/** Children without those that a condition left out. */
const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

/** Put new children in the place of the old ones. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

/** A label or file name inside a sentence, in whichever direction it is written. */
export const quoted = (label) => ['"', h("bdi", {}, label), '"'];

/** What a page says while there is nothing to show, and the way to change that. */
export function nothingYet(words, action) {
  return h(
    "div",
    { class: "drop empty" },
    h("p", {}, h("strong", {}, words)),
    h("p", { class: "row" }, h("a", { class: "button primary", href: `${document.body.dataset.root ?? ""}/workbench` }, action)),
  );
}

/** A bar as long as a share; the number stands beside it in words. */
export function bar(share, weak = false) {
  const inside = h("span");
  inside.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("div", { class: weak ? "bar weak" : "bar", "aria-hidden": "true" }, inside);
}

const CLICK_AFTER_TOUCH = 350; // milliseconds, at most

/** Tells whether a mouse or finger is on an element, so that nothing moves under it; `left` is called when it is gone. */
export function pointedAt(element, left) {
  let pointed = false;
  let timer = 0;
  element.addEventListener("pointerenter", () => {
    clearTimeout(timer);
    pointed = true;
  });
  element.addEventListener("pointerleave", (event) => {
    const gone = () => {
      pointed = false;
      left();
    };
    timer = setTimeout(gone, event.pointerType === "mouse" ? 0 : CLICK_AFTER_TOUCH);
  });
  return () => pointed;
}

export const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Calls that come close together become one, and never two at a time. */
export function gathered(work, milliseconds = 150) {
  let timer = 0;
  let running = false;
  const run = async () => {
    timer = 0;
    if (running) {
      timer = setTimeout(run, milliseconds);
      return;
    }
    running = true;
    try {
      await work();
    } finally {
      running = false;
    }
  };
  return () => {
    if (!timer) timer = setTimeout(run, milliseconds);
  };
}

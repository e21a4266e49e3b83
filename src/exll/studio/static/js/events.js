/** News from the server, each with its kind; "anew" where some may have been missed. */

import { address } from "./api.js";

const KINDS = [
  "changed",
  "rebuilding",
  "rebuilt",
  "reopening",
  "importing",
  "settings",
  "versions",
  "reading",
  "evaluation",
  "inbox",
];
const heard = new EventTarget();
let source = null;
let greeted = false;

/** @param {string} kind @param {(news: any) => void} listener */
export function on(kind, listener) {
  heard.addEventListener(kind, (event) => listener(event.detail));
}

/** For pages that show the same thing whatever is new. */
export function onAny(kinds, listener) {
  for (const kind of kinds) on(kind, listener);
}

const tell = (kind, news = {}) => heard.dispatchEvent(new CustomEvent(kind, { detail: news }));

function connect() {
  if (source) return;
  source = new EventSource(address("/api/events"));
  for (const kind of KINDS) source.addEventListener(kind, (event) => tell(kind, JSON.parse(event.data)));
  source.addEventListener("missed", () => tell("anew"));
  source.addEventListener("hello", () => {
    tell("connected");
    if (greeted) tell("anew");
    greeted = true;
  });
  source.addEventListener("error", () => tell("lost"));
}

/** A browser keeps six connections to one server: tabs that nobody looks at must not hold them. */
function follow() {
  if (document.visibilityState === "visible") connect();
  else if (source) {
    source.close();
    source = null;
  }
}

document.addEventListener("visibilitychange", follow);
// A closing page takes its connection along; without this, some browsers report it as an error.
addEventListener("pagehide", () => source?.close());
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  source = null;
  follow();
});
follow();

/** The way to the server: JSON in and out; every error has a sentence and says what to do. */

import { wait } from "./dom.js";

const TRIES = 6;
const MOMENT = 400; // milliseconds
const { root: ROOT = "", project: KEY = "" } = document.body.dataset; // where this project lives, and which it is
const KEPT = /^\/api\/(examples|inbox)\/\d+\/(image|thumbnail|whole)$/; // browsers keep them; another project may come to live there
const NO_ANSWER = ["The studio does not answer.", "Is it still running? What was taught is safe; try again."];

let leaving = false; // for the login

/** Who asks: this browser. Steps carry it, so that one can tell one's own from others', also when the page is opened again. */
export const CLIENT = (localStorage.client ??= `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`);

export class ApiError extends Error {
  /** @param {string} error @param {string} hint @param {number} status @param {any} [body] */
  constructor(error, hint, status, body = null) {
    super(error);
    this.hint = hint;
    this.status = status;
    this.body = body;
  }
}

/** A path of the server, as the server or a page names it, within this project. */
export const address = (path) => ROOT + path + (KEPT.test(path) ? `?of=${KEY}` : "");

/** @param {string} path @param {AbortSignal} [signal] */
export const get = (path, signal) => send(path, { signal });

export const postJson = (path, body = {}) =>
  shownWhileSlow(send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));

/**
 * @param {string} path
 * @param {Record<string, any>} fields Files may come in lists; blobs may have a name: [blob, name].
 * @param {AbortSignal} [signal]
 */
export const postForm = (path, fields, signal) => send(path, { method: "POST", body: formOf(fields), signal });

/** The answer as a file. */
export async function postForFile(path, fields, signal) {
  return (await answered(path, { method: "POST", body: formOf(fields), signal })).blob();
}

export const thumbnail = (number) => address(`/api/examples/${number}/thumbnail`);

/** An edit that takes longer than a moment is shown at the foot of the page. */
function shownWhileSlow(edit) {
  const timer = setTimeout(() => dispatchEvent(new CustomEvent("slow-edit", { detail: edit })), MOMENT);
  edit.catch(() => {}).finally(() => clearTimeout(timer));
  return edit;
}

function formOf(fields) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one instanceof Blob) form.append(name, one, one.name ?? "camera.jpg");
      else form.append(name, String(one));
    }
  }
  return form;
}

async function send(path, options) {
  return (await answered(path, options)).json();
}

/** "Not now" is asked again a little later; all else that is no success is an error. */
async function answered(path, options) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await reached(path, options);
    if (response.ok) return response;
    if ((response.status === 429 || response.status === 503) && attempt < TRIES) {
      await wait(1000 * (Number(response.headers.get("Retry-After")) || 1));
      continue;
    }
    if (response.status === 401) leaveForLogin();
    const body = await response.json().catch(() => ({}));
    throw new ApiError(
      sentence(body.error ?? `the studio answered ${response.status}.`),
      body.hint ?? "",
      response.status,
      body,
    );
  }
}

/** Once, however many requests are refused: each way there would break off the one before, and none might arrive. */
function leaveForLogin() {
  if (!leaving) location.assign(`/login?next=${encodeURIComponent(here())}`);
  leaving = true;
}

addEventListener("pageshow", () => (leaving = false)); // come back to, without being loaded anew

/** This page, to come back to it. */
const here = () => location.href.slice(location.origin.length);

async function reached(path, options) {
  try {
    return await fetch(address(path), { ...options, headers: { ...options.headers, "X-Exll-Client": CLIENT } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(...NO_ANSWER, 0);
  }
}

/** @param {string} text */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

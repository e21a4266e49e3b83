/** Files however they come: dropped, in folders, pasted, picked. Each with the name of the folder it lay in. */

import { tell } from "./notice.js";

/** @typedef {{file: File, folder: string}} Found */

const PICTURE = /\.(jpe?g|png|webp|bmp|gif|tiff?|hei[cf]|hif|avif)$/i;
// Not every browser counts these among its images.
const PICTURES = "image/*,.heic,.heif,.hif,.avif,.tif,.tiff";
const NAMED = 3;
const ORDER = new Intl.Collator("en", { numeric: true });
export const isPicture = (file) => file.type.startsWith("image/") || PICTURE.test(file.name);
const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

/**
 * @param {HTMLElement} element @param {(found: Found[]) => void} received
 * @param {HTMLElement} [place] What is lit while files are over the element.
 */
export function onDrop(element, received, place = element) {
  let depth = 0; // the pointer leaves an element when it enters its child
  const lit = (change) => {
    depth = Math.max(0, depth + change);
    place.classList.toggle("over", depth > 0);
  };
  element.addEventListener("dragenter", (event) => carriesFiles(event) && lit(1));
  element.addEventListener("dragleave", (event) => carriesFiles(event) && lit(-1));
  element.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
  element.addEventListener("drop", async (event) => {
    lit(-Infinity);
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    place.setAttribute("aria-busy", "true");
    const found = await dropped(event.dataTransfer);
    place.removeAttribute("aria-busy");
    if (found.length) received(found);
  });
}

/** A file that misses its place must not replace the page. */
export function guardPage() {
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
}

/** @param {(found: Found[], target: Element) => void} received */
export function onPaste(received) {
  document.addEventListener("paste", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const files = [...(event.clipboardData?.files ?? [])].filter(isPicture);
    if (!files.length) return;
    event.preventDefault();
    received(
      files.map((file) => ({ file, folder: "" })),
      document.activeElement ?? document.body,
    );
  });
}

/**
 * Let the person choose.
 * @param {{many?: boolean, folder?: boolean, accept?: string}} options
 * @returns {Promise<Found[]>}
 */
export function pick({ many = true, folder = false, accept = PICTURES } = {}) {
  const input = document.createElement("input");
  Object.assign(input, {
    type: "file",
    multiple: many,
    accept: folder ? "" : accept,
    webkitdirectory: folder,
    hidden: true,
  });
  document.body.append(input); // some browsers forget an input that is nowhere
  return new Promise((done) => {
    input.addEventListener("change", () => {
      const found = [...input.files].map((file) => ({ file, folder: folderOf(file.webkitRelativePath) }));
      done(folder ? found.filter(wanted) : found);
      input.remove();
    });
    input.addEventListener("cancel", () => {
      done([]);
      input.remove();
    });
    input.click();
  });
}

/** Folders hold much that is no photo; what was dropped by itself is judged by the server. */
const wanted = ({ file, folder }) => !folder || (isPicture(file) && !file.name.startsWith("."));
const folderOf = (path) => path.split("/").at(-2) ?? "";

async function dropped(transfer) {
  // All entries must be taken before the first wait: the list is empty after it.
  const entries = [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  const unread = [];
  for (const entry of entries) {
    if (entry instanceof File) found.push({ file: entry, folder: "" });
    else if (entry) await walk(entry, "", found, unread);
  }
  if (unread.length) tell(`Could not be read: ${named(unread)}.`, "Check that you may read these files.", { fault: true });
  return found.filter(wanted);
}

/** The files of a folder are read together: a drop may hold thousands. */
async function walk(entry, folder, found, unread) {
  const files = entry.isFile ? [entry] : [];
  const folders = [];
  for (const child of entry.isFile ? [] : await childrenOf(entry, unread)) (child.isFile ? files : folders).push(child);
  const read = await Promise.allSettled(files.map((one) => new Promise((done, failed) => one.file(done, failed))));
  for (const [i, { status, value: file }] of read.entries()) {
    if (status === "fulfilled") found.push({ file, folder: entry.isFile ? folder : entry.name });
    else unread.push(files[i].name);
  }
  for (const child of folders) await walk(child, entry.name, found, unread);
}

async function childrenOf(entry, unread) {
  const reader = entry.createReader();
  const more = () => new Promise((done, failed) => reader.readEntries(done, failed));
  const children = [];
  try {
    // A reader gives some hundred entries at a time, and none when it is done.
    for (let some = await more(); some.length; some = await more()) children.push(...some);
  } catch {
    unread.push(entry.name);
  }
  return children.sort((one, other) => ORDER.compare(one.name, other.name));
}

function named(names) {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (rest > 0 ? ` and ${rest.toLocaleString("en")} more` : "");
}

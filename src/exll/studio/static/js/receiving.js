/** Photos for which no class was said: folders name theirs, else the person is asked. */

import { askLabel, choice, meant } from "./dialogs.js";
import { h } from "./dom.js";
import { isPicture } from "./dropzone.js";
import { teach } from "./queue.js";
import { newGroup } from "./sending.js";
import { counted } from "./words.js";

const PREVIEWS = 8;
const EVERY = 5;

/** @param {import("./dropzone.js").Found[]} found @param {string[]} labels Classes that there are. */
export async function receive(found, labels) {
  const folders = grouped(found);
  const measuring = measuringBox();
  if (!folders.has("")) {
    const answer = await askFolders(folders, measuring);
    if (!answer) return;
    if (answer === "folders") {
      const options = { group: newGroup(), holdOutEvery: wanted(measuring) };
      const names = await meant([...folders.keys()], labels);
      names?.forEach((name, i) => teach(name, [...folders.values()][i], options));
      return;
    }
  }
  const files = found.map(({ file }) => file);
  const photos = files.filter(isPicture);
  const these = photos.length ? counted(photos.length, "photo") : counted(files.length, "file");
  const question = photos.length === 1 ? "What is this?" : `What are these ${these}?`;
  const label = await askLabel(question, labels, {
    content: [preview(photos), photos.length < files.length && h("p", {}, unlikePhotos(files.length - photos.length))],
    beside: files.length >= EVERY && measuring,
  });
  if (label) teach(label, files, { holdOutEvery: wanted(measuring) });
}

/** The server decides what is a photo. */
const unlikePhotos = (count) =>
  count === 1 ? "1 file does not look like a photo." : `${counted(count, "file")} do not look like photos.`;

function askFolders(folders, measuring) {
  const one = folders.size === 1;
  return choice(
    one ? "Is the folder's name the class?" : `Is each of these ${folders.size} folders a class?`,
    [
      !one && h("p", {}, `${counted([...folders.values()].flat().length, "photo")} in all:`),
      h(
        "ul",
        { class: "scroll" },
        [...folders].map(([folder, files]) => h("li", {}, h("bdi", {}, folder), `: ${counted(files.length, "photo")}`)),
      ),
    ],
    [
      [one ? `Teach as ${[...folders.keys()][0]}` : "Teach under the folders' names", "folders"],
      [one ? "Another name …" : "One class for all …", "one", ""],
    ],
    "Cancel",
    measuring,
  );
}

/** @returns {Map<string, File[]>} */
function grouped(found) {
  const folders = new Map();
  for (const { file, folder } of found) {
    if (!folders.has(folder)) folders.set(folder, []);
    folders.get(folder).push(file);
  }
  return folders;
}

const measuringBox = () =>
  h("label", { class: "option" }, h("input", { type: "checkbox" }), "Hold out every fifth photo, for measuring");

const wanted = (box) => (box.querySelector("input").checked ? EVERY : 0);

function preview(files) {
  return h(
    "ul",
    { class: "thumbs large" },
    files.slice(0, PREVIEWS).map((file, i) => {
      const image = h("img", { alt: `Photo ${i + 1}, ${file.name}`, src: URL.createObjectURL(file) });
      for (const kind of ["load", "error"]) image.addEventListener(kind, () => URL.revokeObjectURL(image.src));
      // Few browsers show HEIC; the server does.
      image.addEventListener("error", () => image.replaceWith(h("span", { class: "unseen" }, file.name)));
      return h("li", {}, image);
    }),
    files.length > PREVIEWS && h("li", { class: "more" }, `and ${files.length - PREVIEWS} more`),
  );
}

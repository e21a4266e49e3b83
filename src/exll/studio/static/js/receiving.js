/** Photos for which no class was said: folders name theirs, else the person is asked. */

import { askLabel, choice } from "./dialogs.js";
import { h } from "./dom.js";
import { newGroup, teach } from "./teaching.js";
import { counted } from "./words.js";

const PREVIEWS = 8;

/** @param {{file: File, folder: string}[]} found @param {string[]} labels The classes that are known. */
export async function receive(found, labels) {
  const folders = grouped(found);
  if (!folders.has("")) {
    const list = h(
      "ul",
      {},
      [...folders].map(([folder, files]) => h("li", {}, h("bdi", {}, folder), `: ${counted(files.length, "photo")}`)),
    );
    const answer = await choice(
      folders.size === 1 ? "Is the folder's name the class?" : `${folders.size} folders: is each a class?`,
      [h("p", {}, "Found:"), list],
      [
        [folders.size === 1 ? `Teach as ${[...folders.keys()][0]}` : "Teach under the folders' names", "folders"],
        ["One class for all …", "one", ""],
      ],
    );
    if (!answer) return;
    if (answer === "folders") {
      const group = newGroup();
      for (const [folder, files] of folders) teach(folder, files.map(({ file }) => file), { group });
      return;
    }
  }
  const files = found.map(({ file }) => file);
  const title = files.length === 1 ? "What is this?" : `What are these ${files.length} photos?`;
  const label = await askLabel(title, labels, { content: preview(files) });
  if (label) teach(label, files);
}

function grouped(found) {
  const groups = new Map();
  for (const one of found) groups.set(one.folder, [...(groups.get(one.folder) ?? []), one]);
  return groups;
}

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

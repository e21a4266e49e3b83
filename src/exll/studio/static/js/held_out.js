/** Photos to measure with: hold out what was taught, learn it again, or bring a folder of other photos. */

import { get, postJson } from "./api.js";
import { choice, meant } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { onDrop, pick } from "./dropzone.js";
import { tell, trying } from "./notice.js";
import { teach } from "./queue.js";
import { newGroup } from "./sending.js";
import { tellStep } from "./undo.js";
import { counted, photosOf } from "./words.js";

/** @param {{examples: number, never_taught: number, taught: number}} evaluation */
export function showHeldOut({ examples, never_taught: never, taught }) {
  const held = examples + never;
  byId("held-out").textContent = held
    ? `${photosOf({ examples: taught, held_out: held })}.`
    : `${counted(taught, "photo")} taught, none held out. A fifth of them is a good share to hold out.`;
  byId("learn-again").hidden = held === 0;
  for (const id of ["hold-out", "hold-out-newest"]) byId(id).hidden = taught === 0;
}

async function change(path, body, words) {
  const answer = await trying(() => postJson(path, body));
  if (!answer) return;
  tellStep(answer.changed ? `${counted(answer.changed, "photo")} ${words}.` : "Nothing changed: they are held out already.", answer.step);
}

byId("hold-out").addEventListener("click", () => change("/api/evaluation/hold-out", { every: 5 }, "held out"));
byId("hold-out-newest").addEventListener("click", () =>
  change("/api/evaluation/hold-out", { every: 5, newest: true }, "held out"),
);
byId("learn-again").addEventListener("click", async () => {
  await change("/api/evaluation/learn", {}, "learned");
  byId("hold-out").focus(); // this button goes away
});

/** One sub-folder per class; the names have to be those of the classes. */
async function receive(found) {
  if (document.querySelector("dialog[open]")) return;
  const folders = new Map();
  for (const { file, folder } of found) folders.set(folder, [...(folders.get(folder) ?? []), file]);
  if (folders.has("")) {
    tell("These photos are in no folder, so their class is not known.", "Drop a folder with one sub-folder per class.", {
      fault: true,
    });
    return;
  }
  const answer = await trying(() => get("/api/classes"));
  if (!answer) return;
  const names = await meant([...folders.keys()], answer.classes.map(({ label }) => label));
  if (!names) return;
  const named = [...folders.values()].map((files, i) => [names[i], files]);
  const known = new Set(answer.classes.filter(({ examples }) => examples > 0).map(({ label }) => label));
  const lines = named.map(([name, files]) =>
    h("li", {}, h("bdi", {}, name), `: ${counted(files.length, "photo")}`, !known.has(name) && h("strong", {}, ", never taught")),
  );
  const yes = await choice(
    `Hold out ${counted(found.length, "photo")} of ${counted(new Set(names).size, "class")}?`,
    [h("p", {}, "They are stored and asked about, and never learned. Each folder is a class:"), h("ul", {}, lines)],
    [["Hold them out", true]],
  );
  if (!yes) return;
  const group = newGroup();
  for (const [name, files] of named) teach(name, files, { group, heldOut: true });
}

byId("pick-folder").addEventListener("click", async () => {
  const found = await pick({ folder: true });
  if (found.length) receive(found);
});
onDrop(document.body, receive, byId("drop"));

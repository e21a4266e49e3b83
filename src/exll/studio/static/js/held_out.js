/** Photos to measure with: set aside what was taught, learn it again, or bring a folder of other photos. */

import { get, postJson } from "./api.js";
import { choice } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { guardPage, onDrop, pick } from "./dropzone.js";
import { say, tell, trying } from "./notice.js";
import { teach } from "./queue.js";
import { newGroup } from "./sending.js";
import { counted } from "./words.js";

/** @param {{examples: number, never_taught: number, taught: number}} evaluation */
export function showHeldOut({ examples, never_taught: never, taught }) {
  const held = examples + never;
  byId("held-out").textContent = held
    ? `${counted(held, "photo")} held out, ${taught.toLocaleString("en")} learned.`
    : `No photos held out, ${taught.toLocaleString("en")} learned. A fifth is a good share.`;
  byId("learn-again").hidden = held === 0;
  for (const id of ["set-aside", "set-newest-aside"]) byId(id).hidden = taught === 0;
}

async function change(path, body, words) {
  const answer = await trying(() => postJson(path, body));
  if (!answer) return;
  const done = answer.changed ? `${counted(answer.changed, "photo")} ${words}.` : "Nothing changed: they are set aside already.";
  tell(done, answer.changed ? "Undo takes it back." : "", { seconds: 8 });
  say(done);
}

byId("set-aside").addEventListener("click", () => change("/api/evaluation/set-aside", { every: 5 }, "set aside"));
byId("set-newest-aside").addEventListener("click", () =>
  change("/api/evaluation/set-aside", { every: 5, newest: true }, "set aside"),
);
byId("learn-again").addEventListener("click", async () => {
  await change("/api/evaluation/learn", {}, "learned");
  byId("set-aside").focus(); // this button goes away
});

/** One sub-folder per class; the names have to be those of the classes. */
async function receive(found) {
  const folders = new Map();
  for (const { file, folder } of found) folders.set(folder, [...(folders.get(folder) ?? []), file]);
  if (folders.has("")) {
    tell("These photos lie in no folder, so their class is not known.", "Drop a folder with one sub-folder per class.", {
      fault: true,
    });
    return;
  }
  const answer = await trying(() => get("/api/classes"));
  if (!answer) return;
  const known = new Set(answer.classes.filter(({ examples }) => examples > 0).map(({ label }) => label));
  const lines = [...folders].map(([folder, files]) =>
    h("li", {}, h("bdi", {}, folder), `: ${counted(files.length, "photo")}`, !known.has(folder) && h("strong", {}, ", never taught")),
  );
  const yes = await choice(
    `Hold out ${counted(found.length, "photo")} of ${counted(folders.size, "class")}?`,
    [h("p", {}, "They are stored and asked about, and never learned. The folders' names are the classes:"), h("ul", {}, lines)],
    [["Hold them out", true]],
  );
  if (!yes) return;
  const group = newGroup();
  for (const [folder, files] of folders) teach(folder, files, { group, heldOut: true });
}

byId("pick-folder").addEventListener("click", async () => {
  const found = await pick({ folder: true });
  if (found.length) receive(found);
});
onDrop(byId("drop"), receive);
guardPage();

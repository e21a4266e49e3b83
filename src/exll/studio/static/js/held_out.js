/** Photos to measure with: set aside what was taught, learn it again, or bring a folder of other photos. */

import { get, postForm, postJson } from "./api.js";
import { choice } from "./dialogs.js";
import { byId, fill, h } from "./dom.js";
import { guardPage, onDrop, pick } from "./dropzone.js";
import { say, tell, trying } from "./notice.js";
import { batches, newGroup } from "./upload.js";
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
  if (yes) await hold(folders, found.length);
}

async function hold(folders, total) {
  const group = newGroup();
  const words = h("p", { role: "status" });
  const meter = h("progress", { max: total, value: 0, "aria-label": "Sending held-out photos" });
  fill(byId("holding"), words, meter);
  const refused = [];
  for (const [label, files] of folders) {
    for (const batch of batches(files)) {
      words.textContent = `Sent ${meter.value} of ${counted(total, "photo")} …`;
      const answer = await trying(() => sent({ label, files: batch, held_out: true, group }), () => hold(folders, total));
      if (!answer) return fill(byId("holding"));
      refused.push(...answer.filter(({ status }) => status !== "taught"));
      meter.value += batch.length;
    }
  }
  fill(
    byId("holding"),
    h("p", { role: "status" }, `${counted(total - refused.length, "photo")} held out.`),
    refused.length > 0 && h("p", {}, `${counted(refused.length, "photo")} left out: taught before, or not readable.`),
  );
}

async function sent(fields) {
  try {
    return (await postForm("/api/teach", fields)).results;
  } catch (error) {
    if (error.body?.results) return error.body.results;
    throw error;
  }
}

byId("pick-folder").addEventListener("click", async () => {
  const found = await pick({ folder: true });
  if (found.length) receive(found);
});
onDrop(byId("drop"), receive);
guardPage();

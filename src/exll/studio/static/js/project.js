/** The Project page. */

import { get, postForFile, postForm, postJson, sentence } from "./api.js";
import { confirmed } from "./dialogs.js";
import { byId, fill, gathered, h } from "./dom.js";
import { pick } from "./dropzone.js";
import { on, onAny } from "./events.js";
import { complain, tell, trying } from "./notice.js";
import { batches, tooLarge, whileSending } from "./sending.js";
import { bytes, counted } from "./words.js";

const PROBLEMS = 8;
let project = null;

async function look() {
  project = (await trying(() => get("/api/project"), look)) ?? project;
  if (!project) return;
  const { storage } = project;
  rows("about", {
    Classes: project.classes.toLocaleString("en"),
    "Photos taught": project.examples.toLocaleString("en"),
    "Photos held out": project.held_out.toLocaleString("en"),
    Rules: project.prototypes.toLocaleString("en"),
    "Size of the model": bytes(project.model_bytes),
    Network: `${project.backbone}, ${project.width} features per photo`,
    Version: project.version,
  });
  rows("storage", {
    Photos: bytes(storage.images),
    Database: bytes(storage.database),
    Models: bytes(storage.models),
  });
}

function rows(id, given) {
  fill(
    byId(id),
    Object.entries(given).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

async function importZip() {
  const [found] = await pick({ many: false, accept: ".zip,application/zip" });
  if (!found) return;
  const refused = tooLarge(found.file, Number(document.body.dataset.importBytes));
  if (refused) {
    tell(`${refused.file}: ${refused.error}`, "Split it into several zips.", { fault: true });
    return;
  }
  const place = byId("importing");
  const sending = new AbortController();
  fill(
    place,
    h("p", { role: "status" }, "Sending the zip …"),
    h("progress", { "aria-label": "Import" }),
    h("p", {}, h("button", { type: "button", onclick: () => cancelImport(sending) }, "Cancel")),
  );
  try {
    report(place, await whileSending(() => postForm("/api/project/import", { file: found.file }, sending.signal)));
  } catch (error) {
    fill(place, sending.signal.aborted && h("p", { role: "status" }, "Cancelled. Nothing was imported."));
    complain(error, () => importZip());
  }
  if (document.activeElement === document.body) byId("import").focus(); // the button that was pressed went away
}

/** What the server has not begun with is not sent any further. */
async function cancelImport(sending) {
  const answer = await trying(() => postJson("/api/project/import/cancel"));
  if (answer && !answer.running) sending.abort();
}

function report(place, answer) {
  const { taught, held_out: heldOut, nothing, already, conflicts, unreadable, passed_over: passed, problems } = answer;
  const lines = [
    [already, "already here"],
    [conflicts, "in another class already"],
    [unreadable, "could not be used"],
    [passed, "left out: no photo in a folder"],
  ];
  fill(
    place,
    h(
      "p",
      { role: "status" },
      answer.stopped && !answer.undone && "Stopped before the end. ",
      h("strong", {}, answer.undone ? "Undone: nothing of it was kept." : `Learned ${counted(taught, "photo")}.`),
      !answer.undone && heldOut > 0 && ` ${counted(heldOut, "photo")} held out.`,
      !answer.undone && nothing > 0 && ` ${counted(nothing, "photo")} marked as none of the classes.`,
    ),
    lines.filter(([count]) => count).map(([count, words]) => h("p", {}, `${counted(count, "file")} ${words}.`)),
    h(
      "ul",
      {},
      problems.slice(0, PROBLEMS).map(({ file, error }) => h("li", {}, h("bdi", {}, file), ": ", sentence(error))),
    ),
  );
}

on("importing", ({ done, images }) => {
  const meter = byId("importing").querySelector("progress");
  if (!meter) return;
  Object.assign(meter, { max: images, value: done });
  byId("importing").querySelector("p").textContent = `Learning ${done} of ${counted(images, "photo")} …`;
});

async function choose(options) {
  const picked = (await pick(options)).map(({ file }) => file);
  const refused = picked.map((file) => tooLarge(file)).filter(Boolean);
  if (refused.length) tell(`${leftOut(refused)}.`, refused[0].error, { fault: true });
  const files = picked.filter((file) => !tooLarge(file));
  if (files.length) await whileSending(() => predictMany(files));
}

/** Some at a time, so that one can watch and stop; the table is put together at the end. */
async function predictMany(files) {
  const place = byId("predicting");
  const stop = new AbortController();
  const words = h("p", { role: "status" });
  const meter = h("progress", { max: files.length, value: 0, "aria-label": "Classifying many photos" });
  fill(place, words, meter, h("button", { type: "button", onclick: () => stop.abort() }, "Cancel"));
  const parts = [];
  try {
    for (const batch of batches(files)) {
      words.textContent = `Classified ${meter.value} of ${counted(files.length, "photo")} …`;
      const text = await (await postForFile("/api/predictions.csv", { files: batch }, stop.signal)).text();
      parts.push(parts.length ? text.slice(text.indexOf("\n") + 1) : text);
      meter.value += batch.length;
    }
    const address = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    fill(
      place,
      h("p", { role: "status" }, `Classified ${counted(files.length, "photo")}.`),
      h("a", { class: "button primary", href: address, download: "predictions.csv" }, "Save predictions.csv"),
    );
    place.querySelector("a").focus();
  } catch (error) {
    fill(place);
    complain(error, () => whileSending(() => predictMany(files)));
  }
}

function leftOut(refused) {
  const names = refused.slice(0, PROBLEMS).map(({ file }) => file);
  if (refused.length > PROBLEMS) names.push(`and ${refused.length - PROBLEMS} more`);
  return `${counted(refused.length, "file")} left out, too large: ${names.join(", ")}`;
}

async function purge() {
  const sure = await confirmed(
    "Remove deleted photos for good?",
    "They are removed from the disk. After that, no earlier step can be undone.",
    "Remove for good",
  );
  const answer = sure && (await trying(() => postJson("/api/project/purge")));
  if (answer) tell(`Removed ${counted(answer.images, "photo")} from the disk.`);
}

byId("import").addEventListener("click", importZip);
byId("predict-files").addEventListener("click", () => choose({}));
byId("predict-folder").addEventListener("click", () => choose({ folder: true }));
byId("purge").addEventListener("click", purge);
onAny(["changed", "rebuilt", "anew"], gathered(look, 300));
look();

/** The Ask page. */

import { get, postForm } from "./api.js";
import { showAnswer, showEvidence, spoken } from "./answer.js";
import { Camera } from "./camera.js";
import { Correction } from "./correction.js";
import "./strictness.js";
import { byId, fill, h, wait } from "./dom.js";
import { guardPage, onDrop, onPaste, pick } from "./dropzone.js";
import { offerMaps } from "./evidence_map.js";
import { on, onAny } from "./events.js";
import { complain, say, tell, trying } from "./notice.js";
import { tooLarge } from "./sending.js";

const BETWEEN = 300; // milliseconds from one question of the camera to the next, at least
const SPOKEN_EVERY = 4000;
const EDITS = new Set(["relabel", "delete", "rename", "merge", "delete class", "undo"]); // changes of what was taught

const [stage, answer, evidence, where] = ["stage", "answer", "evidence", "where"].map(byId);
const [live, freeze] = ["live", "freeze"].map(byId);
const camera = new Camera();
let asking = 0; // the number of the newest question: a late answer to an older one is dropped
let picture = null; // of the newest question
let shown = null; // {asked, prediction, taughtAs} of the picture on the stage

const correction = new Correction(byId("correction"), explainAgain);

/** @param {Blob} file */
async function ask(file) {
  const refused = tooLarge(file);
  if (refused) {
    tell(`${refused.file}: ${refused.error}`, refused.hint, { fault: true });
    return;
  }
  stopCamera();
  correction.clear();
  fill(evidence);
  picture = stagePicture(file);
  fill(stage, picture);
  where.hidden = true;
  shown = null;
  const found = await explain({ file });
  if (found) await correction.offer(shown);
}

async function explainAgain() {
  if (shown && (await explain({ asked: shown.asked }))) await correction.offerAgain(shown);
}

function stagePicture(file) {
  const image = h("img", { alt: "The picture that you asked about", src: URL.createObjectURL(file) });
  image.addEventListener("load", () => image.classList.toggle("small", image.naturalWidth < 288));
  // Either it is no picture, or the server has to send it in a format that this browser shows.
  image.addEventListener("error", () => image.replaceWith(h("p", {}, h("bdi", {}, file.name))));
  return image;
}

async function explain(what) {
  const number = (asking += 1);
  answer.setAttribute("aria-busy", "true");
  if (!shown) fill(answer, h("p", { class: "faint" }, "Looking …"));
  const found = await trying(
    () => postForm("/api/explain", what),
    () => explain(what),
  );
  answer.removeAttribute("aria-busy");
  if (number !== asking) return null;
  if (!found) {
    if (!shown) welcome();
    return null;
  }
  shown = { asked: found.asked, prediction: found.prediction, taughtAs: found.taught_as };
  showAnswer(answer, found.prediction, found.taught_as);
  showEvidence(evidence, found);
  if (where.hidden) picture.src = found.image; // the server's copy is upright in every browser
  fill(stage, picture);
  offerMaps(where, picture, found.where);
  answer.scrollIntoView({ block: "nearest" }); // on a telephone it stands below the picture
  say(spoken(found.prediction));
  return found;
}

async function startCamera() {
  shown = null;
  correction.clear();
  fill(evidence);
  where.hidden = true;
  await camera.open();
  fill(stage, camera.video);
  live.setAttribute("aria-pressed", "true");
  live.textContent = "Stop the camera";
  freeze.hidden = false;
  watch((asking += 1));
}

function stopCamera() {
  if (!camera.stream) return;
  asking += 1;
  camera.close();
  live.setAttribute("aria-pressed", "false");
  live.textContent = "Use the camera";
  freeze.hidden = true;
}

/** The next question goes out when the last was answered, so that they never pile up. */
async function watch(number) {
  let said = 0;
  while (number === asking) {
    const started = performance.now();
    try {
      const frame = await camera.frame();
      const found = await postForm("/api/predict", { file: frame });
      if (number !== asking) return;
      showAnswer(answer, found.prediction);
      if (started - said > SPOKEN_EVERY) {
        say(spoken(found.prediction));
        said = started;
      }
    } catch (error) {
      if (number === asking) {
        stopCamera();
        complain(error, () => trying(startCamera));
      }
      return;
    }
    await wait(Math.max(0, BETWEEN - (performance.now() - started)));
  }
}

function receive([first, ...more]) {
  if (more.length) tell("Only the first picture is used.", "The Project page classifies many at once.", { seconds: 8 });
  ask(first.file);
}

async function welcome() {
  const { examples } = (await trying(() => get("/api/classes"))) ?? { examples: 1 };
  if (shown) return;
  answer.classList.remove("unusual", "unknown");
  fill(
    answer,
    examples > 0
      ? h("p", { class: "faint" }, "The answer appears here.")
      : [
          h("p", {}, h("strong", {}, "Nothing was taught yet.")),
          h("p", {}, h("a", { class: "button primary", href: "/teach" }, "Teach something first")),
        ],
  );
}

byId("pick").addEventListener("click", async () => {
  const found = await pick({ many: false });
  if (found.length) receive(found);
});
live.addEventListener("click", () => {
  if (!camera.stream) {
    trying(startCamera);
    return;
  }
  stopCamera();
  fill(stage, h("p", {}, "Drop a photo here, or paste a picture."));
  welcome();
});
freeze.addEventListener("click", async () => ask(await camera.frame()));
onDrop(byId("show"), receive);
onPaste(receive);
guardPage();
onAny(["rebuilt", "settings"], explainAgain);
on("changed", ({ kind }) => EDITS.has(kind) && explainAgain());
addEventListener("pagehide", () => camera.close());
welcome();

/** The Workbench page: teach, ask and see on one page. */

import { get } from "./api.js";
import { ClassList } from "./class_list.js";
import { byId, gathered } from "./dom.js";
import { guardPage, onDrop, onPaste, pick } from "./dropzone.js";
import { on, onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import { receive } from "./receiving.js";
import { Recording } from "./recorder.js";
import "./score.js";
import { Stage } from "./stage.js";

const stage = new Stage();
const list = new ClassList({
  record: (row) => record(row),
  stop: () => active?.stop(),
  changed: () => stage.know(list.labels()),
});
const lookSoon = gathered(look, 500); // what is expected of every class takes a while to find
const lookAtRecorded = gathered(async () => {
  const found = active && (await get("/api/classes").catch(() => null));
  const one = found?.classes.find(({ label }) => label === active?.row.label);
  if (one) active.row.show(one); // of the others nothing may move
}, 1000);
let active = null; // the press on a button that records

/** The camera is switched on first where it is off; one who let go meanwhile has not recorded. */
async function record(row) {
  active?.stop();
  const mine = (active = { row, on: true, recording: null, stop: () => ((mine.on = false), mine.recording?.stop()) });
  list.select(row);
  const wasOn = Boolean(stage.camera.stream);
  await trying(() => stage.watch());
  if (mine.on && stage.camera.stream) await recorded(mine);
  else if (stage.camera.stream && !wasOn) tellIn(row, "The camera is on. Hold the button to record.");
  if (active?.row !== row || active === mine) row.recording(null);
  if (active === mine) active = null;
}

async function recorded(mine) {
  const { row } = mine;
  mine.recording = new Recording(row.label, stage.camera, (count, numbers) => {
    if (mine.recording.on) row.recording(count);
    if (numbers.length) row.add(numbers);
    if (!mine.recording.on) lookSoon();
  });
  row.recording(0);
  byId("stage").classList.add("recording");
  await mine.recording.run();
  byId("stage").classList.remove("recording");
  lookSoon();
  tellRecorded(mine.recording, row);
}

function tellIn(row, words) {
  say(words);
  if (!row.note(words)) tell(words, "", { seconds: 8 });
}

/** Frames that are left out are told of: the button had counted them. */
async function tellRecorded(recording, row) {
  const words = `${await recording.summary()}.`;
  if (recording.became.already || recording.became.conflict) tellIn(row, words);
  else say(words);
}

async function look() {
  const found = await trying(() => get("/api/classes"), look);
  if (!found) return;
  stage.taught = found.examples > 0;
  list.show(found);
}

function ask([first, ...more]) {
  if (more.length) tell("Only the first photo is used.", "The Project page classifies many at once.", { seconds: 8 });
  stage.ask(first.file);
}

const received = (found) => receive(found, list.labels());

async function picked(options, use = received) {
  const found = await pick(options);
  if (found.length) use(found);
}

byId("pick-files").addEventListener("click", () => picked({}));
byId("pick-folder").addEventListener("click", () => picked({ folder: true }));
byId("pick").addEventListener("click", () => picked({ many: false }, ask));
onDrop(byId("classes"), received);
onDrop(byId("stage"), ask);
onPaste((found, target) => {
  const label = target.closest(".card")?.dataset.label;
  if (label) list.rows.get(label).teach(found.map(({ file }) => file));
  else ask(found);
});
guardPage();

on("changed", ({ undo, counts, examples }) => {
  stage.taught = examples > 0;
  if (stage.now && !stage.correction.isOf(undo)) stage.hint();
  list.count(counts);
  if (active) lookAtRecorded(); // the others when the recording has ended: answers go first
  else lookSoon();
});
onAny(["rebuilt", "anew"], lookSoon);
onAny(["changed", "rebuilt", "settings"], () => stage.askAgain());
look();

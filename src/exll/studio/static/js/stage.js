/** The right side of the Workbench: a camera or a photo, what the model makes of it, and "no, it is this". */

import { address, postForm } from "./api.js";
import { showAnswer, spoken } from "./answer.js";
import { Bars } from "./bars.js";
import { Camera } from "./camera.js";
import { Correction } from "./correction.js";
import { nameMeant } from "./dialogs.js";
import { byId, fill, gathered, h, wait } from "./dom.js";
import { complain, say, tell, trying } from "./notice.js";
import { see, seeNothing, showLooks } from "./preview.js";
import { tooLarge } from "./sending.js";
import { openViewer } from "./viewer.js";
import { Why } from "./why.js";

const BETWEEN = 60; // milliseconds from one question of the camera to the next, at least
const SPOKEN_EVERY = 4000;
const HINT = "Press the right class below to teach it.";
const RECORD = "Hold the record button of its class, or type a new name below.";
const PRESS = "Press its class below to teach it, or type a new name.";

const [stage, says, level, explain, thing] = ["stage", "says", "level", "explain", "new-thing"].map(byId);
const [live, freeze, change, region] = ["live", "freeze", "switch", "region"].map(byId);

export class Stage {
  constructor() {
    this.camera = new Camera(Number(stage.dataset.side));
    this.bars = new Bars((label) => this.teach(label));
    this.why = new Why();
    this.correction = new Correction(() => this.askAgain());
    this.number = 0; // of the newest question: a late answer to an older one is dropped
    this.now = null; // {file, asked, prediction} of what the bars show
    this.watching = false;
    this.waits = false; // for a name, then the camera goes on
    this.taught = false; // whether there is anything to compare with
    this.said = 0;
    this.askAgain = gathered(() => this.again(), 150);
    this.listen();
    this.rest();
  }

  listen() {
    live.addEventListener("click", () => (this.camera.stream ? this.stop() : trying(() => this.watch())));
    freeze.addEventListener("click", () => (this.watching ? this.freeze() : trying(() => this.watch())));
    change.addEventListener("click", () => trying(() => this.camera.change()));
    region.addEventListener("click", () => this.drawRegion());
    explain.addEventListener("click", () => this.explain());
    byId("why-close").addEventListener("click", () => this.why.close());
    byId("why").addEventListener("keydown", (event) => event.key === "Escape" && this.why.close());
    thing.addEventListener("submit", async (event) => {
      event.preventDefault();
      const input = byId("other");
      const label = await nameMeant(input.value, this.bars.labels);
      if (!label) input.focus();
      else if (await this.teach(label)) {
        input.value = "";
        if (this.waits) await trying(() => this.watch());
      }
    });
    // What is being named must not change meanwhile.
    byId("other").addEventListener("input", () => this.watching && (this.freeze(), (this.waits = true)));
    document.addEventListener("visibilitychange", () => this.watching && this.loop((this.number += 1)));
    addEventListener("pagehide", () => this.camera.stream && this.stop());
  }

  /** Nothing to see. */
  rest() {
    this.now = null;
    seeNothing(h("strong", {}, "Show something"), h("br"), "with the camera, or drop or paste a photo here");
    fill(says);
    fill(level, h("span", { class: "faint" }, "The answer appears here."));
    stage.classList.remove("unusual", "unknown");
    explain.hidden = thing.hidden = region.hidden = true;
    this.bars.clear();
    this.correction.hint("");
    this.why.close();
  }

  // The camera

  /** Answers follow each other until it is frozen or stopped. */
  async watch() {
    if (this.watching) return;
    if (!this.camera.stream) {
      await this.camera.open();
      change.hidden = (await this.camera.devices()).length < 2;
    }
    this.why.close();
    this.watching = true;
    this.waits = false;
    if (!this.now) this.hint();
    see(this.camera.video);
    this.camera.video.play();
    this.sources();
    this.loop((this.number += 1));
  }

  /** The next question goes out when the last was answered, so that they never pile up. */
  async loop(number) {
    while (number === this.number && document.visibilityState === "visible") {
      const started = performance.now();
      try {
        const file = await this.camera.frame();
        if (!this.taught) {
          this.unanswered(file);
          await wait(200);
          continue;
        }
        const found = await postForm("/api/predict", { file, all_classes: true, camera: true });
        if (number !== this.number) return;
        this.show(file, found);
      } catch (error) {
        if (number !== this.number) return;
        this.stop();
        complain(error, () => trying(() => this.watch()));
        return;
      }
      await wait(Math.max(0, BETWEEN - (performance.now() - started)));
    }
  }

  /** Keep the frame that the bars speak of. */
  freeze() {
    this.number += 1;
    this.watching = false;
    if (this.now) this.still(this.now.file, "The frozen frame of the camera");
    this.sources();
  }

  stop() {
    this.number += 1;
    this.watching = false;
    this.camera.close();
    this.rest();
    this.sources();
  }

  sources() {
    const on = Boolean(this.camera.stream);
    if (!on && [freeze, change].includes(document.activeElement)) live.focus();
    freeze.hidden = !on;
    if (!on) change.hidden = true;
    live.textContent = on ? "Camera off" : "Use the camera";
    live.classList.toggle("primary", !on);
    freeze.textContent = this.watching ? "Freeze" : "Go on";
    freeze.classList.toggle("primary", !this.watching);
  }

  // A photo

  /** @param {File} file */
  async ask(file) {
    const refused = tooLarge(file);
    if (refused) {
      tell(`${refused.file}: ${refused.error}`, refused.hint, { fault: true });
      return;
    }
    if (this.camera.stream) this.stop();
    const number = (this.number += 1);
    this.now = { file, asked: null, prediction: null }; // it can be taught before the answer comes
    this.hint();
    this.bars.renew();
    const image = this.still(file, "The photo that you asked about");
    if (!this.taught) {
      this.unanswered(file);
      return;
    }
    const found = await trying(
      () => postForm("/api/predict", { file, all_classes: true }),
      () => this.ask(file),
    );
    if (number !== this.number) return;
    if (!found) {
      this.rest();
      seeNothing(h("bdi", {}, file.name));
      return;
    }
    if (image.dataset.unseen) image.src = address(`/api/asked/${found.asked}/image`); // in a format that browsers show
    this.show(file, found);
    if (this.why.open) this.why.show({ asked: found.asked }, false);
  }

  /** A photo that this browser cannot show is shown when the server has answered. */
  still(file, alt) {
    const image = h("img", { alt });
    const source = URL.createObjectURL(file);
    image.addEventListener("load", () => URL.revokeObjectURL(source), { once: true });
    image.addEventListener("error", () => {
      if (image.dataset.unseen || !image.src.startsWith("blob:")) return;
      image.dataset.unseen = "true";
      if (this.now?.file === file && this.now.asked) image.src = address(`/api/asked/${this.now.asked}/image`);
    });
    image.src = source;
    const looks = this.looks;
    see(image);
    if (looks && this.now?.file === file) showLooks(looks);
    return image;
  }

  /** After a change the answer about a photo may be another; the camera asks anyway. */
  async again() {
    if (this.watching || !this.now) return;
    const { file, asked } = this.now;
    if (!this.taught) {
      this.unanswered(file);
      return;
    }
    const number = this.number;
    const found = await this.predictAgain(file, asked).catch(() => null);
    if (!found || number !== this.number) return;
    this.show(file, found);
    if (this.why.open) this.why.show({ asked: found.asked }, false);
  }

  async predictAgain(file, asked) {
    try {
      if (asked) return await postForm("/api/predict", { asked, all_classes: true });
    } catch (error) {
      if (error.status !== 404) throw error;
    }
    return postForm("/api/predict", { file, all_classes: true });
  }

  // The answer

  /** @param {string[]} labels Of all classes, also those that were only named. */
  know(labels) {
    this.bars.know(labels);
    if (this.now && !this.taught) this.unanswered(this.now.file);
  }

  /** While nothing is taught, what is seen can still be the first thing to be taught. */
  unanswered(file) {
    this.now = { file, asked: null, prediction: null };
    fill(says, "Nothing taught yet");
    fill(level, this.bars.labels.length ? (this.watching ? RECORD : PRESS) : "Teach this as the first class: type its name below.");
    stage.classList.remove("unusual", "unknown");
    if (this.bars.prediction) this.bars.clear(); // all that was taught is undone
    this.why.close();
    explain.hidden = true;
    thing.hidden = region.hidden = false;
  }

  show(file, { asked, prediction, probabilities, taught_as: taughtAs, looks }) {
    this.now = { file, asked, prediction };
    this.looks = looks;
    showLooks(looks);
    for (const kind of ["unusual", "unknown"]) stage.classList.toggle(kind, prediction.level === kind);
    showAnswer(says, level, prediction, this.watching ? [] : taughtAs);
    this.bars.show(probabilities, prediction);
    explain.hidden = thing.hidden = region.hidden = false;
    this.announce(prediction);
  }

  hint() {
    this.correction.hint(this.taught ? HINT : "");
  }

  /** Aloud at most every few seconds, and only what is new. */
  announce(prediction) {
    const words = spoken(prediction);
    const what = `${prediction.label} ${prediction.level}`;
    if (this.watching && (performance.now() - this.said < SPOKEN_EVERY || what === this.saidWhat)) return;
    this.said = performance.now();
    this.saidWhat = what;
    say(words);
  }

  /** What the bars speak of is taught. @returns {Promise<boolean>} */
  async teach(label) {
    if (!this.now) {
      tell("There is nothing to teach yet.", "Use the camera, or choose a photo.", { seconds: 8 });
      return false;
    }
    return this.correction.teach(this.now, label);
  }

  /** For photos with several things: each is taught by a region of its own. */
  async drawRegion() {
    if (!this.now) return;
    if (this.watching) this.freeze();
    const { file, asked } = this.now;
    const shown = stage.querySelector("img")?.dataset.unseen && asked;
    const blob = shown ? await (await fetch(address(`/api/asked/${asked}/image`))).blob() : file;
    await openViewer({ file, blob });
  }

  explain() {
    if (this.why.open) {
      this.why.close();
      return;
    }
    if (this.watching) this.freeze();
    if (this.now?.asked) this.why.show({ asked: this.now.asked });
  }
}

/** Teaching as work that can be watched and cancelled, and that asks where a picture is in another class already. */

import { postJson } from "./api.js";
import { choice } from "./dialogs.js";
import { byId, fill, h, quoted } from "./dom.js";
import { cutOff, unfinished, whileSending } from "./leaving.js";
import { say, trying } from "./notice.js";
import { pictures } from "./pictures.js";
import { newGroup, teachAll } from "./upload.js";
import { counted } from "./words.js";

const NAMED = 5;
const SHOWN = 8;
let last = Promise.resolve();

/**
 * One after the other, in the order they were given.
 * @param {string} label @param {(File | Blob)[]} files @param {string} [group]
 */
export function teach(label, files, group = newGroup()) {
  const job = new Job(label, files, group);
  const before = last;
  last = whileSending(() => before.then(() => job.run()));
  return last;
}

/** What a page that was left had not finished. */
export function showCutOff() {
  for (const { label, done, total } of cutOff()) {
    const close = () => element.remove();
    const element = h(
      "div",
      { class: "job fault" },
      h(
        "p",
        {},
        `The page was left while ${counted(total, "picture")} of `,
        quoted(label),
        ` were being sent: ${done ? `at least ${done.toLocaleString("en")} arrived` : "perhaps none arrived"}.`,
      ),
      h("p", {}, "Choose the same photos again to send the rest; those learned before are skipped."),
      h("p", { class: "row" }, h("button", { type: "button", onclick: close }, "Dismiss")),
    );
    byId("jobs").append(element);
    say(element.innerText);
  }
}

class Job {
  constructor(label, files, group) {
    Object.assign(this, { label, files, group });
    this.upload = { label, done: 0, total: files.length };
    unfinished.add(this.upload);
    this.stop = new AbortController();
    this.meter = h("progress", { max: files.length, value: 0, "aria-label": `Teaching ${label}` });
    this.words = h("p", {}, "Waiting: ", counted(files.length, "picture"), " of ", quoted(label));
    this.element = h(
      "div",
      { class: "job" },
      this.words,
      this.meter,
      h("button", { type: "button", onclick: ({ currentTarget }) => this.cancel(currentTarget) }, "Cancel"),
    );
    byId("jobs").append(this.element);
  }

  cancel(button) {
    this.stop.abort();
    fill(button, "Stopping …").disabled = true;
  }

  async run() {
    this.progress(0);
    this.element.scrollIntoView({ block: "nearest" });
    const sent = await teachAll(this.label, this.files, {
      group: this.group,
      signal: this.stop.signal,
      progress: (done) => this.progress(done),
    });
    if (sent.conflicts.length) await this.settle(sent);
    this.report(sent);
  }

  progress(done) {
    this.meter.value = this.upload.done = done;
    fill(
      this.words,
      `Teaching ${done.toLocaleString("en")} of ${counted(this.files.length, "picture")} of `,
      quoted(this.label),
      " …",
    );
  }

  /** The same image in another class: only the person knows which is right. */
  async settle(sent) {
    const known = sent.conflicts.flatMap(({ result }) => result.taught_as);
    const others = [...new Set(known.map((example) => example.label))].join(", ");
    const many = sent.conflicts.length > 1;
    const answer = await choice(
      many ? `${sent.conflicts.length} pictures are in another class already` : "This picture is in another class already",
      [
        h(
          "p",
          {},
          many ? "They were" : "It was",
          " taught as ",
          quoted(others),
          ". Now you say ",
          quoted(this.label),
          ".",
        ),
        pictures(
          known.slice(0, SHOWN).map((example) => example.id),
          others,
          { large: true, more: known.length - SHOWN },
        ),
      ],
      [
        [`Call ${many ? "them" : "it"} ${this.label}`, "relabel"],
        [many ? "Both classes are right" : "Both are right", "both", ""],
      ],
      `Leave ${many ? "them" : "it"} as ${others}`,
    );
    if (answer === "relabel") {
      const changed = await trying(() =>
        postJson("/api/examples/relabel", { ids: known.map((example) => example.id), label: this.label }),
      );
      sent.relabelled = changed?.changed ?? 0;
    } else if (answer === "both") {
      const again = await teachAll(
        this.label,
        sent.conflicts.map(({ file }) => file),
        { group: this.group, twoLabels: true },
      );
      sent.taught += again.taught;
      sent.unsent.push(...again.unsent);
      sent.error ??= again.error;
    } else sent.left = sent.conflicts.length;
  }

  report(sent) {
    const lines = [
      h(
        "p",
        {},
        h("strong", {}, `Learned ${counted(sent.taught, "picture")}`),
        " of ",
        quoted(this.label),
        sent.cancelled ? "; cancelled." : ".",
      ),
      sent.already.length > 0 &&
        h("p", {}, `${counted(sent.already.length, "picture")} taught before; not taught again.`),
      sent.relabelled && h("p", {}, `${counted(sent.relabelled, "picture")} moved here from another class.`),
      sent.left && h("p", {}, `${counted(sent.left, "picture")} left in another class.`),
      ...unreadable(sent.unreadable),
      sent.error && h("p", {}, sent.error.message, " ", sent.error.hint),
    ];
    const close = () => {
      unfinished.delete(this.upload);
      this.element.remove();
    };
    if (!sent.unsent.length || sent.cancelled) unfinished.delete(this.upload);
    const again = () => {
      close();
      teach(this.label, sent.unsent, this.group);
    };
    this.element.classList.toggle("fault", sent.unreadable.length > 0 || Boolean(sent.error));
    fill(
      this.element,
      lines,
      h(
        "p",
        { class: "row" },
        sent.unsent.length > 0 &&
          h(
            "button",
            { type: "button", onclick: again },
            sent.cancelled ? "Go on" : "Try again",
            ` (${counted(sent.unsent.length, "picture")})`,
          ),
        h("button", { type: "button", onclick: close }, "Dismiss"),
      ),
    );
    this.element.scrollIntoView({ block: "nearest" });
    say(this.element.innerText);
    if (!sent.unsent.length && !lines.slice(1).some(Boolean)) setTimeout(close, 6000);
  }
}

function unreadable(judged) {
  if (!judged.length) return [];
  const lines = judged.slice(0, NAMED).map(({ result }) => h("li", {}, h("bdi", {}, result.file), ": ", result.error));
  const more = judged.length - NAMED;
  return [
    h("p", {}, `${counted(judged.length, "file")} could not be learned:`),
    h("ul", {}, lines, more > 0 && h("li", {}, `and ${more} more`)),
    h("p", { class: "faint" }, judged[0].result.hint),
  ];
}

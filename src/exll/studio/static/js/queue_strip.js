/** What is seen of the queue, in the strip at the foot of every page: one progress, one cancel, one summary. */

import { sentence } from "./api.js";
import { showDialog } from "./dialogs.js";
import { byId, fill, h, quoted } from "./dom.js";
import { keepFocus, say } from "./notice.js";
import { cancel, dismiss, goOn, onQueue, tryNow } from "./queue.js";
import { askAbout } from "./queue_conflicts.js";
import { counted } from "./words.js";

const NAMED = 3;
const READABLE = 8000; // milliseconds that a summary without problems is shown

const strip = byId("queue");
const words = h("p");
const meter = h("progress", { "aria-label": "Photos sent" });
const button = (text, onclick, kind = "") => h("button", { type: "button", class: kind, onclick, hidden: true }, text);
const buttons = {
  tryNow: button("Try now", tryNow),
  cancel: button("Cancel", cancel),
  decide: button("Decide", () => askAbout(now.conflicts)),
  details: button("Details", () => explain(now.round.problems)),
  goOn: button("Continue", goOn),
  dismiss: button("×", dismiss, "close"),
};
buttons.dismiss.setAttribute("aria-label", "Dismiss");
let now = null;
let said = "";
let leaving = 0;

fill(strip, h("div", {}, words, meter), h("div", { class: "row" }, Object.values(buttons)));

onQueue((state) => {
  now = state;
  const { waiting, stopped, conflicts, round, trouble, stopping } = state;
  const learned = Object.values(round.learned).reduce((sum, count) => sum + count, 0);
  const { heldOut, before, moved, left, problems } = round;
  const told = learned + heldOut + before + moved + left + problems.length + stopped + conflicts.length;
  const busy = waiting > 0;
  keepFocus(strip, () => {
    strip.hidden = !busy && told === 0;
    meter.hidden = !busy || Boolean(trouble);
    Object.assign(meter, { max: Math.max(1, state.total), value: round.done });
    fill(words, busy ? working(state) : summary(state, learned));
    fill(buttons.goOn, `Continue (${stopped.toLocaleString("en")})`);
    fill(buttons.cancel, stopping ? "Stopping …" : "Cancel").setAttribute("aria-disabled", String(stopping));
    const shown = {
      tryNow: busy && trouble && !stopping,
      cancel: busy,
      decide: !busy && conflicts.length,
      details: !busy && problems.length,
      goOn: !busy && stopped,
      dismiss: !busy && !conflicts.length,
    };
    for (const [name, wanted] of Object.entries(shown)) buttons[name].hidden = !wanted;
  });
  strip.classList.toggle("fault", Boolean(trouble) || (!busy && problems.length > 0));
  const news = busy ? (trouble?.message ?? `${doing(round)} photos.`) : words.textContent;
  if (!strip.hidden && news !== said) say(news);
  said = news;
  clearTimeout(leaving);
  if (!strip.hidden && !busy && !problems.length && !stopped && !conflicts.length)
    leaving = setTimeout(dismiss, READABLE);
  if (!busy) askAbout(conflicts, true);
});

const doing = ({ holdingOut }) => (holdingOut ? "Holding out" : "Teaching");

function working({ waiting, total, round, trouble, staying }) {
  const rest = staying && " Keep this page open.";
  if (trouble) return [`${trouble.message} ${counted(waiting, "photo")} still to send; trying again by itself.`, rest];
  return [
    `${doing(round)} ${round.done.toLocaleString("en")} of ${counted(total, "photo")}`,
    round.label && [": ", h("bdi", {}, round.label)],
    rest,
  ];
}

function summary({ stopped, conflicts, round }, learned) {
  const labels = Object.keys(round.learned);
  const { problems, heldOut } = round;
  const held = `${counted(heldOut, "photo")} held out`;
  const onlyHeld = learned === 0 && (heldOut > 0 || round.holdingOut);
  const refused = onlyHeld && heldOut === 0;
  const learnedBefore = refused ? round.learnedBefore : 0;
  const before = round.before - learnedBefore;
  const names = problems.slice(0, NAMED).map(({ file }, i) => [i > 0 && ", ", h("bdi", {}, file)]);
  const undone = stopped > 0 && round.undone.length > 0;
  const rest = undone && [h("strong", {}, "Undone"), `; ${counted(stopped, "photo")} not taught.`];
  if (undone && learned + heldOut + before + problems.length + conflicts.length === 0) return rest;
  return [
    h("strong", {}, refused ? "No photo was held out" : onlyHeld ? held : `Learned ${counted(learned, "photo")}`),
    labels.length === 1 && [" of ", quoted(labels[0])],
    labels.length > 1 && ` of ${counted(labels.length, "class")}`,
    stopped > 0 && !undone ? "; cancelled." : learnedBefore > 0 ? useless(learnedBefore) : ".",
    problems.length > 0 && [` ${counted(problems.length, "file")} could not be used: `, names],
    problems.length > NAMED && ` and ${(problems.length - NAMED).toLocaleString("en")} more`,
    problems.length > 0 && ".",
    heldOut > 0 && !onlyHeld && ` ${held}.`,
    before > 0 && ` ${counted(before, "photo")} ${before === 1 ? "was there before and stays as it is" : "were there before and stay as they are"}.`,
    round.moved > 0 && ` ${counted(round.moved, "photo")} moved from another class.`,
    round.left > 0 && ` ${counted(round.left, "photo")} left in another class.`,
    conflicts.length > 0 && ` ${counted(conflicts.length, "photo")} in another class already.`,
    undone && [" ", ...rest],
  ];
}

/** Photos that cannot measure the model, because it has learned them. */
const useless = (count) =>
  `: ${count.toLocaleString("en")} ${count === 1 ? "is" : "are"} taught already. Use other photos, or hold out every fifth.`;

function explain(problems) {
  return showDialog(`${counted(problems.length, "file")} could not be used`, (close) => [
    h(
      "ul",
      { class: "problems" },
      problems.map(({ file, label, error, hint }) =>
        h("li", {}, h("strong", {}, h("bdi", {}, file)), " (", h("bdi", {}, label), `): ${sentence(error)} ${hint}`),
      ),
    ),
    h("p", { class: "row end" }, h("button", { type: "button", "data-first": true, onclick: () => close() }, "Close")),
  ]);
}

/** The Evaluation page: how often the model is right on held-out photos, class by class. */

import { get } from "./api.js";
import { showConfusion } from "./confusion.js";
import { changedSince, showCurve } from "./curve.js";
import { bar, byId, fill, gathered, h, nothingYet, quoted } from "./dom.js";
import { onAny } from "./events.js";
import { showHeldOut } from "./held_out.js";
import { showMeasured } from "./measured_photos.js";
import { trying } from "./notice.js";
import { counted, percent, simple } from "./words.js";

const FEW = 12; // classes that are shown without asking
const MANY = 0.02; // of the photos: so many near-duplicates change the accuracy
let found = null;
let all = false;

async function look() {
  if (document.querySelector("dialog[open]")) {
    lookSoon(); // when it closes, the focus goes back to where it was
    return;
  }
  if (!found) byId("result").textContent = "Measuring …";
  const answer = await trying(() => get("/api/evaluation"), look);
  if (!answer) {
    if (!found) byId("result").textContent = "";
    return;
  }
  found = answer;
  keepingFocus(show);
}

function show() {
  fill(byId("result"), result(found));
  for (const id of ["by-class", "confused", "curve"]) byId(id).hidden = found.examples === 0;
  showHeldOut(found);
  if (found.examples === 0) return;
  showClasses();
  showConfusion(found);
  showCurve();
}

/** What had the focus is drawn anew: the focus goes to what stands in its place. */
function keepingFocus(draw) {
  const part = document.activeElement?.closest("#result, #by-class, #confused");
  const parts = () => [...part.querySelectorAll("button, summary, input, td")];
  const place = part ? parts().indexOf(document.activeElement) : -1;
  draw();
  if (place >= 0 && !document.activeElement?.closest("main")) (parts()[place] ?? parts().at(-1) ?? byId("main")).focus();
}

function result(all) {
  if (all.examples === 0) return nothingMeasured(all);
  const [low, high] = all.interval;
  return [
    h(
      "div",
      { class: "panel figure" },
      h("p", { class: "large" }, percent(all.accuracy)),
      h(
        "div",
        {},
        h(
          "p",
          {},
          h("strong", {}, `The model is right on ${all.right.toLocaleString("en")} of ${counted(all.examples, "held-out photo")}.`),
        ),
        h(
          "p",
          {},
          `Of many more photos like these, probably between ${percent(low)} and ${percent(high)} would be right (95% confidence interval).`,
        ),
        notes(all).map((words) => h("p", { class: "faint" }, words)),
        all.near_duplicates > 0 && tooGood(all),
      ),
    ),
  ];
}

function nothingMeasured({ taught, never_taught: never }) {
  if (!taught && !never) return nothingYet("Nothing to measure yet.", "Teach two classes first");
  const words = never
    ? "None of the held-out photos is of a class that the model knows."
    : "No photos are held out yet, so there is nothing to measure with.";
  return h(
    "div",
    { class: "drop empty" },
    h("p", {}, h("strong", {}, words), h("br"), "Hold out some of your photos with the buttons below, or drop a folder of other photos anywhere on this page."),
    h("p", { class: "row" }, h("button", { type: "button", class: "primary", onclick: () => byId("pick-folder").click() }, "Choose a folder to measure with")),
  );
}

function notes({ unusual, unknown, never_taught: never, accuracy, best_guess: best, rebuilding, settling }) {
  return [
    unusual > 0 && `${counted(unusual, "answer")} said "maybe": ${unusual === 1 ? "it counts by the class it names" : "they count by the class they name"}.`,
    unknown > 0 && `${counted(unknown, "answer")} said "unknown": ${unknown === 1 ? "it counts" : "they count"} as wrong.`,
    never > 0 && `${counted(never, "more photo")} of classes that were never taught: not counted here.`,
    accuracy !== best &&
      `On the command line, exll evaluate gives ${percent(best)}: it counts the nearest class also where the answer is unknown${never ? ", and the classes that were never taught" : ""}.`,
    (rebuilding || settling) && "The model is still learning your last change: the figures may change in a moment.",
  ].filter(Boolean);
}

function tooGood({ examples, near_duplicates: near, without_near_duplicates: other }) {
  const one = near === 1;
  const words = `${near.toLocaleString("en")} of them ${one ? "is" : "are"} almost the same as a taught photo, as frames of one clip are. `;
  return h(
    "div",
    { class: near / examples > MANY ? "caution" : "" },
    h("p", {}, words, other.examples ? without(other, one) : "No other photos are held out, so this says little about new photos."),
    h(
      "p",
      {},
      h("button", { type: "button", onclick: () => showMeasured("Almost the same as a taught photo", { near_duplicates: true }) }, one ? "See it" : "See them"),
    ),
  );
}

const without = ({ accuracy, right, examples }, one) =>
  h("strong", {}, `Without ${one ? "it" : "them"}: ${percent(accuracy)} (${right.toLocaleString("en")} of ${examples.toLocaleString("en")}).`);

function showClasses() {
  const classes = found.classes.filter(({ taught }) => taught);
  const wanted = simple(byId("search").value);
  const matching = classes.filter(({ label }) => simple(label).includes(wanted));
  const shown = all || wanted ? matching : matching.slice(0, FEW);
  byId("find").hidden = classes.length <= FEW;
  byId("found").textContent = wanted ? `${matching.length} of ${classes.length} found` : "";
  fill(byId("by-class").querySelector("ul"), shown.map(classItem));
  const more = byId("all-classes");
  more.hidden = all || Boolean(wanted) || classes.length <= FEW;
  more.textContent = `Show all ${classes.length} classes`;
}

function classItem({ label, examples, right, accuracy, interval }) {
  const wrong = examples - right;
  const [low, high] = interval;
  return h(
    "li",
    {},
    h("p", { class: "name" }, h("bdi", {}, label)),
    bar(accuracy),
    h("p", { class: "share", title: `95% confidence interval: ${percent(low)} to ${percent(high)}` }, percent(accuracy)),
    h("p", { class: "of faint" }, `${right} of ${examples}`),
    wrong > 0
      ? h(
          "button",
          {
            type: "button",
            class: "quiet",
            "aria-label": `See ${wrong} wrong of ${label}`,
            onclick: () => showMeasured(["Wrong answers for ", quoted(label)], { truth: label, wrong: true }),
          },
          `See ${wrong} wrong`,
        )
      : h("span", { class: "faint all-right" }, "all right"),
  );
}

byId("search").addEventListener("input", showClasses);
byId("find").addEventListener("submit", (event) => event.preventDefault());
byId("all-classes").addEventListener("click", () => {
  all = true;
  const first = byId("by-class").querySelectorAll("li").length;
  showClasses();
  byId("by-class").querySelectorAll("li")[first]?.querySelector("button")?.focus();
});
const lookSoon = gathered(look, 1000);
onAny(["changed", "rebuilt", "anew", "settings"], lookSoon);
onAny(["changed", "rebuilt", "settings"], changedSince); // the last point is the accuracy above
look();

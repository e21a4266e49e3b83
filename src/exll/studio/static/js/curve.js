/** The learning curve, drawn here: how many held-out photos are named rightly after how many learned ones. */

import { get } from "./api.js";
import { byId, fill, h, svg } from "./dom.js";
import { on } from "./events.js";
import { trying } from "./notice.js";
import { counted, percent } from "./words.js";

const HEIGHT = 260;
const CLEAR = 0.04; // half of an interval: enough photos to tell a gain from chance
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 16, 16, 44];
const buttons = [...document.querySelectorAll("[data-order]")];
let order = "in turn";
let shown = null; // the answer that is drawn
let outdated = false;
let asked = 0;
let stop = new AbortController();
const place = () => byId("drawn");

/** For the first time; afterwards only where it is asked for, because it takes seconds. */
export function showCurve() {
  if (!asked) load();
  else if (outdated) offer();
}

export function changedSince() {
  outdated = true;
}

/** The model has changed: the drawing stays until somebody wants another. */
function offer() {
  if (place().querySelector(".again") || !shown) return;
  place().querySelector(".now")?.remove();
  place().prepend(
    h(
      "p",
      { class: "again row" },
      "Something has changed since this curve was drawn. ",
      h("button", { type: "button", onclick: load }, "Draw it again"),
    ),
  );
}

async function load() {
  const number = (asked += 1);
  stop.abort(); // the server need not go on with the other order
  stop = new AbortController();
  const again = place().contains(document.activeElement);
  outdated = false;
  shown = null;
  fill(
    place(),
    h("p", { role: "status" }, "Learning the photos again …"),
    h("progress", { "aria-label": "Learning curve" }),
  );
  const answer = await trying(() => get(`/api/evaluation/curve?order=${encodeURIComponent(order)}`, stop.signal), load);
  if (number !== asked) return; // another order was asked for meanwhile
  if (!answer) {
    fill(place(), h("button", { type: "button", onclick: load }, "Draw the learning curve"));
    return;
  }
  shown = answer;
  draw();
  if (outdated) offer();
  if (again) buttons.find((one) => one.dataset.order === order).focus();
}

function draw() {
  const { points, every, asked_every: some } = shown;
  const last = points.at(-1);
  const words = `After ${counted(points[0].learned, "photo")} of ${counted(points[0].classes, "class")}, ${percent(points[0].accuracy)} of the held-out photos are right; after ${counted(last.learned, "photo")} of ${counted(last.classes, "class")}, ${percent(last.accuracy)}.`;
  fill(
    place(),
    h("div", { class: "plot" }, drawing(points, words)),
    h("p", {}, words, " ", slope(points)),
    (every > 1 || some > 1) &&
      h(
        "p",
        { class: "faint" },
        `There are many photos, so ${order === "taught" ? "up to the last point " : ""}${share(every, "taught photo")} was learned, and ${share(some, "held-out photo")} was asked about.`,
      ),
    h(
      "p",
      { class: "faint" },
      order === "taught" && h("span", { class: "now" }, "The last point is the model as it is now, with the accuracy above. "),
      `The band is the 95% confidence interval. Classes that are not known yet count as wrong.`,
    ),
    table(points),
  );
}

const share = (every, what) => (every === 1 ? `every ${what}` : `one ${what} in ${every}`);

/** What about half of the photos brought; with few held-out photos that says nothing. */
function slope(points) {
  const last = points.at(-1);
  const half = points.findLast(({ learned }) => learned <= last.learned / 1.8);
  if (!half || order !== "in turn") return "";
  const gain = last.accuracy - half.accuracy;
  const unsure = (last.interval[1] - last.interval[0]) / 2;
  const what = gain === 0 ? "the accuracy stayed the same" : `it ${gain < 0 ? "lost" : "gained"} ${Math.abs(100 * gain).toFixed(1)} points`;
  const since = `From ${half.learned.toLocaleString("en")} to ${counted(last.learned, "photo")} ${what}`;
  if (gain > unsure) return `${since}: more photos will probably help.`;
  if (unsure > CLEAR) return `${since}: there are too few held-out photos to tell whether more would help.`;
  return `${since}: more photos like these will help little; photos from new places may.`;
}

function drawing(points, words) {
  const width = Math.max(280, Math.min(860, place().clientWidth));
  const logs = points.map(({ learned }) => Math.log(learned));
  const span = logs.at(-1) - logs[0] || 1;
  const x = (i) => LEFT + ((width - LEFT - RIGHT) * (logs[i] - logs[0])) / span;
  const y = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const line = points.map(({ accuracy }, i) => `${x(i)},${y(accuracy)}`).join(" ");
  const upper = points.map(({ interval }, i) => `${x(i)},${y(interval[1])}`);
  const lower = points.map(({ interval }, i) => `${x(i)},${y(interval[0])}`).reverse();
  const every = Math.ceil((points.length * 56) / (width - LEFT - RIGHT)); // labels that do not touch
  return svg(
    "svg",
    { class: "curve", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": `Learning curve. ${words}` },
    [0, 0.25, 0.5, 0.75, 1].map((share) => [
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share) }),
      svg("text", { x: LEFT - 8, y: y(share) + 5, "text-anchor": "end" }, `${100 * share}%`),
    ]),
    svg("polygon", { class: "band", points: [...upper, ...lower].join(" ") }),
    svg("polyline", { class: "line", points: line }),
    points.map(({ accuracy, learned }, i) => [
      svg("circle", { class: "point", cx: x(i), cy: y(accuracy), r: 4 }),
      (points.length - 1 - i) % every === 0 &&
        svg("text", { x: x(i), y: HEIGHT - BOTTOM + 20, "text-anchor": i === points.length - 1 ? "end" : "middle" }, learned.toLocaleString("en")),
    ]),
    svg("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "photos learned"),
  );
}

function table(points) {
  const head = ["photos learned", "classes known", "right", "accuracy", "95% interval"];
  return h(
    "details",
    {},
    h("summary", {}, "As a table"),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": "Learning curve as a table" },
      h(
        "table",
        { class: "numbers" },
        h("thead", {}, h("tr", {}, head.map((words) => h("th", { scope: "col" }, words)))),
        h(
          "tbody",
          {},
          points.map(({ learned, classes, right, accuracy, interval }) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, learned.toLocaleString("en")),
              [classes, right, percent(accuracy), interval.map(percent).join(" to ")].map((value) => h("td", {}, value)),
            ),
          ),
        ),
      ),
    ),
  );
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    order = button.dataset.order;
    for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
    load();
  });
}

on("evaluation", ({ order: of, learned, examples }) => {
  const meter = place().querySelector("progress");
  if (!meter || of !== order) return;
  Object.assign(meter, { max: examples, value: learned });
});

let drawnWidth = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (Math.abs(contentRect.width - drawnWidth) < 8) return;
  drawnWidth = contentRect.width;
  const plot = place().querySelector(".plot");
  if (shown && plot) fill(plot, drawing(shown.points, plot.firstElementChild.getAttribute("aria-label").replace("Learning curve. ", "")));
}).observe(byId("drawn"));

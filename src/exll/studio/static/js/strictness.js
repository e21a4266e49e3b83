/** How strict answers are: a setting of the project. */

import { get, postJson } from "./api.js";
import { byId } from "./dom.js";
import { on } from "./events.js";
import { trying } from "./notice.js";

/** Shares of known things that may be called unusual, from lenient to strict; the default is in the middle. */
const SHARES = [0.005, 0.01, 0.02, 0.06, 0.1, 0.2, 0.3];

const [slider, words] = ["strictness", "strict-words"].map(byId);

function show(share) {
  const distance = (place) => Math.abs(Math.log(SHARES[place] / share));
  slider.value = String([...SHARES.keys()].reduce((best, place) => (distance(place) < distance(best) ? place : best)));
  say(share);
}

function say(share) {
  const sentence = `Of 1,000 photos like those you taught, about ${Math.round(1000 * share)} are called unusual.`;
  words.textContent = sentence;
  slider.setAttribute("aria-valuetext", sentence);
}

async function look() {
  const project = await trying(() => get("/api/project"));
  if (!project) return;
  show(project.false_alarms);
  slider.disabled = !project.says_unknown;
  if (slider.disabled) words.textContent = `The preset ${project.preset} calls nothing unusual.`;
}

slider.addEventListener("input", () => say(SHARES[Number(slider.value)]));
slider.addEventListener("change", async () => {
  const chosen = { false_alarms: SHARES[Number(slider.value)] };
  if (!(await trying(() => postJson("/api/project/settings", chosen)))) look();
});
byId("strict").addEventListener("submit", (event) => event.preventDefault());
on("settings", ({ false_alarms: share }) => show(share));
on("anew", look);
look();

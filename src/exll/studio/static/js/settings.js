/** The settings of a project, on the Project page. */

import { get, postJson } from "./api.js";
import { choice } from "./dialogs.js";
import { byId, fill, gathered, h } from "./dom.js";
import { on, onAny } from "./events.js";
import { say, tell, trying } from "./notice.js";
import "./strictness.js";
import { counted } from "./words.js";

const MOST_THUMBNAILS = 8;
const [network, preset, thumbnails, inbox] = ["network", "preset", "thumbnails", "inbox-switch"].map(byId);
const changes = { network: byId("change-network"), preset: byId("change-preset") };
let current = null;

const options = (names) => names.map((name) => h("option", { value: name }, name));
fill(thumbnails, options([...Array(MOST_THUMBNAILS + 1).keys()].map(String)));

function show(settings) {
  const before = current;
  current = settings;
  const here = settings.networks.filter((known) => !known.to_add);
  if (!here.some(({ name }) => name === settings.network)) here.unshift({ name: settings.network, description: "" });
  fill(
    network,
    here.map(({ name, description }) => h("option", { value: name }, description ? `${name}: ${description}` : name)),
  );
  fill(preset, options(settings.presets.map(({ name }) => name)));
  network.value = settings.network;
  preset.value = settings.preset;
  const more = settings.networks.filter((known) => known.to_add);
  byId("more-networks").hidden = !more.length;
  fill(
    byId("more-networks").querySelector("ul"),
    more.map(({ name, description, to_add: command }) =>
      h("li", {}, h("strong", {}, name), ` ${description}. To add it: `, h("code", {}, command)),
    ),
  );
  showQuick(settings);
  if (settings.reading) showReading(settings.reading);
  else {
    endReading();
    if (before?.reading?.running) tell(`The network is now ${settings.network}.`);
  }
  offerChanges();
}

function showQuick({ thumbnails: count, inbox: kept }) {
  thumbnails.value = String(count);
  inbox.checked = kept;
}

function offerChanges() {
  const running = current?.reading?.running ?? false;
  network.disabled = running;
  changes.network.hidden = running || network.value === current?.network;
  changes.preset.hidden = preset.value === current?.preset;
  byId("preset-about").textContent = current?.presets.find(({ name }) => name === preset.value)?.description ?? "";
}

function showReading(reading) {
  current.reading = reading;
  const place = byId("reading");
  const words = `Reading photos with ${reading.network}: ${reading.done} of ${counted(reading.photos, "photo")}`;
  if (reading.running && place.querySelector("progress")) {
    place.querySelector("p").textContent = words;
    Object.assign(place.querySelector("progress"), { max: reading.photos || 1, value: reading.done });
  } else if (reading.running) {
    fill(
      place,
      h("p", { role: "status" }, words),
      h("progress", { max: reading.photos || 1, value: reading.done, "aria-label": "Reading photos again" }),
      h("p", {}, h("button", { type: "button", id: "cancel-network", onclick: cancel }, "Cancel")),
    );
  } else endReading(reading.error && h("p", { role: "alert" }, reading.error));
  offerChanges();
}

/** A button that goes takes the focus along. */
function endReading(words = null) {
  const place = byId("reading");
  if (place.contains(document.activeElement)) {
    network.disabled = false;
    network.focus();
  }
  fill(place, words);
}

async function look() {
  const settings = await trying(() => get("/api/project/settings"), look);
  if (settings) show(settings);
}

async function cancel() {
  const settings = await trying(() => postJson("/api/project/network/cancel"));
  if (!settings) return;
  say("Cancelled. The old network is still in use.");
  network.disabled = false;
  network.focus();
}

async function agreed(title, words, yes) {
  return (await choice(title, [h("p", {}, words)], [[yes, true]])) === true;
}

changes.network.addEventListener("click", async () => {
  const wanted = network.value;
  const words =
    "All photos are read again in the background. You can go on working, and you can cancel it. What was taught stays as it is.";
  if (!(await agreed(`Change the network to ${wanted}?`, words, "Change the network"))) return;
  const settings = await trying(() => postJson("/api/project/network", { network: wanted }));
  if (settings) show(settings);
  (byId("cancel-network") ?? network).focus();
});

changes.preset.addEventListener("click", async () => {
  const wanted = preset.value;
  const words = "All photos are learned again. Until that is done, nobody can teach or ask. What was taught stays as it is.";
  if (!(await agreed(`Change the preset to ${wanted}?`, words, "Change the preset"))) return;
  preset.focus();
  if (await trying(() => postJson("/api/project/preset", { preset: wanted })))
    tell(`The preset is now ${wanted}.`);
  look();
});

network.addEventListener("change", offerChanges);
preset.addEventListener("change", offerChanges);
thumbnails.addEventListener("change", () => set({ thumbnails: Number(thumbnails.value) }));
inbox.addEventListener("change", () => set({ inbox: inbox.checked }));

async function set(wanted) {
  if (!(await trying(() => postJson("/api/project/settings", wanted)))) look();
}

on("settings", showQuick);
on("reading", (reading) => {
  if (current) showReading(reading);
});
onAny(["anew"], gathered(look, 300));
look();

/** The History page: named versions to return to, and every step, the newest first. */

import { get, postJson } from "./api.js";
import { choice, confirmed } from "./dialogs.js";
import { byId, fill, gathered, h } from "./dom.js";
import { onAny } from "./events.js";
import { say, trying } from "./notice.js";
import { whose } from "./shell.js";
import { tellStep } from "./undo.js";
import { counted, localTime, photosOf } from "./words.js";

const PAGE = 60;
const MOST = 500; // steps that are shown
let shown = PAGE;

const when = (seconds) => h("time", { datetime: new Date(1000 * seconds).toISOString() }, localTime(seconds));

async function look() {
  const found = await trying(() => Promise.all([get("/api/versions"), get(`/api/history?limit=${shown}`)]), look);
  if (!found) return;
  const [{ versions }, { steps, next }] = found;
  const at = document.activeElement?.dataset.key;
  fill(
    byId("versions"),
    versions.length
      ? versions.map(versionItem)
      : h("li", { class: "faint" }, "No version yet. Save one before you try something."),
  );
  fill(
    byId("steps"),
    steps.length ? steps.map(stepItem) : h("li", { class: "faint" }, "Nothing was done yet."),
  );
  byId("more").hidden = next === null || shown === MOST;
  if (at && !document.activeElement?.dataset.key)
    (document.querySelector(`[data-key="${CSS.escape(at)}"]`) ?? byId("versions-title")).focus();
}

function versionItem(version) {
  const { id, name, made_at: at } = version;
  const action = (words, run, kind = "") =>
    h(
      "button",
      { type: "button", class: kind, "data-key": `${words} ${id}`, "aria-label": `${words}: ${name}`, onclick: run },
      words,
    );
  return h(
    "li",
    { class: "card version" },
    h(
      "div",
      {},
      h("h3", {}, h("bdi", {}, name)),
      h("p", { class: "faint" }, `${holdings(version)}; `, when(at)),
    ),
    h(
      "p",
      { class: "row" },
      action("Return to it", () => restore(version)),
      action("Remove", () => remove(version), "quiet"),
    ),
  );
}

function stepItem(step) {
  return h(
    "li",
    { class: step.undone ? "step undone" : "step" },
    h("span", {}, step.undone && [h("span", { class: "badge" }, "undone"), " "], h("bdi", {}, step.sentence)),
    h("span", { class: "faint" }, when(step.made_at), whose(step)),
  );
}

const holdings = (version) => `${counted(version.classes, "class")}, ${photosOf(version)}`;

async function restore(version) {
  const { id, name } = version;
  const sure = await choice(
    `Return to the version "${name}"?`,
    h("p", {}, `All photos become what they were then: ${holdings(version)}. You can undo this.`),
    [["Return to it", true]],
  );
  const done = sure && (await trying(() => postJson(`/api/versions/${id}/restore`)));
  if (!done) return;
  const words = done.changed ? `${counted(done.changed, "photo")} changed.` : "Nothing had changed since then.";
  tellStep(`Returned to "${name}". ${words}`, done.step);
}

async function remove({ id, name }) {
  const sure = await confirmed(
    `Remove the version "${name}"?`,
    "Only its name is removed from this list. The photos stay as they are. This cannot be undone.",
    "Remove it",
  );
  if (sure) await trying(() => postJson(`/api/versions/${id}/delete`));
}

byId("save-version").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = byId("version-name");
  const name = input.value.trim();
  if (!name) {
    input.focus();
    return;
  }
  const saved = await trying(() => postJson("/api/versions", { name }));
  if (!saved) return;
  input.value = "";
  say(`Saved the version "${saved.name}".`);
});
byId("more").addEventListener("click", () => {
  shown = Math.min(MOST, shown + PAGE);
  look();
});
onAny(["changed", "versions", "rebuilt", "anew"], gathered(look, 200));
look();

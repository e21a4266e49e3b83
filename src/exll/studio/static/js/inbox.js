/** The Inbox page: what waits to be named, what the model knows by now, and what was marked as none of the classes. */

import { get, postJson } from "./api.js";
import { askLabel, confirmed } from "./dialogs.js";
import { byId, fill, gathered, h } from "./dom.js";
import { onAny } from "./events.js";
import { InboxCard } from "./inbox_card.js";
import { Tiles } from "./inbox_tiles.js";
import { tell, trying } from "./notice.js";
import { showWaiting } from "./shell.js";
import { tellStep } from "./undo.js";
import { bytes, counted } from "./words.js";

let cards = [];
let labels = [];

async function look() {
  const found = await trying(() => Promise.all([get("/api/inbox"), get("/api/classes")]), look);
  if (!found) return;
  const [inbox, { classes }] = found;
  labels = classes.map(({ label }) => label);
  const before = document.activeElement;
  const place = cards.findIndex((card) => card.element.contains(before));
  showKeeping(inbox);
  showGroups(inbox.groups);
  showKnown(inbox.known);
  showNothing(inbox.nothing, inbox.nothing_count);
  fill(byId("summary"), h("p", {}, summary(inbox)));
  showWaiting(inbox.waiting - inbox.known.length); // what changed may have made some of them known
  if (before && !before.isConnected) (cards[Math.min(place, cards.length - 1)]?.title ?? byId("main")).focus();
}

function summary({ waiting, groups, known, keep }) {
  if (!waiting) return keep ? "No photos are waiting. Photos come here when the model finds them unusual or unknown." : "No photos are waiting.";
  const unnamed = waiting - known.length;
  if (!unnamed) return "None of the waiting photos would teach the model something new.";
  const first = groups.length > 1 ? " The first would teach the model most." : "";
  const rest = known.length ? ` ${counted(known.length, "more photo")} would teach nothing new.` : "";
  return `${counted(unnamed, "photo")} to name, in ${counted(groups.length, "group")}.${first}${rest}`;
}

function showKeeping({ keep, waiting, bytes: stored, most, most_bytes: mostBytes }) {
  byId("keep").closest(".keeping").hidden = false;
  byId("keep").checked = keep;
  byId("stored").textContent =
    `${counted(waiting, "photo")} stored of at most ${most}, ${bytes(stored)} of at most ${bytes(mostBytes)}; the oldest go first. ` +
    "They are in the folder of this project and are sent nowhere else.";
}

/** A photo stays in its card for as long as the page is open, and cards stay where they are: nothing moves under the
 * hand. */
function showGroups(groups) {
  const homes = new Map(groups.map((group) => [group, homeOf(group)]));
  const settled = (id) => cards.find((card) => card.tiles.has(id));
  const shown = new Map(cards.map((card) => [card, []]));
  for (const [group, home] of homes) {
    let own = home;
    for (const photo of group.photos) {
      const card = settled(photo.id) ?? (own ??= newCard());
      if (!shown.has(card)) shown.set(card, []);
      shown.get(card).push([photo, group]);
    }
  }
  for (const [card, content] of shown) {
    if (content.length === 0) {
      card.element.remove();
      continue;
    }
    card.tiles.show(content.map(([photo]) => photo));
    card.update(mostCommon(content.map(([, group]) => group)), labels);
  }
  cards = cards.filter((card) => card.element.isConnected);
}

const homeOf = (group) => cards.find((card) => group.photos.some(({ id }) => card.tiles.has(id)));

function newCard() {
  const card = new InboxCard(look);
  byId("groups").append(card.element);
  cards.push(card);
  return card;
}

function mostCommon(groups) {
  const count = (one) => groups.filter((group) => group === one).length;
  return groups.reduce((best, group) => (count(group) > count(best) ? group : best));
}

/** Photos with a tick each, and what can be done with those that have one. */
class Shelf {
  /** @param {string} id @param {boolean} ticked @param {string} words @param {[string, (ids: number[]) => any, string?][]} actions */
  constructor(id, ticked, words, actions) {
    this.section = byId(id);
    this.tiles = new Tiles(ticked, () => {});
    fill(
      this.section.querySelector(".content"),
      h("p", { class: "faint" }, words),
      this.tiles.element,
      h(
        "div",
        { class: "row" },
        actions.map(([title, run, kind = ""]) =>
          h("button", { type: "button", class: kind, onclick: () => this.run(run) }, title),
        ),
      ),
    );
  }

  show(photos, caption) {
    this.tiles.show(photos, caption);
    this.section.hidden = photos.length === 0;
  }

  async run(act) {
    const ids = this.tiles.chosen;
    if (!ids.length) {
      tell("No photo is selected.", "Tick at least one photo.");
      return;
    }
    if (!(await act(ids))) return;
    await look();
    (this.section.hidden ? byId("main") : this.section.querySelector("h2")).focus();
  }
}

const known = new Shelf(
  "known",
  true,
  "They would teach nothing new: the model is confident of their class by now, or knows that they are none of yours. Look, then dismiss them.",
  [
    ["Dismiss", dismiss],
    ["They are something else …", (ids) => named(ids, "/api/inbox/teach", "taught")],
  ],
);
const nothing = new Shelf(
  "nothing",
  false,
  "You said that these photos are none of your classes. What looks more like one of them than like a class is unknown.",
  [
    [
      "Take back",
      (ids) => told(postJson("/api/examples/delete", { ids }), ({ changed }) => `${counted(changed, "photo")} taken back.`),
    ],
    ["Name them …", (ids) => named(ids, "/api/examples/relabel", "changed")],
  ],
);

function showKnown(photos) {
  known.show(photos, ({ is_nothing: isNothing, prediction }) => (isNothing ? "Not one of mine" : h("bdi", {}, prediction.label)));
}

function showNothing(examples, count) {
  nothing.show(examples);
  byId("nothing-title").textContent = `Not one of mine (${count.toLocaleString("en")})`;
}

async function dismiss(ids) {
  const what = counted(ids.length, "photo");
  const sure = await confirmed("Dismiss?", `${what} will be removed from this project. This cannot be undone.`, `Dismiss ${what}`);
  return sure && told(postJson("/api/inbox/dismiss", { ids }), ({ dismissed }) => `${counted(dismissed, "photo")} dismissed.`);
}

async function named(ids, path, field) {
  const label = await askLabel(ids.length === 1 ? "What is it?" : "What are they?", labels);
  if (!label) return false;
  return told(postJson(path, { ids, label }), (answer) => `${counted(answer[field], "photo")} taught as "${label}".`);
}

async function told(asked, words) {
  const answer = await trying(() => asked);
  if (!answer) return false;
  tellStep(words(answer), answer.step ?? null);
  return true;
}

byId("keep").addEventListener("change", async ({ target }) => {
  await trying(() => postJson("/api/project/settings", { inbox: target.checked }));
  await look();
});

onAny(["inbox", "changed", "settings", "rebuilt", "anew"], gathered(look, 400));
look();

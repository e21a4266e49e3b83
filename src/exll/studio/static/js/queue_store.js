/** What waits to be taught, what became of it, and what is still to be decided: all changes of the queue. */

import { BATCH_FILES, firstBatch, newGroup } from "./sending.js";

const SAME = ["label", "group", "clip", "holdOutEvery", "heldOut", "twoLabels"]; // in one request
const COUNTS = ["done", "heldOut", "before", "learnedBefore", "moved", "left"]; // "before" has those learned before, too
const nothing = () => ({ ...Object.fromEntries(COUNTS.map((name) => [name, 0])), learned: {}, problems: [], holdingOut: false });
const countsOf = (round) => structuredClone(Object.fromEntries([...COUNTS, "learned"].map((name) => [name, round[name]])));

/**
 * What is told of the files since the last summary: counts, and `problems` that stay until they are dismissed or other
 * files come. `holdingOut` says that the files are not learned, and `group` is that of the files that came last. `start`
 * has the counts from before the first file of a group. `undone` are groups whose step was undone before all their files
 * were sent, and `renamed` says as which groups such files are sent after all. Keys up to `stopped` were cancelled or
 * undone, those up to `dropped` are not wanted any more. `tried` are keys that were sent and not answered for, and
 * `sending` says that a batch is under way.
 */
const newRound = () => ({
  key: "round",
  ...nothing(),
  group: "",
  start: null,
  undone: [],
  renamed: {},
  stopped: 0,
  dropped: 0,
  tried: [],
  sending: false,
  label: "",
});

/** @typedef {{label: string, group: string, clip: string | null, holdOutEvery: number, heldOut: boolean, twoLabels: boolean, file: File, size: number}} Entry */

export class QueueStore {
  /** @param {(work: (tables: any) => Promise<any>) => Promise<any>} within All tables at once: whole or not at all. */
  constructor(within) {
    this.within = within;
  }

  change(work) {
    return this.within(async (tables) => {
      const round = { ...newRound(), ...(await tables.notes.get("round")) };
      const answer = await work(round, tables);
      await tables.notes.put(round);
      return answer;
    });
  }

  /** After all was done, counting begins anew; files of one group are counted together. @param {Entry[]} entries */
  add(group, entries, problems = []) {
    return this.change(async (round, { waiting, conflicts }) => {
      const done = !round.sending && !(await waiting.count(round.stopped)) && !(await conflicts.count(0));
      if (done && group !== round.group) Object.assign(round, nothing());
      round.group = group;
      for (const entry of entries) await waiting.put(entry);
      round.problems.push(...problems);
      round.done += problems.length;
    });
  }

  /** How many wait and how many were cancelled; whether the batch under way is the last one after a cancel; photos that
   * are in another class already; and the round. */
  read() {
    return this.within(async ({ waiting, conflicts, notes }) => {
      const round = { ...newRound(), ...(await notes.get("round")) };
      const [all, open] = [await waiting.count(round.dropped), await waiting.count(round.stopped)];
      const last = round.sending ? round.tried.filter((key) => key <= round.stopped).length : 0;
      const undecided = (await conflicts.all(0)).map(({ key, label, taughtAs }) => ({ key, label, taughtAs }));
      const ending = open === 0 && last > 0;
      return { waiting: open + last, ending, stopped: all - open - last, conflicts: undecided, round };
    });
  }

  /** The entries of the next request. Those that were `tried` may have arrived before. */
  next() {
    return this.change(async (round, { waiting }) => {
      const found = await waiting.all(round.stopped, BATCH_FILES);
      const other = found.findIndex((entry) => SAME.some((name) => entry[name] !== found[0][name]));
      const same = other < 0 ? found : found.slice(0, other);
      const batch = same
        .slice(0, firstBatch(same))
        .map((one) => ({
          ...one,
          tried: round.tried.includes(one.key),
          taughtFor: one.group,
          group: round.renamed[one.group] ?? one.group,
        }));
      round.tried.push(...batch.filter(({ tried }) => !tried).map(({ key }) => key));
      round.sending = batch.length > 0;
      round.label = batch[0]?.label ?? "";
      if (batch.length) round.holdingOut = batch[0].heldOut;
      return batch;
    });
  }

  /** What the server said of each file. What may have arrived before and is there now was learned by this queue. */
  answered(batch, results) {
    return this.change(async (round, { waiting, conflicts }) => {
      const group = batch[0].taughtFor;
      if (round.start?.group !== group) round.start = { group, counts: countsOf(round) };
      for (const [i, { tried, taughtFor, ...entry }] of batch.entries()) {
        const { status, example, taught_as: taughtAs, error, hint } = results[i];
        const { label } = entry;
        await waiting.delete(entry.key);
        round.done += 1;
        const { role } = example ?? taughtAs?.find((one) => one.label === label) ?? {};
        if (status === "taught" || (status === "already" && tried)) {
          if (role === "held out") round.heldOut += 1;
          else round.learned[label] = (round.learned[label] ?? 0) + 1;
        } else if (status === "already") {
          round.before += 1;
          if (role === "taught") round.learnedBefore += 1;
        } else if (status === "conflict")
          await conflicts.put({ ...entry, taughtAs: taughtAs.map(({ id, label: name }) => ({ id, label: name })) });
        else round.problems.push({ file: entry.file.name, label, error, hint });
      }
      const answered = new Set(batch.map(({ key }) => key));
      round.tried = round.tried.filter((key) => !answered.has(key));
      round.sending = false;
    });
  }

  /** No answer came; the files may have arrived or not. */
  unanswered() {
    return this.change(async (round) => {
      round.sending = false;
    });
  }

  /** The step of a group was undone while its files were sent. What is left of them can be taught as another step. */
  undone(group) {
    return this.change(async (round, { waiting }) => {
      if (round.start?.group === group) Object.assign(round, round.start.counts);
      if (!round.undone.includes(group)) round.undone.push(group);
      Object.assign(round, { sending: false, tried: [] });
      for (;;) {
        const [next] = await waiting.all(round.stopped, 1);
        if (next?.group !== group) return; // those of one group follow one another
        round.stopped = next.key;
      }
    });
  }

  /** Send no more after the batch under way. */
  stop() {
    return this.change(async (round, { waiting }) => {
      round.stopped = await waiting.last();
    });
  }

  resume() {
    return this.change(async (round) => {
      for (const group of round.undone) round.renamed[group] = newGroup();
      Object.assign(round, { stopped: round.dropped, undone: [] });
    });
  }

  /** @param {"left" | "moved" | "both"} decision @param {number[]} keys Of photos that are in another class already. */
  decide(decision, keys) {
    return this.change(async (round, { waiting, conflicts }) => {
      for (const { key, taughtAs, ...entry } of await conflicts.all(0)) {
        if (!keys.includes(key)) continue;
        await conflicts.delete(key);
        if (decision !== "both") round[decision] += 1;
        else {
          await waiting.put({ ...entry, twoLabels: true });
          round.done -= 1;
        }
      }
    });
  }

  /** The summary was read. */
  dismiss() {
    return this.change(async (round, { waiting, conflicts }) => {
      Object.assign(round, { problems: [], dropped: round.stopped, undone: [] });
      if (!(await waiting.count(round.stopped)) && !(await conflicts.count(0))) Object.assign(round, nothing());
    });
  }

  /** Removing thousands of photos takes a browser seconds: a few at a time, so that nobody has to wait for it. */
  async tidy() {
    while (await this.change((round, { waiting }) => waiting.deleteSome(round.dropped, BATCH_FILES)));
  }

  /** Where there are no locks: true if it is nobody else's turn; then it is ours until that time. */
  lease(holder, until) {
    return this.within(async ({ notes }) => {
      const held = await notes.get("lease");
      if (held && held.holder !== holder && held.until > Date.now()) return false;
      await notes.put({ key: "lease", holder, until });
      return true;
    });
  }
}

/** What several stores hold, as if it were one. */
export function together(states) {
  const all = { waiting: 0, ending: false, stopped: 0, conflicts: [], round: newRound() };
  for (const [store, { waiting, ending, stopped, conflicts, round }] of states.entries()) {
    all.ending ||= ending;
    all.waiting += waiting;
    all.stopped += stopped;
    all.conflicts.push(...conflicts.map((one) => ({ ...one, store })));
    all.round.problems.push(...round.problems);
    all.round.label ||= round.label;
    all.round.holdingOut ||= round.holdingOut;
    all.round.sending ||= round.sending;
    all.round.undone.push(...round.undone);
    for (const name of COUNTS) all.round[name] += round[name];
    for (const [label, count] of Object.entries(round.learned))
      all.round.learned[label] = (all.round.learned[label] ?? 0) + count;
  }
  return all;
}

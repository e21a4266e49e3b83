/** The tables of the queue: in the browser's database, where every page of this project finds them, or in this page. */

const KEYS = {
  waiting: { keyPath: "key", autoIncrement: true },
  conflicts: { keyPath: "key" },
  notes: { keyPath: "key" },
};

const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const tablesOf = (make) => Object.fromEntries(Object.keys(KEYS).map((name) => [name, make(name)]));

/** Fails where the browser keeps nothing. Gives what runs a change of all tables, whole or not at all. */
export async function inDatabase(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    for (const [table, keys] of Object.entries(KEYS)) request.result.createObjectStore(table, keys);
  };
  const database = await answer(request);
  return async (work) => {
    const transaction = database.transaction(Object.keys(KEYS), "readwrite");
    const over = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new Error("The browser stored nothing."));
    });
    try {
      const tables = tablesOf((table) => new StoredTable(transaction.objectStore(table)));
      return (await Promise.all([work(tables), over]))[0];
    } catch (error) {
      if (transaction.error === null) abort(transaction);
      throw error;
    }
  };
}

function abort(transaction) {
  try {
    transaction.abort();
  } catch {
    // It was over.
  }
}

class StoredTable {
  constructor(store) {
    this.store = store;
  }
  get = (key) => answer(this.store.get(key));
  put = (value) => answer(this.store.put(value));
  delete = (key) => answer(this.store.delete(key));
  /** Those with greater keys. */
  count = (after) => answer(this.store.count(IDBKeyRange.lowerBound(after, true)));
  all = (after, most) => answer(this.store.getAll(IDBKeyRange.lowerBound(after, true), most));
  /** Of those up to this key; says how many. */
  async deleteSome(last, most) {
    const keys = await answer(this.store.getAllKeys(IDBKeyRange.upperBound(last), most));
    if (keys.length) await answer(this.store.delete(IDBKeyRange.bound(keys[0], keys.at(-1))));
    return keys.length;
  }
  last = async () => (await answer(this.store.openKeyCursor(null, "prev")))?.key ?? 0;
}

/** The same in this page. */
export function inMemory() {
  const tables = tablesOf(() => new PageTable());
  return (work) => work(tables);
}

class PageTable {
  rows = new Map();
  newest = 0;
  async get(key) {
    return this.rows.get(key);
  }
  async put(value) {
    const key = value.key ?? (this.newest += 1);
    this.rows.set(key, { ...value, key });
  }
  async delete(key) {
    this.rows.delete(key);
  }
  async deleteSome(last, most) {
    const keys = [...this.rows.keys()].filter((key) => key <= last).slice(0, most);
    for (const key of keys) this.rows.delete(key);
    return keys.length;
  }
  async count(after) {
    return (await this.all(after)).length;
  }
  async all(after, most = Infinity) {
    return [...this.rows.values()].filter(({ key }) => key > after).slice(0, most);
  }
  async last() {
    return this.newest;
  }
}

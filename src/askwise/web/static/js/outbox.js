/** Answers on their way: kept in the browser until the server says that they are stored. */

import { Away, Refused, pause, post } from "./api.js";

const AT_ONCE = 50; // answers in one call: with the longest notes still under the server's limit

/** Emits "change" whenever `state` may differ, and "stored" after each reply. */
export class Outbox extends EventTarget {
  records = [];
  refused = [];
  full = false; // this browser's storage took no more
  linked = true; // the last thing heard from the server was good
  invalid = false; // the token is not (or no longer) valid
  #added = [];
  #keeping = 0; // answers that this browser's storage has not confirmed yet
  #database;
  #sending = false;

  /** The outbox of one project and annotator, with what still waited in it. */
  static async open(name) {
    const outbox = new Outbox();
    outbox.#database = await database(name).catch(() => null);
    outbox.full = outbox.#database === null;
    outbox.records = await outbox.#kept();
    outbox.flush();
    return outbox;
  }

  /** What the dot shows: saved, saving, or offline, and how many answers are not stored yet. */
  get state() {
    const mode = !this.linked ? "offline" : this.records.length ? "saving" : "saved";
    return {
      mode,
      waiting: this.records.length,
      keeping: this.#keeping,
      full: this.full && this.records.length > 0,
      refused: this.refused,
      invalid: this.invalid,
    };
  }

  /** A mark, to ask later which items were answered since. */
  mark() {
    return { at: this.#added.length, waiting: this.records.flatMap(about) };
  }

  /** The items whose answers the server may not have known at the time of the mark. */
  since({ at, waiting }) {
    return new Set([...waiting, ...this.#added.slice(at)]);
  }

  /** Takes an answer; it is on its way, and kept here until it has arrived.

  One with a `path` goes there alone, in its turn: a whole grid, whose tiles are `tiles`. */
  add(answer) {
    const record = { ...answer, key: uuid(), order: performance.timeOrigin + performance.now() };
    this.records.push(record);
    this.#added.push(...about(record));
    this.#keep(record);
    this.#changed();
    this.flush();
    return record.key;
  }

  /** Sends what waits, in order, until nothing waits. */
  async flush() {
    if (this.#sending) return;
    this.#sending = true;
    for (let failures = 0, size = AT_ONCE; this.records.length;) {
      const apart = this.records.findIndex(({ path }) => path);
      const batch = this.records.slice(0, apart < 0 ? size : Math.min(size, Math.max(apart, 1)));
      try {
        const reply = await send(batch);
        const keys = new Set(reply.answers.map((answer) => answer.key));
        const refused = new Map((reply.refused ?? []).map((refusal) => [refusal.key, refusal.error]));
        if (!batch.some(({ key }) => keys.has(key) || refused.has(key)))
          throw new Away("the reply names none of the answers");
        this.#drop(keys);
        for (const record of batch)
          if (refused.has(record.key)) this.#setAside(record, refused.get(record.key));
        [failures, size] = [0, AT_ONCE];
        this.link(true);
        this.dispatchEvent(new Event("stored"));
      } catch (error) {
        if (error instanceof Refused && error.status !== 401 && error.status !== 403) {
          if (batch.length > 1)
            size = 1; // find the one that is refused; the others arrive
          else this.#setAside(batch[0], error.message);
        } else {
          this.link(false, error);
          await pause(Math.min(4000, 200 * 2 ** failures));
          failures += 1;
        }
      }
    }
    this.#sending = false;
    this.#changed();
  }

  /** Hears from anybody who spoke to the server whether it is there. */
  link(good, error) {
    this.invalid = error instanceof Refused && (error.status === 401 || error.status === 403);
    if (this.linked === good && !this.invalid) return this.#changed();
    this.linked = good;
    if (good) dispatchEvent(new Event("online")); // wakes whoever pauses
    this.#changed();
  }

  /** Sends the refused answers again, or forgets them. */
  settle(again) {
    const records = this.refused.splice(0).map((refusal) => refusal.record);
    if (again) this.records.push(...records);
    else this.#forget(records.map((record) => record.key));
    this.#changed();
    this.flush();
  }

  #setAside(record, reason) {
    this.records = this.records.filter((other) => other !== record);
    this.refused.push({ record, reason }); // stays in the storage, so that a reload tries it again
    this.#changed();
  }

  #drop(keys) {
    this.records = this.records.filter((record) => !keys.has(record.key));
    if (!this.records.length) this.full = false;
    this.#forget([...keys]);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  #keep(record) {
    this.#keeping += 1;
    this.#write((store) => store.put(record))
      .catch(() => (this.full = true))
      .finally(() => {
        this.#keeping -= 1;
        this.#changed();
      });
  }

  #forget(keys) {
    this.#write((store) => keys.forEach((key) => store.delete(key))).catch(() => {});
  }

  #write(work) {
    return new Promise((resolve, reject) => {
      if (!this.#database) return reject(new Error("no storage"));
      const transaction = this.#database.transaction("answers", "readwrite", { durability: "strict" });
      transaction.oncomplete = resolve;
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
      work(transaction.objectStore("answers"));
    });
  }

  #kept() {
    if (!this.#database) return [];
    const request = this.#database.transaction("answers").objectStore("answers").getAll();
    return finished(request).then((records) => records.sort((one, other) => one.order - other.order));
  }
}

async function send(batch) {
  const bodies = batch.map(({ order, path, ...answer }) => answer);
  if (!batch[0].path) return post("/api/answers", bodies);
  return { answers: [await post(batch[0].path, bodies[0])] };
}

/** The items that a record is about. */
function about(record) {
  return record.tiles ?? [record.item];
}

function database(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore("answers", { keyPath: "key" });
  return finished(request);
}

function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

/** A random UUID; crypto.randomUUID is missing on plain http. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

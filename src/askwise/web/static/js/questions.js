/** The questions ahead: leased from the server before they are needed, with what they show. */

import { get, pause } from "./api.js";

export const AHEAD = 8;
const LOW = 6; // asks for more when fewer are ahead
const MOST_PAGES = 50; // of the history, looked through for skipped items
const PATIENCE = 5; // times to ask in vain before a stock is called complete
const KEPT = 2; // the next ones stay; those behind them may give way to newer questions

/** Emits "change" when questions arrive or there are none. */
export class Questions extends EventTarget {
  ahead = [];
  shown = null; // the one on the screen
  reason = null; // the server's word on why there are none
  #items;
  #outbox;
  #asking = null; // the call that is under way
  #wanted = AHEAD;

  constructor(items, outbox) {
    super();
    this.#items = items;
    this.#outbox = outbox;
    outbox.addEventListener("stored", () => this.refill());
  }

  /** The next question, or null; more are asked for in time. */
  take() {
    const next = this.ahead.shift() ?? null;
    if (next) this.refill(); // without any, the page asks again from time to time
    return next;
  }

  /** A question comes back as the next one. */
  putBack(question) {
    this.ahead.unshift(question);
  }

  /** Leases and loads this many, the one on the screen included, for a time without the server.

  The server chooses some at a time, so it is asked until it gives no more; `tell` hears how many there are. */
  async stock(count, tell) {
    const loaded = () => this.ahead.length + (this.shown ? 1 : 0);
    for (
      let idle = 0, before = -1;
      loaded() < count && idle < PATIENCE;
      idle = loaded() > before ? 0 : idle + 1
    ) {
      before = loaded();
      await this.#asking;
      this.#wanted = count;
      await this.refill({ force: true });
      tell(loaded());
      if (loaded() < count) await pause(600);
    }
    await Promise.all(this.ahead.map((question) => this.#items.content(question)));
    return loaded();
  }

  /** Brings the skipped items back, those skipped first in front. */
  async again() {
    const latest = new Map();
    for (let before = null, pages = 0; pages < MOST_PAGES; pages += 1) {
      const query = new URLSearchParams(before === null ? { n: 200 } : { n: 200, before });
      const { answers, more } = await get(`/api/history?${query}`);
      for (const answer of answers) if (!latest.has(answer.item)) latest.set(answer.item, answer);
      before = answers.at(-1)?.revision;
      if (!more) break;
    }
    const skipped = [...latest.values()].filter((answer) => answer.verdict === "skip").reverse();
    this.ahead.push(...skipped.map(({ item, name }) => ({ item, name, question: null, given: null })));
    this.dispatchEvent(new Event("change"));
  }

  /** Asks for more questions where few are ahead. */
  refill({ force = false } = {}) {
    if (!this.#asking && (force || this.ahead.length < LOW)) {
      this.#asking = this.#ask().finally(() => {
        this.#asking = null;
        this.dispatchEvent(new Event("change"));
      });
    }
    return this.#asking;
  }

  async #ask() {
    const mark = this.#outbox.mark();
    const stocking = this.#wanted > AHEAD || this.ahead.length > AHEAD;
    const kept = stocking ? this.ahead : this.ahead.slice(0, KEPT);
    const query = new URLSearchParams({ n: this.#wanted });
    if (!stocking)
      query.set(
        "keep",
        [this.shown, ...kept]
          .map((one) => one?.question)
          .filter(Boolean)
          .join(","),
      );
    try {
      const { questions, reason } = await get(`/api/questions?${query}`);
      this.#outbox.link(true);
      this.#take(questions, kept, this.#outbox.since(mark));
      this.reason = this.ahead.length ? null : reason;
      this.#wanted = AHEAD;
    } catch (error) {
      this.#outbox.link(false, error);
    }
  }

  #take(questions, kept, answered) {
    const held = new Set(questions.map((question) => question.item));
    // Questions that were given back meanwhile go; those that undo brought back are nobody else's and stay.
    const ahead = this.ahead.filter((one) => held.has(one.item) || kept.includes(one) || "given" in one);
    for (const question of questions) {
      const known = [this.shown, ...ahead].find((other) => other?.item === question.item);
      if (known) Object.assign(known, { question: question.question, lease_until: question.lease_until });
      else if (!answered.has(question.item)) {
        ahead.push(question);
        this.#items.content(question);
      }
    }
    this.ahead = ahead;
  }
}

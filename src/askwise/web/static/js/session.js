/** One person's sitting: the question shown, the answers given, back and forth through both. */

const REMEMBERED = 300;

/** Emits "show" when another item is to be shown and "answer" after each answer. */
export class Session extends EventTarget {
  done = []; // {item, name, …, given: {verdict, value, assisted, note}}, oldest first
  current = null; // the open question
  visitor = null; // an item opened from the history or the gallery
  recent = []; // classes used last, latest first
  #place = null; // the entry of `done` that is looked at
  #acts = []; // what undo takes back: {entry, before, after}
  #undone = [];
  #assisted = new Set();
  #questions;
  #outbox;
  #tabs; // other tabs of the same person hold the same questions
  #since = 0;
  #seen = 0;

  constructor(questions, outbox, name) {
    super();
    this.#questions = questions;
    this.#outbox = outbox;
    this.#tabs = new BroadcastChannel(name);
    this.#tabs.onmessage = ({ data }) => this.#elsewhere(data);
    questions.addEventListener("change", () => this.current ?? this.#next());
    document.addEventListener("visibilitychange", () => this.#clock());
  }

  /** The item on the screen, or null; `given` says what was answered before. */
  get shown() {
    return this.visitor ?? this.#place ?? this.current;
  }

  /** Whether the item on the screen is an earlier one. */
  get looksBack() {
    return this.visitor !== null || this.#place !== null;
  }

  get canUndo() {
    return this.#acts.length > 0;
  }

  get canRedo() {
    return this.#redoable() !== undefined;
  }

  /** Takes the answers of earlier sittings, newest first, so that undo and the arrows know them. */
  remember(answers) {
    const known = new Set();
    const entries = [];
    for (const { item, name, verdict, value, assisted, note } of answers) {
      if (!known.has(item) && verdict !== "retract")
        entries.unshift({ item, name, question: null, given: { verdict, value, assisted, note } });
      known.add(item);
    }
    this.done = [...entries, ...this.done];
    this.#acts = [...entries.map((entry) => ({ entry, before: null, after: entry.given })), ...this.#acts];
  }

  /** The guess was shown: the answer to this item is no longer a blind one. */
  assist(item) {
    this.#assisted.add(item);
  }

  /** Stores an answer to the item on the screen and moves on. */
  answer(verdict, value = null, note = null) {
    const entry = this.shown;
    if (!entry) return;
    const before = entry.given ?? null;
    const given = {
      verdict,
      value,
      assisted: this.#assisted.has(entry.item) || Boolean(before?.assisted),
      note: note || before?.note || null,
    };
    this.#post(entry, given, before ? "history" : "ask");
    this.#acts.push({ entry, before, after: given });
    this.#undone = this.#undone.filter((act) => act.entry.item !== entry.item);
    this.#use(value);
    entry.given = given;
    if (this.visitor) this.#leave(entry, before);
    else if (before) this.forward();
    else {
      this.done.push(entry);
      if (this.done.length > REMEMBERED) this.done.shift();
      this.current = null;
      this.#next();
    }
    this.#tell("answer", { entry, given, before });
  }

  /** Takes the latest answer back: the item is asked again, or has its earlier answer again. */
  undo() {
    const act = this.#acts.pop();
    if (!act) return;
    this.#undone.push(act);
    const { entry, before } = act;
    if (before) {
      this.#post(entry, before, "history");
      entry.given = before;
    } else {
      this.#post(entry, { verdict: "retract", value: null, assisted: false, note: null }, "ask");
      entry.given = null;
      this.done = this.done.filter((other) => other !== entry);
      if (this.current) this.#questions.putBack(this.current);
      this.#questions.ahead = this.#questions.ahead.filter((other) => other.item !== entry.item);
      this.current = this.#questions.shown = entry; // or a reply on its way would ask it once more
    }
    this.visitor = this.#place = null;
    this.#show();
    this.#tell("undo", { entry, taken: act.after });
  }

  /** Gives the answer again that undo took back. */
  redo() {
    const act = this.#redoable();
    if (!act) return;
    this.visitor = this.#place = null;
    if (act.before) this.visitor = act.entry;
    this.answer(act.after.verdict, act.after.value, act.after.note);
  }

  /** One answer back. */
  back() {
    const at = this.#place ? this.done.indexOf(this.#place) : this.done.length;
    if (this.visitor || at <= 0) return;
    this.#place = this.done[at - 1];
    this.#show();
  }

  /** One answer forward, at last to the open question. */
  forward() {
    if (this.visitor) return this.home();
    if (!this.#place) return;
    this.#place = this.done[this.done.indexOf(this.#place) + 1] ?? null;
    this.#show();
  }

  /** Back to the open question. */
  home() {
    this.visitor = this.#place = null;
    this.#show();
  }

  /** Shows an item out of turn. */
  open(entry) {
    this.visitor = entry;
    this.#show();
  }

  #leave(entry, before) {
    this.visitor = null;
    if (!before) this.done.push(entry);
    const twin = this.done.find((other) => other.item === entry.item);
    if (twin) twin.given = entry.given;
    if (!this.#elsewhere(entry.item)) this.#show();
  }

  /** An item was answered otherwise than in turn: it is not asked again; says whether it was on the screen. */
  #elsewhere(item) {
    this.#questions.ahead = this.#questions.ahead.filter((other) => other.item !== item);
    if (this.current?.item !== item) return false;
    this.current = null;
    this.#next();
    return true;
  }

  #redoable() {
    const act = this.#undone.at(-1);
    return act && (act.before || this.current?.item === act.entry.item) ? act : undefined;
  }

  #next() {
    this.current = this.#questions.take();
    this.#questions.shown = this.current;
    if (!this.#place && !this.visitor) this.#show();
  }

  #show() {
    this.#seen = 0;
    this.#since = document.hidden ? 0 : performance.now();
    this.#tell("show");
  }

  #clock() {
    if (document.hidden && this.#since) this.#seen += performance.now() - this.#since;
    this.#since = document.hidden ? 0 : performance.now();
  }

  #post(entry, { verdict, value, assisted, note }, view) {
    const shown = this.#seen + (this.#since ? performance.now() - this.#since : 0);
    const question = view === "ask" ? (entry.question ?? null) : null;
    if (verdict !== "retract") this.#tabs.postMessage(entry.item);
    this.#outbox.add({
      question,
      item: entry.item,
      verdict,
      value,
      view,
      assisted,
      shown_ms: Math.round(shown),
      note,
    });
  }

  #use(value) {
    for (const name of [value].flat()) {
      if (typeof name === "string")
        this.recent = [name, ...this.recent.filter((other) => other !== name)].slice(0, 5);
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

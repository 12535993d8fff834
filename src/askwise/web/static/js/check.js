/** The view that looks again: one item that may be wrong, what was said of it, and keep, change or cannot tell. */

import { get, patient } from "./api.js";
import { Certify } from "./certify.js";
import { Choices } from "./choices.js";
import { findClass } from "./dialogs.js";
import { fill, icon, keycap, make } from "./dom.js";
import { valueWords } from "./history.js";
import { Viewer } from "./viewer.js";

const KINDS = {
  suspects: "The model disagrees",
  disagreements: "People differ",
  swept: "Swept too fast",
  edited: "Class has changed",
  skipped: "Skipped",
  unclear: "Cannot tell",
  certify: "Certify the rest",
};
const NOTHING = {
  suspects: "No label looks wrong to models that have not seen it.",
  disagreements: "Nobody disagrees with anybody.",
  swept: "No grid is to be looked at again.",
  edited: "No item has lost its class.",
  skipped: "Nothing that was skipped waits.",
  unclear: "Nothing that could not be told waits.",
};
const SEEN = ["suspects", "disagreements", "swept"]; // here a guess or somebody's answer is shown: no blind answer

/** The view; `page` holds project, keys, items, outbox and views. */
export class Check {
  #page;
  #kind = "suspects";
  #counts = {};
  #unchecked = null; // the server's word on why no label is held against the model
  #resolves = false; // what is said here is the last word, not one more answer
  #queue = [];
  #acts = []; // what undo takes back: {entry, kind}
  #turn = 0;
  #since = 0;
  #kinds = make("div", { class: "kinds", role: "group", "aria-label": "What to look at" });
  #caption = make("p", { class: "name", role: "status" });
  #tools = make("div", { class: "item-tools" });
  #stage = make("div", { class: "stage", role: "region", "aria-label": "The item to check", tabindex: "0" });
  #said = make("p", { class: "hint told-before", role: "status" });
  #box = make("div", { class: "choices" });
  #actions = make("div", { class: "actions", role: "toolbar", "aria-label": "Answers" });
  #viewer = new Viewer(this.#stage, this.#tools, (id) => this.#act(id));
  #choices;
  #audit = make("div", { class: "certify", hidden: true });
  #certify;
  #dock = make("div", { class: "dock" }, this.#said, this.#box, this.#actions);
  #captions = make("div", { class: "caption" }, this.#caption, make("span"), this.#tools);

  constructor(box, page) {
    this.#page = page;
    this.#certify = page.project.task === "classification" ? new Certify(this.#audit, page) : null;
    this.#choices = new Choices(this.#box, page.project, page.keys, {
      answer: (value) => this.#answer("label", value),
      find: () => this.#act("find"),
      id: "check-number",
    });
    fill(
      box,
      make("div", { class: "check-top" }, this.#kinds, this.#captions),
      this.#stage,
      this.#audit,
      this.#dock,
    );
    page.news.addEventListener("classes", () => this.#rebuild());
    page.outbox.addEventListener("stored", () => {
      if (this.#here() && !this.#shown && !this.#audits()) this.#load();
    });
  }

  /** Loads what is to be looked at. */
  show() {
    this.#rebuild();
    return this.#load();
  }

  #audits() {
    return this.#kind === "certify";
  }

  /** Hears a key; says whether it was for this view. */
  pressed(event, meaning) {
    if (this.#audits()) return this.#certify.pressed(event, meaning);
    const id = event.key === "Enter" ? "keep" : event.key === "ArrowRight" ? "later" : meaning;
    if (!id || !this.#possible(id)) return false;
    if (!event.repeat) this.#act(id);
    return true;
  }

  get #shown() {
    return this.#queue[0] ?? null;
  }

  /** What holds now; null while nothing does. */
  get #present() {
    return this.#shown?.holds ?? null;
  }

  #here() {
    return this.#page.views.current === "check";
  }

  async #load() {
    const turn = (this.#turn += 1);
    this.#audit.hidden = !this.#audits();
    for (const part of [this.#captions, this.#stage, this.#dock]) part.hidden = this.#audits();
    if (this.#audits()) {
      this.#tabs();
      return this.#certify.show();
    }
    const slow = setTimeout(() => this.#shown || this.#words("Looking …"), 250);
    let found;
    try {
      const query = new URLSearchParams({ kind: this.#kind });
      found = await patient(
        () => get(`/api/check?${query}`),
        () => turn === this.#turn && this.#here(),
      );
    } catch (error) {
      if (turn === this.#turn) this.#trouble(error);
      return;
    } finally {
      clearTimeout(slow);
    }
    if (turn !== this.#turn) return;
    const waiting = new Set(this.#page.outbox.records.map((record) => record.item));
    this.#queue = found.items.filter(({ item }) => !waiting.has(item));
    this.#counts = found.counts;
    this.#unchecked = found.unchecked ?? null;
    this.#resolves = found.resolves;
    this.#draw();
  }

  #trouble(error) {
    this.#queue = [];
    this.#draw();
    this.#words(
      `It cannot be shown now: ${error.message}.`,
      make("button", { type: "button", class: "plain", onclick: () => this.#load() }, "Try again"),
    );
  }

  #words(line, ...more) {
    this.#viewer.empty(make("div", { class: "empty" }, make("h2", {}, KINDS[this.#kind]), make("p", {}, line), ...more));
  }

  #act(id) {
    const { keys } = this.#page;
    if (!this.#possible(id)) return;
    if (id.startsWith("class ")) return this.#choices.choose(id.slice(6));
    const work = {
      keep: () => (this.#page.project.task === "classification" ? this.#keep() : this.#choices.confirm()),
      unclear: () => this.#answer("unclear"),
      undo: () => this.#undo(),
      later: () => this.#later(),
      larger: () => this.#viewer.zoom(1.5),
      smaller: () => this.#viewer.zoom(1 / 1.5),
      find: () =>
        findClass(
          this.#choices.classes.map((one) => ({ ...one, key: keys.of(`class ${one.name}`) })),
          this.#page.session.recent,
          (name) => this.#choices.choose(name),
        ),
    };
    work[id]?.();
  }

  #possible(id) {
    if (id === "undo") return this.#acts.length > 0;
    if (!this.#shown) return false;
    if (id === "keep" && this.#page.project.task === "classification")
      return this.#kind !== "edited" && this.#present !== null;
    if (id === "keep") return true;
    return id.startsWith("class ") || ["unclear", "later", "find", "larger", "smaller"].includes(id);
  }

  #keep() {
    const { verdict, value } = this.#present;
    this.#answer(verdict, value);
  }

  #answer(verdict, value = null) {
    const entry = this.#shown;
    if (!entry) return;
    const resolved = this.#resolves;
    this.#send(entry, { verdict, value }, "check", resolved);
    this.#acts.push({ entry, kind: this.#kind, resolved });
    this.#queue.shift();
    this.#count(-1);
    this.#draw();
  }

  /** Gives the item the answer that it had; then it is in the list again. */
  #undo() {
    const { entry, kind, resolved } = this.#acts.pop();
    const { verdict, value } = entry.said.at(-1);
    const gone = resolved || kind === "edited";
    this.#send(entry, gone ? { verdict: "retract", value: null } : { verdict, value }, "history", resolved);
    if (kind !== this.#kind) this.#queue = [];
    this.#kind = kind;
    this.#queue.unshift(entry);
    this.#count(1);
    this.#draw();
  }

  #later() {
    if (this.#queue.length > 1) this.#queue.push(this.#queue.shift());
    this.#draw();
  }

  #send(entry, { verdict, value }, view, resolved) {
    if (resolved) return this.#page.outbox.add({ path: "/api/resolutions", item: entry.item, verdict, value });
    this.#page.outbox.add({
      question: null,
      item: entry.item,
      verdict,
      value,
      view,
      assisted: view === "check" && SEEN.includes(this.#kind),
      shown_ms: Math.round(performance.now() - this.#since),
      note: null,
    });
  }

  #count(step) {
    if (typeof this.#counts[this.#kind] === "number") this.#counts[this.#kind] += step;
  }

  #rebuild() {
    this.#choices.build();
    this.#draw();
  }

  #draw() {
    const { items } = this.#page;
    const entry = this.#shown;
    this.#since = performance.now();
    this.#tabs();
    fill(this.#caption, entry ? entry.name : "");
    this.#box.hidden = this.#said.hidden = !entry;
    if (entry) this.#viewer.show(entry.name, items.content(entry), () => items.sharp(entry));
    else if (this.#counts[this.#kind] !== undefined)
      this.#words((this.#kind === "suspects" && this.#unchecked) || NOTHING[this.#kind]);
    fill(this.#said, ...(entry ? this.#told(entry) : []));
    this.#choices.set(this.#present);
    this.#toolbar();
  }

  #tabs() {
    const tab = ([kind, words]) => {
      const count = this.#counts[kind];
      return make(
        "button",
        {
          type: "button",
          class: "kind",
          "data-kind": kind,
          "aria-pressed": String(kind === this.#kind),
          onclick: (event) => {
            if (event.detail > 0) document.activeElement?.blur(); // the keys are the view's again
            this.#kind = kind;
            this.#queue = [];
            this.#load();
          },
        },
        words,
        typeof count === "number" && make("span", { class: "count" }, count.toLocaleString("en")),
      );
    };
    const focused = document.activeElement?.dataset?.kind;
    const offered = Object.entries(KINDS).filter(([kind]) => kind !== "certify" || this.#certify);
    fill(this.#kinds, ...offered.map(tab));
    if (focused) this.#kinds.querySelector(`[data-kind=${focused}]`)?.focus();
  }

  /** What was said, in one sentence. */
  #told({ said, likelier }) {
    const percent = (p) => (p >= 0.995 ? "over 99 %" : p < 0.005 ? "under 1 %" : `${Math.round(p * 100)} %`);
    const one = ({ annotator, yours, ...given }, place) => [
      place ? ", " : "",
      yours ? (place ? "you" : "You") : annotator || (place ? "somebody" : "Somebody"),
      given.verdict === "label" ? " said " : given.verdict === "skip" ? " " : " said: ",
      make("strong", {}, valueWords(given)),
    ];
    const words = said.flatMap(one);
    words.push(". ");
    if (likelier && this.#kind === "suspects")
      words.push(
        "Models that have not seen this label find ",
        make("strong", {}, likelier.name),
        ` likelier: ${percent(likelier.p)} against ${percent(likelier.given_p)}.`,
      );
    if (this.#kind === "edited") words.push("That class is no longer in use. Which one is it now?");
    return words;
  }

  #toolbar() {
    const { keys, project } = this.#page;
    const kept = this.#present && this.#possible("keep") ? `Keep ${valueWords(this.#present)}` : "Keep";
    const button = (id, words, key, kind = "quiet action") =>
      make(
        "button",
        {
          type: "button",
          class: kind,
          "data-check": id,
          disabled: !this.#possible(id),
          onclick: (event) => {
            this.#act(id);
            if (event.detail > 0) document.activeElement?.blur(); // the keys are the view's again
          },
        },
        id === "unclear" || id === "undo" || id === "skip" ? icon(id) : null,
        make("span", { class: "words" }, words),
        key && keycap(key),
      );
    fill(
      this.#actions,
      project.task === "classification" && button("keep", kept, "Enter", "primary action"),
      button("unclear", "Cannot tell", keys.of("unclear")),
      button("later", "Later", "ArrowRight"),
      button("undo", "Undo", keys.of("undo")),
    );
  }
}

/** The labels of everything else at a promised error: checks as a grid, right unless a person says otherwise. */

import { get, patient, post } from "./api.js";
import { Choices } from "./choices.js";
import { findClass } from "./dialogs.js";
import { fill, keycap, make } from "./dom.js";
import { Grid } from "./grid.js";

const PAUSE = 300; // milliseconds between two looks whether all answers are stored

/** A part of Check; `page` holds project, keys, items and outbox. */
export class Certify {
  #page;
  #box;
  #grid;
  #choices;
  #claim = { error: 0.02, confidence: 0.95, checks: 200 };
  #since = 0;
  #words = make("p", { class: "next", role: "status" });
  #hint = make("p", { class: "quiet-words" });
  #tiles = make("div");
  #form = make("div", { class: "certify-form" });
  #classes = make("div", { class: "choices" });
  #go = make(
    "button",
    { type: "button", class: "primary", onclick: () => this.#confirm() },
    "These are right ",
    keycap("Enter"),
  );
  #dock = make("div", { class: "dock" }, this.#classes, make("div", { class: "actions" }, this.#go));

  constructor(box, page) {
    this.#page = page;
    this.#box = box;
    this.#grid = new Grid(this.#tiles, page.items, {
      words: (mark) => (mark === true ? "wrong: which class?" : mark),
      label: "Items to check",
    });
    this.#grid.addEventListener("mark", () => this.#count());
    this.#grid.addEventListener("confirm", () => this.#confirm());
    this.#choices = new Choices(this.#classes, page.project, page.keys, {
      answer: (name) => this.#call(name),
      find: () => this.#find(),
    });
    fill(box, make("div", { class: "certify-top" }, this.#words, this.#hint, this.#form), this.#tiles, this.#dock);
  }

  /** Shows how it stands: a certificate, an attempt under way, or what can be promised. */
  async show() {
    this.#choices.build();
    if (this.#grid.tiles.length) return;
    this.#empty();
    fill(this.#words, "Looking …");
    try {
      const { last, claim } = await get("/api/certificate");
      if (claim) this.#claim = claim;
      this.#offer(last, claim !== null);
    } catch (error) {
      fill(this.#words, `It is not known now: ${error.message}.`);
    }
  }

  /** Hears a key; says whether it was for this. */
  pressed(event, meaning) {
    if (!this.#grid.tiles.length) return false;
    if (meaning?.startsWith("class ")) {
      if (!event.repeat) this.#call(meaning.slice(6));
      return true;
    }
    if (meaning === "unclear" || meaning === "find") {
      if (!event.repeat) meaning === "find" ? this.#find() : this.#call("cannot tell", true);
      return true;
    }
    return this.#grid.pressed(event);
  }

  #offer(last, goesOn) {
    const field = (name, words, value, step) => {
      const input = make("input", { type: "number", id: `certify-${name}`, value, step, min: step });
      return [make("label", { for: input.id }, words), input];
    };
    const number = (name) => Number(this.#form.querySelector(`#certify-${name}`).value);
    fill(
      this.#words,
      goesOn
        ? "An attempt is under way: go on with its checks."
        : "The model can label everything else at an error that is promised.",
    );
    fill(
      this.#hint,
      "You look at some items in a random order. While you do, label nothing elsewhere: a model that is trained again begins a new attempt, and every further attempt must be surer.",
    );
    fill(
      this.#form,
      last && this.#certificate(last),
      make(
        "form",
        {
          class: "claim",
          onsubmit: (event) => {
            event.preventDefault();
            this.#claim = {
              error: number("error") / 100,
              confidence: number("confidence") / 100,
              checks: number("checks"),
            };
            this.#next();
          },
        },
        ...field("error", "At most this share wrong, in %", percent(this.#claim.error), "any"),
        ...field("confidence", "With this probability, in %", percent(this.#claim.confidence), "any"),
        ...field("checks", "Checks at most", this.#claim.checks, 1),
        make("button", { class: "primary" }, goesOn ? "Go on" : "Begin"),
      ),
    );
    this.#form.hidden = false;
  }

  /** Asks for the next checks, or for the outcome; waits until all answers are stored. */
  async #next() {
    this.#empty();
    fill(this.#words, "Choosing what to check …");
    while (this.#page.outbox.records.length) await new Promise((resolve) => setTimeout(resolve, PAUSE));
    try {
      this.#take(await patient(() => post("/api/certify", this.#claim)));
    } catch (error) {
      await this.show();
      fill(this.#words, `No: ${error.message}.`);
    }
  }

  #take({ attempt, checked, asked, outcome }) {
    if (outcome) {
      this.#empty();
      fill(this.#words, outcome.certified ? "Certified." : `Cannot certify: ${outcome.reason}.`);
      fill(this.#form, outcome.certified && this.#certificate(outcome), this.#again());
      this.#form.hidden = false;
      return;
    }
    const blind = asked.filter(({ guess }) => guess === null).length;
    fill(this.#words, `Attempt ${attempt}: ${checked} of at most ${this.#claim.checks} checked.`);
    fill(
      this.#hint,
      "Mark what is wrong and say its class. ",
      blind > 0 && `${blind} show no guess: say the class of each. `,
      "The others are right when you press Enter.",
    );
    this.#grid.show(asked);
    asked.forEach(({ guess }, place) => {
      const words = guess ?? "which class?";
      this.#tiles.children[place].append(make("span", { class: guess === null ? "badge ask-class" : "badge" }, words));
    });
    this.#tiles.hidden = this.#dock.hidden = false;
    this.#since = performance.now();
    this.#count();
    this.#grid.focus();
  }

  /** Says the class of the tile that the keys are for, and goes to the next that needs one. */
  #call(name, unclear = false) {
    const { current, marks } = this.#grid;
    if (!current) return;
    const mark = unclear ? "cannot tell" : name;
    if (current.guess === name && !unclear) marks.has(current.item) && this.#grid.mark(current.item, null);
    else if (marks.get(current.item) !== mark) this.#grid.mark(current.item, mark);
    const rest = this.#open();
    if (rest.length) this.#point(rest.find((at) => at > this.#grid.tiles.indexOf(current)) ?? rest[0]);
  }

  #point(place) {
    this.#tiles.children[place].focus();
  }

  /** The places of tiles that need a class still. */
  #open() {
    const { tiles, marks } = this.#grid;
    return tiles.flatMap(({ item, guess }, place) => {
      const mark = marks.get(item);
      return mark === true || (guess === null && mark === undefined) ? [place] : [];
    });
  }

  #count() {
    const rest = this.#open().length;
    this.#go.disabled = rest > 0;
    fill(
      this.#go,
      rest ? `${rest} ${rest === 1 ? "needs" : "need"} a class ` : "The others are right ",
      keycap("Enter"),
    );
  }

  #confirm() {
    const { tiles, marks } = this.#grid;
    const rest = this.#open();
    if (rest.length) return this.#point(rest[0]);
    const shown = Math.round((performance.now() - this.#since) / Math.max(1, tiles.length));
    for (const { item, question, guess } of tiles) {
      const mark = marks.get(item);
      const unclear = mark === "cannot tell" && !this.#choices.classes.some((one) => one.name === mark);
      this.#page.outbox.add({
        question,
        item,
        verdict: unclear ? "unclear" : "label",
        value: unclear ? null : (mark ?? guess),
        view: "check",
        assisted: guess !== null,
        shown_ms: shown,
        note: null,
      });
    }
    this.#next();
  }

  #find() {
    const { keys, session } = this.#page;
    findClass(
      this.#choices.classes.map((one) => ({ ...one, key: keys.of(`class ${one.name}`) })),
      session.recent,
      (name) => this.#call(name),
    );
  }

  #empty() {
    this.#grid.show([]);
    fill(this.#hint);
    this.#tiles.hidden = this.#dock.hidden = this.#form.hidden = true;
  }

  #again() {
    return make("button", { type: "button", class: "plain", onclick: () => this.show() }, "Another attempt");
  }

  #certificate({ promise, confidence, labels, checks, wrong, classes, output, void: gone }) {
    const row = (one) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, one.name),
        ...[one.labels, one.checks, one.wrong].map((count) => make("td", {}, count.toLocaleString("en"))),
      );
    const head = ["Class", "Labels", "Checked", "Wrong"].map((words) => make("th", { scope: "col" }, words));
    return make(
      "div",
      { class: "certificate" },
      gone && make("p", { class: "notice" }, `This certificate is void: ${gone}.`),
      make("p", {}, `${promise} (confidence ${percent(confidence)} %; ${checks} checks, ${wrong} wrong, ${labels.toLocaleString("en")} labels).`),
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...classes.map(row))),
      output && make("p", { class: "quiet-words" }, `The labels are in ${output} of the project.`),
      !gone && make("p", { class: "quiet-words" }, "A model that is trained again, or new items, void it."),
    );
  }
}

const percent = (share) => String(Number((100 * share).toPrecision(6)));

/** The view that sweeps: many items of one class at once; what is wrong is marked, the rest confirmed. */

import { get } from "./api.js";
import { findClass } from "./dialogs.js";
import { fill, icon, keycap, make } from "./dom.js";
import { Grid } from "./grid.js";
import { read, write } from "./keys.js";

const SIZES = [24, 60]; // tiles of a grid; the last is the most that a grid may have
const MOST = SIZES.at(-1);
const KEPT = "askwise tiles"; // the choice, in this browser
const AGAIN = 3000; // milliseconds between two looks for a grid, while there is none

/** The view in its section; `page` holds project, keys, items, outbox, session, views and news. */
export class Sweep {
  #page;
  #grid;
  #shown = null; // the grid on the screen
  #acts = []; // the grids that were confirmed: what undo takes back
  #class = null; // the class that was chosen; without one the largest offer
  #turn = 0;
  #since = 0;
  #size = SIZES.find((size) => size === read(KEPT).size) ?? SIZES[0];
  #brush = true; // what a tap on a tile says: that it is wrong, or a class
  #looked = -Infinity; // when a grid was asked for
  #title = make("h2", { class: "sweep-title" });
  #hint = make("p", { class: "quiet-words sweep-hint" });
  #offers = make("div", { class: "offers", role: "group", "aria-label": "Classes" });
  #sizes = make("div", { class: "offers", role: "group", "aria-label": "Tiles at once" });
  #brushes = make("div", { class: "brushes", role: "group", "aria-label": "What a tap says" });
  #words = make("div", { class: "empty" });
  #told = make("p", { class: "quiet-words", role: "status" });
  #misses = make("p", { class: "quiet-words" });
  #confirm;
  #undo;

  constructor(box, page) {
    this.#page = page;
    const tiles = make("div", {});
    this.#grid = new Grid(tiles, page.items, {
      words: (mark) => (mark === true ? "wrong" : mark),
      brush: () => this.#brush,
      label: "Items to confirm",
    });
    this.#grid.addEventListener("confirm", () => this.confirm());
    this.#grid.addEventListener("mark", () => this.#count());
    this.#confirm = make("button", { type: "button", class: "primary", onclick: () => this.confirm() });
    this.#undo = make(
      "button",
      { type: "button", class: "plain", onclick: () => this.undo() },
      icon("undo"),
      "Undo the last grid ",
      keycap(page.keys.of("undo")),
    );
    fill(
      box,
      make("div", { class: "sweep-head" }, this.#title, this.#offers, this.#sizes, this.#hint),
      make("div", { class: "sweep-body" }, tiles, this.#words),
      this.#brushes,
      make("div", { class: "sweep-foot" }, this.#confirm, this.#undo, this.#told, this.#misses),
    );
    const look = () => this.#shown || page.views.current !== "sweep" || this.#load();
    page.outbox.addEventListener("change", look);
    page.news.addEventListener("status", look);
    page.news.addEventListener("classes", () => this.#forget());
    page.views.add("sweep", { show: () => this.show(), pressed: (event, meaning) => this.#pressed(event, meaning) });
    this.#draw({ offers: [], grid: null, misses: null, reason: "Looking for items …" });
  }

  /** Shows the grid that is there, or looks for one. */
  show() {
    if (this.#shown) this.#grid.focus();
    else this.#load({ now: true });
  }

  /** Shows a person's own choice of items, by their ids, for a class. */
  open(name, items) {
    this.#shown = null;
    this.#page.views.goto("sweep");
    this.#load({ now: true, name, items });
  }

  /** Stores the grid as it is marked, and brings the next one. */
  confirm() {
    const shown = this.#shown;
    if (!shown) return;
    const marks = new Map(this.#grid.marks);
    this.#send(shown, marks, false);
    this.#acts.push({ shown, marks });
    const right = shown.tiles.length - marks.size;
    fill(this.#told, `${right} confirmed as ${shown.name}, ${marks.size} marked.`);
    this.#shown = null;
    this.#load({ now: true });
    this.#count();
  }

  /** Takes the last grid back, all of it, and shows it as it was marked. */
  undo() {
    const act = this.#acts.pop();
    if (!act) return;
    this.#send(act.shown, act.marks, true);
    fill(this.#told, `Taken back: ${act.shown.tiles.length} items of ${act.shown.name}.`);
    this.#turn += 1; // what is being loaded comes too late
    this.#set(act.shown, act.marks);
  }

  #send({ id, name, revision, tiles }, marks, undo) {
    this.#page.outbox.add({
      path: `/api/sweeps/${id}`,
      name,
      revision,
      tiles: tiles.map((tile) => tile.item),
      wrong: undo ? [] : [...marks].map(([item, mark]) => ({ item, value: mark === true ? null : mark })),
      undo,
      shown_ms: Math.round(performance.now() - this.#since),
    });
  }

  async #load({ now = false, name = this.#class, items = null } = {}) {
    const { outbox } = this.#page;
    // What was confirmed must be stored before the next grid: it would hold the same items.
    if (outbox.records.some((record) => record.path)) {
      this.#looked = -Infinity; // as soon as it is stored
      const away = outbox.state.mode === "offline";
      return this.#nothing(
        away ? "The server is away. Your grid is kept here and sent when it is back." : "Saving the grid …",
      );
    }
    if (!now && performance.now() - this.#looked < AGAIN) return;
    this.#looked = performance.now();
    const turn = (this.#turn += 1);
    const query = new URLSearchParams({ n: items ? Math.min(MOST, items.length + 2) : this.#size });
    if (name) query.set("class", name);
    if (items) query.set("items", items.slice(0, MOST).join(","));
    try {
      const found = await get(`/api/sweep?${query}`);
      outbox.link(true);
      if (turn === this.#turn) this.#draw(found);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#class = null; // it may be gone
      this.#nothing(`There is no grid now: ${error.message}.`);
    }
  }

  #draw({ offers, grid, misses, reason, state }) {
    const chosen = grid?.name;
    fill(
      this.#offers,
      ...offers.map(({ name, count }) =>
        make(
          "button",
          {
            type: "button",
            class: "plain small",
            "aria-pressed": String(name === chosen),
            onclick: () => this.#choose(name),
          },
          make("span", { class: "label" }, name),
          ` ${count}`,
        ),
      ),
    );
    this.#drawSizes();
    const percent = (value) => `${Math.round(100 * value)}\u00a0%`; // never on two lines
    fill(
      this.#misses,
      misses?.shown
        ? `Known items missed: ${misses.missed} of ${misses.shown} (between ${percent(misses.low)} and ` +
            `${percent(misses.high)})${state === "halved" ? "; grids are smaller for a while" : ""}.`
        : "",
    );
    if (grid) this.#set(grid);
    else this.#nothing(reason);
  }

  #set(grid, marks = new Map()) {
    this.#shown = grid;
    this.#since = performance.now();
    this.#words.hidden = true;
    const sure = grid.precision === null ? "" : `; about ${Math.round(100 * grid.precision)} % should be right`;
    fill(
      this.#title,
      `${grid.tiles.length} that may be `,
      make("strong", {}, grid.name),
      make("span", { class: "quiet-words" }, sure),
    );
    const byHand = ["Choose below what a tap says, then tap what is wrong."];
    const byKeys = [
      "Mark what is wrong: click it, or point at it and press the key of its class. ",
      keycap("Enter"),
      " confirms the rest.",
    ];
    fill(this.#hint, ...(matchMedia("(hover: none) and (pointer: coarse)").matches ? byHand : byKeys));
    this.#brush = true;
    this.#drawBrushes();
    this.#grid.show(grid.tiles, marks);
    if (this.#page.views.current === "sweep") this.#grid.focus();
    this.#count();
  }

  /** For fingers, which have no keys: the next taps say this. */
  #drawBrushes() {
    const button = (mark, words) =>
      make(
        "button",
        {
          type: "button",
          class: "plain small",
          "aria-pressed": String(this.#brush === mark),
          onclick: () => {
            this.#brush = mark;
            this.#drawBrushes();
          },
        },
        make("span", { class: "label" }, words),
      );
    const others = this.#page.project.classes.filter((one) => !one.retired && one.name !== this.#shown.name);
    const focused = [...this.#brushes.children].indexOf(document.activeElement);
    fill(this.#brushes, button(true, "wrong"), ...others.map(({ name }) => button(name, name)));
    this.#brushes.children[focused]?.focus();
  }

  #nothing(words) {
    this.#shown = null;
    fill(this.#title, "Sweep");
    fill(this.#hint, "Many items of one class at once, when the model is sure of them.");
    this.#grid.show([]);
    fill(this.#brushes);
    fill(this.#words, make("p", {}, words));
    this.#words.hidden = false;
    this.#count();
  }

  #count() {
    const count = (this.#shown?.tiles.length ?? 0) - this.#grid.marks.size;
    fill(this.#confirm, `Confirm ${count} `, keycap("Enter"));
    this.#confirm.hidden = !this.#shown;
    this.#undo.disabled = !this.#acts.length;
  }

  /** How many at once: fewer are easier to look through, more need fewer actions. */
  #drawSizes() {
    const focused = [...this.#sizes.children].indexOf(document.activeElement);
    fill(
      this.#sizes,
      ...SIZES.map((size) =>
        make(
          "button",
          {
            type: "button",
            class: "plain small",
            "aria-pressed": String(size === this.#size),
            onclick: () => {
              this.#size = size;
              write(KEPT, { size });
              this.#load({ now: true });
            },
          },
          size === SIZES[0] ? `${size} at once` : `up to ${size}`,
        ),
      ),
    );
    this.#sizes.children[focused]?.focus();
  }

  #choose(name) {
    this.#class = name;
    this.#load({ now: true });
  }

  /** The classes have changed: a grid of one that is gone is of no use. */
  #forget() {
    const there = this.#page.project.classes.some((one) => one.name === this.#shown?.name && !one.retired);
    if (!there) {
      this.#class = null;
      this.#shown = null;
      if (this.#page.views.current === "sweep") this.#load({ now: true });
    }
  }

  #pressed(event, meaning) {
    if (meaning === "undo") {
      if (!event.repeat) this.undo();
      return true;
    }
    if (!this.#shown) return false;
    if (this.#grid.pressed(event)) return true;
    const { keys, project, session } = this.#page;
    if (meaning?.startsWith("class ")) {
      if (!event.repeat) this.#mark(meaning.slice(6));
      return true;
    }
    if (meaning === "find") {
      const classes = project.classes.filter((one) => !one.retired);
      findClass(
        classes.map((one) => ({ ...one, key: keys.of(`class ${one.name}`) })),
        session.recent,
        (name) => this.#mark(name),
      );
      return true;
    }
    return false;
  }

  /** Says what the tile is that the keys are for; its own class takes the mark off. */
  #mark(name) {
    const { item } = this.#grid.current;
    this.#grid.mark(item, name === this.#shown.name ? null : name);
  }
}

/** The view that finds: more like this, of a class, by words, on a map; what is chosen is labelled together. */

import { get, patient, post } from "./api.js";
import { fill, keycap, make } from "./dom.js";
import { Grid } from "./grid.js";
import { valueWords } from "./history.js";
import { PoolMap } from "./map.js";

const SHOWN = 60;

/** The view; `sweep(class, items)` opens what was chosen as a sweep. */
export class Find {
  #page;
  #sweep;
  #grid;
  #map;
  #class = null; // for what is chosen
  #turn = 0;
  #again = null; // asks once more for what is shown
  #tiles = make("div");
  #mapBox = make("div", { class: "map-box", hidden: true });
  #words = make("p", { class: "quiet-words found-words", role: "status" });
  #dock = make("div", { class: "actions", role: "toolbar", "aria-label": "What is chosen" });
  #guessed = make("div", { class: "find-class" });
  #search;
  #mapButton;

  constructor(box, page, { sweep }) {
    this.#page = page;
    this.#sweep = sweep;
    this.#grid = new Grid(this.#tiles, page.items, { words: () => "chosen", label: "Items found" });
    this.#grid.addEventListener("mark", () => this.#choice());
    this.#grid.addEventListener("confirm", () => this.#open());
    this.#map = new PoolMap(this.#mapBox);
    this.#map.addEventListener("lasso", ({ detail }) => this.#inside(detail.corners));
    this.#map.addEventListener("point", ({ detail }) => this.like(detail));
    let wait;
    this.#search = make("input", {
      type: "search",
      placeholder: "Words of a name or text",
      "aria-label": "Words of a name or text",
      autocomplete: "off",
      maxlength: 200,
      oninput: () => {
        clearTimeout(wait);
        wait = setTimeout(() => this.#byWords(), 250);
      },
    });
    this.#mapButton = make(
      "button",
      { type: "button", class: "plain", "aria-pressed": "false", onclick: () => this.#showMap() },
      "Map",
    );
    fill(
      box,
      make("div", { class: "find-top" }, this.#search, this.#guessed, this.#mapButton, this.#words),
      make("div", { class: "find-middle" }, this.#mapBox, this.#tiles),
      this.#dock,
    );
    page.news.addEventListener("classes", () => this.show());
    this.show();
  }

  /** Offers the classes; what was found before is there as it stands by now, and what was chosen of it. */
  show() {
    if (this.#again && this.#grid.tiles.length) this.#again(new Map(this.#grid.marks));
    const names = this.#names;
    if (!names.includes(this.#class)) this.#class = null;
    const select = make(
      "select",
      { "aria-label": "Items that the model would call" },
      ...names.map((name) => make("option", { value: name }, name)),
    );
    const button = (words, order) =>
      make(
        "button",
        { type: "button", class: "plain", onclick: () => select.value && this.#byClass(select.value, order) },
        words,
      );
    const task = this.#page.project.task;
    fill(
      this.#guessed,
      ...(task === "regression" ? [] : [select, button("Surest", "sure"), button("Least sure", "unsure")]),
    );
    if (!this.#grid.tiles.length && !this.#words.textContent)
      fill(this.#words, "Type words, choose a class, or draw a line around items on the map.");
    this.#choice();
  }

  /** Hears a key; says whether it was for this view. */
  pressed(event, meaning) {
    if (this.#map.pressed(event)) return true;
    if (meaning?.startsWith("class ") && this.#chosen().length) {
      this.#class = meaning.slice(6);
      this.#choice();
      return true;
    }
    return this.#grid.pressed(event);
  }

  /** Shows the items that are most like one. */
  like(item) {
    this.#page.views.current === "find" || this.#page.views.goto("find");
    const words = `like ${item.name ?? "the point on the map"}`;
    return this.#load(() => get(`/api/similar/${encodeURIComponent(item.item)}?n=${SHOWN}`), words);
  }

  get #names() {
    return this.#page.project.classes.filter((one) => !one.retired).map((one) => one.name);
  }

  #byWords() {
    const text = this.#search.value.trim();
    if (!text) return;
    const query = new URLSearchParams({ text, n: SHOWN });
    this.#load(() => get(`/api/search?${query}`), `with “${text}”`);
  }

  #byClass(name, order) {
    const query = new URLSearchParams({ class: name, order, n: SHOWN });
    const words = order === "sure" ? `that the model would call ${name}, the surest first` : `that the model would call ${name}, the least sure first`;
    this.#load(() => get(`/api/guessed?${query}`), words);
  }

  #inside(corners) {
    this.#load(() => post("/api/lasso", { corners, n: SHOWN }), "inside the line");
  }

  async #showMap() {
    const shown = this.#mapBox.hidden;
    this.#mapBox.hidden = !shown;
    this.#mapButton.setAttribute("aria-pressed", String(shown));
    if (!shown) return;
    fill(this.#words, "The map is being drawn …");
    try {
      const { points, of } = await patient(() => get("/api/map"));
      this.#map.show(points, this.#names);
      const drawn = points.length < of ? `${points.length.toLocaleString("en")} of ` : "";
      fill(this.#words, `${drawn}${of.toLocaleString("en")} items; alike ones are near each other. Draw a line around some: all items inside are found, drawn or not.`);
    } catch (error) {
      fill(this.#words, `There is no map now: ${error.message}.`);
    }
  }

  async #load(ask, words, marks = new Map()) {
    const turn = (this.#turn += 1);
    this.#again = (kept) => this.#load(ask, words, kept);
    if (!marks.size) fill(this.#words, "Looking …");
    let found;
    try {
      found = await patient(ask, () => turn === this.#turn);
    } catch (error) {
      if (turn === this.#turn) fill(this.#words, `It cannot be found now: ${error.message}.`);
      return;
    }
    if (turn !== this.#turn) return;
    const { items, of, looked_at: looked } = found;
    const all = this.#page.project.counts.items;
    const count = `${(of ?? items.length).toLocaleString("en")}${of === null && items.length === SHOWN ? " or more" : ""}`;
    const part = of === null && looked < all && items.length < SHOWN ? ` among the ${looked.toLocaleString("en")} that were looked at` : "";
    const less = of !== null && of > items.length ? `; ${items.length} of them are shown` : "";
    fill(this.#words, items.length ? `${count} items ${words}${part}${less}.` : `No item ${words}${part}.`);
    const free = new Set(items.filter((one) => one.label === null).map((one) => one.item));
    this.#grid.show(
      items.map((item) => ({ ...item, name: named(item) })),
      [...marks].filter(([item]) => free.has(item)),
    );
    items.forEach(({ label }, place) => {
      if (label !== null) this.#tiles.children[place].append(make("span", { class: "badge" }, labelWords(label)));
    });
    this.#choice();
  }

  /** The tiles that were chosen and have no label yet. */
  #chosen() {
    return this.#grid.tiles.filter(({ item, label }) => this.#grid.marks.has(item) && label === null);
  }

  #open() {
    const items = this.#chosen();
    if (!items.length || !this.#class) return;
    this.#sweep(
      this.#class,
      items.map(({ item }) => item),
    );
  }

  #all() {
    const free = this.#grid.tiles.filter(({ label }) => label === null);
    const rest = free.filter(({ item }) => !this.#grid.marks.has(item));
    for (const { item } of rest.length ? rest : free) this.#grid.mark(item); // all of them, or none again
  }

  /** What can be done with the tiles. */
  #choice() {
    const { keys, project } = this.#page;
    const chosen = this.#chosen().length;
    const some = this.#grid.tiles.length > 0;
    const button = (words, work, { key = null, off = false, kind = "quiet action" } = {}) =>
      make(
        "button",
        {
          type: "button",
          class: kind,
          disabled: off,
          onclick: work,
        },
        make("span", { class: "words" }, words),
        key && keycap(key),
      );
    const classes = make(
      "select",
      { "aria-label": "Class of the chosen", onchange: () => ((this.#class = classes.value || null), this.#choice()) },
      make("option", { value: "" }, "which class?"),
      ...this.#names.map((name) => make("option", { value: name }, label(keys, name))),
    );
    classes.value = this.#class ?? "";
    fill(
      this.#dock,
      button("Choose all", () => this.#all(), { off: !some }),
      button("More like this", () => this.#grid.current && this.like(this.#grid.current), { off: !some }),
      button("Open", () => this.#look(), { off: !some }),
      ...(project.task === "classification" && this.#sweep
        ? [
            classes,
            button(chosen ? `Sweep ${chosen} as ${this.#class ?? "…"}` : "Sweep", () => this.#open(), {
              key: "Enter",
              off: !chosen || !this.#class,
              kind: "primary action",
            }),
          ]
        : []),
    );
  }

  /** The tile that the keys are for, alone and large. */
  #look() {
    const { current } = this.#grid;
    if (!current) return;
    const given = current.label === null ? null : { verdict: "label", value: current.label };
    this.#page.openItem({ item: current.item, name: current.name, question: null, given }, "find");
  }
}

const labelWords = (label) => valueWords({ verdict: "label", value: label });
const named = ({ name, label }) => (label === null ? name : `${name}, ${labelWords(label)}`);
const label = (keys, name) => [keys.of(`class ${name}`), name].filter(Boolean).join("  ");

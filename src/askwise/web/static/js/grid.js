/** Tiles of items, many at once: looked at, marked by pointer or keys, and confirmed together. */

import { fill, make } from "./dom.js";
import { thumbnail } from "./why.js";

/** Emits "mark" after each mark ({item, mark}) and "confirm" at Enter. */
export class Grid extends EventTarget {
  tiles = []; // what is shown: {item, name, …}
  marks = new Map(); // by item: a class, or true where a tile is only marked
  #box;
  #items;
  #words;
  #brush;
  #place = 0;

  /** The grid in an element; `words` says what a mark means: (mark) => a few words under the tile.

  `brush` says which mark a click sets: a class, or true where a tile is only marked. */
  constructor(box, items, { words = () => "marked", brush = () => true, label = "Items" } = {}) {
    super();
    this.#box = box;
    this.#items = items;
    this.#words = words;
    this.#brush = brush;
    box.classList.add("grid");
    box.dataset.kind = items.kind;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", label);
  }

  /** Shows these items, with the marks they have. */
  show(tiles, marks = new Map()) {
    this.tiles = tiles;
    this.marks = new Map(marks);
    this.#place = 0;
    fill(this.#box, ...tiles.map((tile, place) => this.#tile(tile, place)));
    this.#box.scrollTop = 0;
  }

  /** The tile that the keys are for; null without any. */
  get current() {
    return this.tiles[this.#place] ?? null;
  }

  /** Puts the focus on the tile that the keys are for. */
  focus() {
    this.#box.children[this.#place]?.focus();
  }

  /** Marks a tile, or takes the mark off where it has the same already. */
  mark(item, mark = true) {
    const place = this.tiles.findIndex((tile) => tile.item === item);
    if (place < 0) return;
    if (mark === null || this.marks.get(item) === mark) this.marks.delete(item);
    else this.marks.set(item, mark);
    this.#dress(this.#box.children[place], this.tiles[place]);
    this.dispatchEvent(new CustomEvent("mark", { detail: { item, mark: this.marks.get(item) ?? null } }));
  }

  /** Hears a key; says whether it was for the grid. Arrows move, Space marks, Enter confirms. */
  pressed(event) {
    if (!this.tiles.length || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "Enter") {
      if (!event.repeat) this.dispatchEvent(new Event("confirm"));
      return true;
    }
    if (event.key === " ") {
      if (!event.repeat) this.mark(this.current.item);
      return true;
    }
    const wide = this.#columns();
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[event.key];
    const to = { Home: 0, End: this.tiles.length - 1 }[event.key] ?? this.#place + step;
    if (!Number.isInteger(to)) return false;
    if (to >= 0 && to < this.tiles.length) this.#go(to);
    this.focus();
    return true;
  }

  #go(place) {
    this.#box.children[this.#place]?.setAttribute("tabindex", "-1");
    this.#place = place;
    this.#box.children[place].setAttribute("tabindex", "0");
  }

  #columns() {
    const [first, ...others] = [...this.#box.children].map((tile) => tile.offsetTop);
    const below = others.findIndex((top) => top > first);
    return below < 0 ? this.tiles.length : below + 1;
  }

  #tile(tile, place) {
    const button = make(
      "button",
      {
        type: "button",
        class: "tile",
        tabindex: place === this.#place ? "0" : "-1",
        onclick: () => {
          this.#go(place);
          const brush = this.#brush();
          // another click takes the mark off, unless it is to say something else
          this.mark(tile.item, brush === true ? (this.marks.get(tile.item) ?? true) : brush);
        },
        onpointerenter: (event) => event.pointerType === "mouse" && this.#go(place), // a key is for what is pointed at
        onfocus: () => this.#go(place),
      },
      thumbnail(tile, this.#items, { large: true }),
      make("span", { class: "mark-words" }),
    );
    this.#dress(button, tile);
    return button;
  }

  #dress(button, tile) {
    const mark = this.marks.get(tile.item);
    const words = mark === undefined ? "" : this.#words(mark);
    button.setAttribute("aria-pressed", String(mark !== undefined));
    button.setAttribute("aria-label", words ? `${tile.name}, ${words}` : tile.name);
    fill(button.querySelector(".mark-words"), words);
  }
}

/** What can be answered: classes as buttons, tags that toggle, or a field for a number. */

import { fill, keycap, make } from "./dom.js";

const SHOWN = 36; // more classes than this are found by typing

/** The choices of one project under the item. */
export class Choices {
  #box;
  #project;
  #keys;
  #answer;
  #id;
  #buttons = new Map();
  #tags = new Set();
  #field = null;

  constructor(box, project, keys, { answer, find, id = "number" }) {
    this.#box = box;
    this.#id = id;
    this.#project = project;
    this.#keys = keys;
    this.#answer = answer;
    this.find = find;
    this.build();
  }

  /** The classes in use, those under one heading together. */
  get classes() {
    const used = this.#project.classes.filter((one) => !one.retired);
    if (!used.some((one) => one.parent)) return used;
    const first = (one) => used.findIndex((other) => (one.parent ? other.parent === one.parent : other === one));
    return used.sort((one, other) => first(one) - first(other));
  }

  /** Makes the buttons anew: the classes or keys have changed. */
  build() {
    this.#buttons.clear();
    if (this.#project.task === "regression") return this.#number();
    const multilabel = this.#project.task === "multilabel";
    const shown = this.classes.slice(0, SHOWN);
    const buttons = shown.map((one) => {
      const key = this.#keys.of(`class ${one.name}`);
      const button = make(
        "button",
        { type: "button", class: "choice", onclick: () => this.choose(one.name) },
        key && keycap(key),
        make("span", { class: "label" }, one.name),
        one.parent && make("span", { class: "quiet-words heading" }, one.parent),
      );
      this.#buttons.set(one.name, button);
      return button;
    });
    const rest = this.classes.length - shown.length;
    if (rest > 0)
      buttons.push(
        make(
          "button",
          { type: "button", class: "choice more", onclick: this.find },
          keycap("/"),
          make("span", { class: "label" }, `${rest} more`),
        ),
      );
    if (multilabel)
      buttons.push(
        make(
          "button",
          { type: "button", class: "primary done", onclick: () => this.confirm() },
          "Next ",
          keycap(this.#keys.of("next")),
        ),
      );
    this.#box.setAttribute("role", "group");
    this.#box.setAttribute("aria-label", multilabel ? "Tags" : "Classes");
    this.#box.classList.toggle("many", this.classes.length > 12);
    fill(this.#box, ...buttons);
  }

  /** Shows what was answered before, or nothing. */
  set(given) {
    const value = given?.verdict === "label" ? given.value : null;
    this.#tags = new Set(Array.isArray(value) ? value : []);
    for (const [name, button] of this.#buttons) this.#press(button, value === name || this.#tags.has(name));
    if (this.#field) {
      this.#field.value = typeof value === "number" ? String(value) : "";
      this.#field.setCustomValidity("");
    }
  }

  /** A class answers and moves on; a tag toggles. */
  choose(name) {
    if (this.#project.task !== "multilabel") return this.#answer(name);
    this.#tags[this.#tags.has(name) ? "delete" : "add"](name);
    const button = this.#buttons.get(name);
    if (button) this.#press(button, this.#tags.has(name));
    else this.#box.querySelector(".done").before(this.#extra(name));
  }

  /** Answers with the tags or the number; a class needs no confirmation. */
  confirm() {
    if (this.#project.task === "multilabel")
      this.#answer(this.classes.map((one) => one.name).filter((name) => this.#tags.has(name)));
    if (!this.#field) return;
    const number = Number(this.#field.value.trim().replace(",", "."));
    if (this.#field.value.trim() === "" || !Number.isFinite(number)) {
      this.#field.setCustomValidity("A number is wanted, for example 3.5.");
      this.#field.reportValidity();
    } else this.#answer(number);
  }

  /** Whether the number's field needs this key for itself; a digit brings the focus back to it. */
  needs(event) {
    if (!this.#field) return false;
    if (/^\d$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) this.focus();
    if (document.activeElement !== this.#field) return false;
    const moves = ["Backspace", "Delete", "ArrowLeft", "ArrowRight", "Home", "End"];
    return /^[\d.,eE+-]$/.test(event.key) || (moves.includes(event.key) && this.#field.value !== "");
  }

  /** Brings a typed number to its field. */
  focus() {
    this.#field?.focus({ preventScroll: true });
  }

  #extra(name) {
    const button = make(
      "button",
      { type: "button", class: "choice", onclick: () => this.choose(name) },
      make("span", { class: "label" }, name),
    );
    this.#buttons.set(name, button);
    this.#press(button, true);
    return button;
  }

  #press(button, pressed) {
    button.setAttribute("aria-pressed", String(pressed));
  }

  #number() {
    if (this.#field) return;
    this.#field = make("input", {
      type: "text",
      inputmode: "decimal",
      class: "number",
      id: this.#id,
      autocomplete: "off",
      "aria-label": "The number",
      placeholder: "Type a number",
      oninput: () => this.#field.setCustomValidity(""),
    });
    fill(
      this.#box,
      this.#field,
      make(
        "button",
        { type: "button", class: "primary done", onclick: () => this.confirm() },
        "Next ",
        keycap("Enter"),
      ),
    );
  }
}

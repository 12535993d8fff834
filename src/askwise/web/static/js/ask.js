/** The view that asks: one item, its choices, and what every key does. */

import { Choices } from "./choices.js";
import { changeClass, newClass } from "./classes.js";
import { askWords, findClass, showKeys } from "./dialogs.js";
import { at, fill, icon, keycap, make } from "./dom.js";
import { valueWords } from "./history.js";
import { emptyWords, hintWords } from "./words.js";
import { Viewer } from "./viewer.js";
import { explain } from "./why.js";

const FADE = [{ opacity: 0 }, { opacity: 1, offset: 0.06 }, { opacity: 1, offset: 0.7 }, { opacity: 0 }];
const HOLD = 180; // a shorter Alt is the beginning of something else, such as another window

/** The view; `page` holds project, keys, items, questions, session, status and how to fetch the project again. */
export class Ask {
  #page;
  #viewer;
  #choices;
  #buttons = {};
  #note = null;
  #why = null;
  #hold = null;
  #fading = null;

  constructor(page) {
    this.#page = page;
    this.#viewer = new Viewer(at("stage"), at("item-tools"), (id) => this.act(id));
    this.#choices = new Choices(at("choices"), page.project, page.keys, {
      answer: (value) => this.#answer("label", value),
      find: () => this.act("find"),
    });
    this.#toolbar();
    const { session, questions } = page;
    session.addEventListener("show", () => this.show());
    session.addEventListener("answer", ({ detail }) =>
      this.#said(detail.before ? `Corrected: ${valueWords(detail.given)}` : valueWords(detail.given)),
    );
    session.addEventListener("undo", ({ detail }) => this.#said(`Taken back: ${valueWords(detail.taken)}`));
    questions.addEventListener("change", () => session.shown || this.show());
    document.addEventListener("keydown", (event) => this.#pressed(event));
    document.addEventListener("keyup", (event) => event.key === "Alt" && this.#unwhy());
    addEventListener("blur", () => this.#unwhy());
  }

  /** Says what can be done with the item that is shown, which stays as it is. */
  offer() {
    this.hint();
    for (const [id, button] of Object.entries(this.#buttons)) button.disabled = !this.#possible(id);
  }

  /** Shows the item of the session, or the words for why there is none. */
  show() {
    const { session, items, project } = this.#page;
    const { shown } = session;
    this.#unwhy();
    this.#note = null;
    document.body.classList.toggle("looks-back", session.looksBack);
    document.body.classList.toggle("nothing", !shown);
    fill(at("caption"), shown ? shown.name : "");
    if (shown) this.#viewer.show(shown.name, items.content(shown), () => items.sharp(shown));
    else this.#nothing();
    this.#choices.set(shown?.given);
    this.offer();
    if (shown && project.task === "regression" && document.body.dataset.view === "ask") this.#choices.focus();
  }

  /** Shows the sentence above the choices. */
  hint() {
    fill(at("hint"), ...hintWords(this.#page, () => this.#page.leave()));
    if (!this.#page.session.shown) this.#nothing();
  }

  /** The classes or their keys have changed. */
  rebuild() {
    this.#choices.build();
    this.#toolbar();
    this.show();
  }

  /** Does what a key or a button stands for. */
  act(id) {
    const { session, keys } = this.#page;
    if (!this.#possible(id)) return;
    if (id.startsWith("class ")) return this.#choices.choose(id.slice(6));
    const work = {
      undo: () => session.undo(),
      redo: () => session.redo(),
      back: () => session.back(),
      forward: () => session.forward(),
      skip: () => this.#answer("skip"),
      unclear: () => this.#answer("unclear"),
      next: () => this.#choices.confirm(),
      larger: () => this.#viewer.zoom(1.5),
      smaller: () => this.#viewer.zoom(1 / 1.5),
      find: () =>
        findClass(
          this.#choices.classes.map((one) => ({ ...one, key: keys.of(`class ${one.name}`) })),
          session.recent,
          (name) => this.#choices.choose(name),
        ),
      add: () => newClass(this.#page, (name) => this.#choices.choose(name)),
      note: () => this.#leaveNote(),
      why: () => (this.#why ? this.#unwhy() : this.#whyThis()),
      help: () =>
        showKeys(
          keys,
          () => this.rebuild(),
          (name) => changeClass(this.#page, name),
        ),
    };
    work[id]?.();
  }

  #nothing() {
    const words = emptyWords(this.#page, () => this.act("add"));
    const before = at("stage").querySelector(".empty");
    if (before?.textContent !== words.textContent) this.#viewer.empty(words); // a button under a finger stays
  }

  #answer(verdict, value = null) {
    this.#page.session.answer(verdict, value, this.#note);
  }

  #possible(id) {
    const { session, project } = this.#page;
    if (id === "help" || (id === "add" && project.task !== "regression")) return true;
    if (id === "undo") return session.canUndo;
    if (id === "redo") return session.canRedo;
    if (id === "back" || id === "forward") return true;
    if (project.task === "regression" && (id === "add" || id === "find")) return false;
    if (id === "find") return this.#choices.classes.length > 0 && session.shown !== null;
    return session.shown !== null;
  }

  #pressed(event) {
    if (document.body.dataset.view !== "ask" || document.querySelector("dialog[open]")) return;
    if (event.key === "Alt" && !event.repeat) {
      event.preventDefault(); // otherwise some browsers open their menu
      this.#hold ??= setTimeout(() => this.#whyThis(), HOLD);
      return;
    }
    if (event.key === "Escape" && this.#page.session.looksBack) return this.#page.leave();
    const { target } = event;
    const typing = target.matches("input, textarea, select") && target.id !== "number";
    if (typing || this.#choices.needs(event)) return;
    if (target.matches("button, a") && [" ", "Enter"].includes(event.key) && target.matches(":focus-visible"))
      return; // it presses the button
    const pages = { ArrowDown: 0.15, ArrowUp: -0.15, PageDown: 0.9, PageUp: -0.9 }[event.key];
    if (pages && target === document.body) return this.#viewer.scroll(pages);
    const id = this.#page.keys.meaning(event);
    if (id === null || id === "view") return;
    event.preventDefault();
    if (event.repeat && !["back", "forward", "larger", "smaller"].includes(id)) return; // a key held down answers once
    this.act(id);
  }

  #toolbar() {
    const { keys, project } = this.#page;
    const button = (id, words) => {
      if (project.task === "regression" && (id === "add" || id === "find")) return null;
      const key = id === "why" ? "Alt" : keys.of(id);
      return (this.#buttons[id] = make(
        "button",
        {
          type: "button",
          class: "quiet action",
          "data-act": id,
          title: words,
          onclick: (event) => {
            this.act(id);
            this.#release(event);
          },
        },
        icon(id),
        make("span", { class: "words" }, words),
        key && keycap(key),
      ));
    };
    this.#buttons = {};
    fill(
      at("actions"),
      button("undo", "Undo"),
      button("skip", "Skip"),
      button("unclear", "Cannot tell"),
      button("add", "New class"),
      button("find", "Find"),
      button("note", "Note"),
      button("why", "Why?"),
    );
    at("choices").onclick = (event) => this.#release(event);
  }

  /** After a click the keys are the page's again: Space skips and does not press the button once more. */
  #release(event) {
    const { activeElement } = document;
    if (event.detail > 0 && activeElement?.matches("button") && !activeElement.closest("dialog"))
      activeElement.blur();
  }

  #leaveNote() {
    const { session } = this.#page;
    const entry = session.shown;
    askWords(
      "Note",
      {
        label: "It is stored with your answer to this item",
        value: this.#note ?? entry.given?.note ?? "",
        button: "Keep the note",
        long: true,
        most: 1000,
      },
      (words) => {
        if (entry.given) session.answer(entry.given.verdict, entry.given.value, words);
        else {
          this.#note = words;
          this.#said(words ? "The note goes with your answer." : "No note.");
        }
      },
    );
  }

  async #whyThis() {
    const { session, items } = this.#page;
    const entry = session.shown;
    if (!entry || this.#why) return;
    const box = (this.#why = make(
      "div",
      { class: "why-box", role: "region", "aria-label": "What the model thinks" },
      make("p", {}, "Asking the model …"),
    ));
    at("ask").append(box);
    this.#buttons.why?.setAttribute("aria-expanded", "true");
    const { known, element } = await explain(entry, items);
    if (this.#why !== box) return;
    fill(box, element);
    if (known) session.assist(entry.item);
    if (known) box.append(make("p", { class: "quiet-words" }, "Your answer will be marked as assisted."));
    const like = { type: "button", class: "plain small", onclick: () => this.#page.moreLike(entry) };
    box.append(make("button", like, "More like this"));
  }

  #unwhy() {
    clearTimeout(this.#hold);
    this.#hold = null;
    this.#why?.remove();
    this.#why = null;
    this.#buttons.why?.setAttribute("aria-expanded", "false");
  }

  #said(words) {
    this.#fading?.cancel();
    this.#fading = fill(at("said"), words).animate(FADE, 1600);
  }
}

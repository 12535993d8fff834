/** Every answer, newest first: searched, filtered, corrected. */

import { get } from "./api.js";
import { fill, icon, make } from "./dom.js";
import { thumbnail } from "./why.js";

const PAGE = 50;
const VERDICTS = { skip: "skipped", unclear: "cannot tell", retract: "taken back" };

/** The list of answers; `correct` opens one. */
export class History {
  #items;
  #correct;
  #list = make("ol", { class: "answers" });
  #more = make(
    "button",
    { type: "button", class: "plain", onclick: () => this.#load(true) },
    "Earlier answers",
  );
  #words = make("p", { class: "quiet-words", role: "status" });
  #search;
  #filter;
  #everybody = null;
  #before = null;
  #turn = 0;

  constructor(box, items, { correct, owner = false }) {
    this.#items = items;
    if (owner)
      this.#everybody = make(
        "select",
        { "aria-label": "Whose answers", onchange: () => this.show() },
        make("option", { value: "" }, "Mine"),
        make("option", { value: "1" }, "Everybody's"),
      );
    this.#correct = correct;
    let wait;
    this.#search = make("input", {
      type: "search",
      "aria-label": "Search names and notes",
      placeholder: "Search names and notes",
      oninput: () => {
        clearTimeout(wait);
        wait = setTimeout(() => this.show(), 200);
      },
    });
    this.#filter = make("select", { "aria-label": "Class", onchange: () => this.show() });
    fill(
      box,
      make("div", { class: "filters" }, this.#search, this.#filter, this.#everybody),
      this.#words,
      this.#list,
      this.#more,
    );
  }

  /** Offers these classes as a filter. */
  classes(classes) {
    const chosen = this.#filter.value;
    fill(
      this.#filter,
      make("option", { value: "" }, "All classes"),
      ...classes.map((one) => make("option", { value: one.name }, one.name)),
    );
    this.#filter.value = chosen;
  }

  /** Loads the newest answers that fit. */
  show() {
    this.#before = null;
    return this.#load(false);
  }

  async #load(more) {
    const turn = (this.#turn += 1);
    const query = new URLSearchParams({ n: PAGE });
    if (this.#search.value.trim()) query.set("text", this.#search.value.trim());
    if (this.#filter.value) query.set("class", this.#filter.value);
    if (this.#everybody?.value) query.set("everybody", "true");
    if (more && this.#before !== null) query.set("before", this.#before);
    let page;
    try {
      page = await get(`/api/history?${query}`);
    } catch (error) {
      if (turn === this.#turn) fill(this.#words, `The answers cannot be shown now: ${error.message}.`);
      return;
    }
    if (turn !== this.#turn) return;
    const rows = page.answers.map((answer) => this.#row(answer));
    if (more) this.#list.append(...rows);
    else fill(this.#list, ...rows);
    this.#before = page.answers.at(-1)?.revision ?? this.#before;
    this.#more.hidden = !page.more;
    fill(
      this.#words,
      this.#list.children.length
        ? ""
        : this.#search.value || this.#filter.value
          ? "No answer fits."
          : "No answer yet.",
    );
  }

  #row(answer) {
    const badge = (words) => make("span", { class: "badge" }, words);
    return make(
      "li",
      { "data-revision": answer.revision },
      thumbnail(answer, this.#items),
      make(
        "div",
        { class: "told" },
        make("p", { class: answer.verdict === "label" ? "answer" : "answer faint" }, valueWords(answer)),
        make("p", { class: "quiet-words" }, answer.name),
        answer.note && make("p", { class: "note" }, answer.note),
      ),
      make(
        "div",
        { class: "meta" },
        answer.assisted && badge("assisted"),
        make(
          "span",
          { class: "quiet-words" },
          [answer.annotator, when(answer.at)].filter(Boolean).join(", "),
        ),
      ),
      make(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-label": `Correct ${answer.name}`,
          onclick: () => this.#correct(answer),
        },
        icon("correct"),
        "Correct",
      ),
    );
  }
}

/** An answer in words: its class, its tags, its number, or why it has none. */
export function valueWords({ verdict, value }) {
  if (verdict !== "label") return VERDICTS[verdict] ?? verdict;
  return Array.isArray(value) ? value.join(", ") || "no tag" : String(value);
}

/** A time in words, short where it is today. */
export function when(at) {
  if (!at) return "";
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return String(at);
  const today = time.toDateString() === new Date().toDateString();
  return time.toLocaleString(
    [],
    today ? { hour: "2-digit", minute: "2-digit" } : { dateStyle: "medium", timeStyle: "short" },
  );
}

/** The owner's view of the others: links, who answered what and when, agreement, the last word, what was done. */

import { get, post } from "./api.js";
import { open } from "./dialogs.js";
import { draw, fill, make } from "./dom.js";
import { valueWords, when } from "./history.js";
import { uuid } from "./outbox.js";
import { thumbnail } from "./why.js";

const HERE = ["127.0.0.1", "localhost", "[::1]"];
const MARGIN = 4; // modules around a QR code, as readers want it

/** The view; it is loaded anew each time it is shown. */
export class People {
  #page;
  #parts = {
    trouble: make("p", { class: "trouble", role: "alert" }),
    people: make("ul", { class: "answers people" }),
    agreement: make("div", { class: "agreement" }),
    queue: make("ol", { class: "answers" }),
    acts: make("ol", { class: "answers acts" }),
  };
  #name = make("input", { type: "text", id: "person", maxlength: 60, autocomplete: "off" });

  constructor(box, page) {
    this.#page = page;
    const { trouble, people, agreement, queue, acts } = this.#parts;
    const give = (event) => {
      event.preventDefault();
      this.#change({ name: this.#name.value.trim(), access: true }).then((done) => {
        if (done) this.#name.value = "";
      });
    };
    fill(
      box,
      trouble,
      make("h2", {}, "People"),
      people,
      make(
        "form",
        { class: "filters", onsubmit: give },
        make("label", { for: "person" }, "Somebody else"),
        this.#name,
        make("button", { class: "primary" }, "Give a link"),
      ),
      make("h2", {}, "Agreement"),
      agreement,
      queue,
      make("h2", {}, "What was done"),
      acts,
    );
  }

  /** Loads everything. */
  async show() {
    await this.#tried(async () => {
      const [people, agreement] = await Promise.all([get("/api/people"), get("/api/agreement")]);
      this.#people(people);
      this.#agreement(agreement);
    });
  }

  /** Gives access or takes it; says whether it was done. */
  #change(change) {
    return this.#tried(async () => this.#people(await post("/api/people", change)));
  }

  async #tried(work) {
    try {
      await work();
      fill(this.#parts.trouble);
      return true;
    } catch (error) {
      fill(this.#parts.trouble, `${error.message}.`);
      return false;
    }
  }

  #people({ people, acts }) {
    fill(this.#parts.people, ...people.map((one) => this.#person(one)));
    const line = (act) =>
      make(
        "li",
        {},
        make("p", { class: "told" }, [act.act, act.about].filter(Boolean).join(": ")),
        make("span", { class: "quiet-words" }, [act.by, when(act.at)].filter(Boolean).join(", ")),
      );
    fill(this.#parts.acts, ...acts.map(line));
    if (!acts.length) fill(this.#parts.acts, make("li", { class: "quiet-words" }, "Nothing yet."));
  }

  #person(one) {
    const facts = [
      `${one.answers.toLocaleString("en")} answers`,
      one.last && `last ${when(one.last)}`,
      one.held > 0 && `holds ${one.held}`,
    ];
    return make(
      "li",
      { "data-person": one.name },
      make(
        "div",
        { class: "told" },
        make("p", { class: "answer" }, one.name || "nobody named"),
        make("p", { class: "quiet-words" }, facts.filter(Boolean).join(", ")),
      ),
      one.owner && make("span", { class: "badge" }, "owner"),
      !one.access && make("span", { class: "badge" }, "no access"),
      one.access &&
        !one.owner &&
        make("button", { type: "button", class: "plain", onclick: () => showLink(one) }, "Link"),
      one.access &&
        !one.owner &&
        make("button", { type: "button", class: "plain", onclick: () => this.#remove(one) }, "Remove"),
    );
  }

  #remove({ name }) {
    const done = () => {
      shut();
      this.#change({ name, access: false });
    };
    const { shut } = open(`Remove ${name}`, [
      make("p", {}, "Their link stops working at once, and what they hold is free again. Their answers stay."),
      make("button", { type: "button", class: "primary", onclick: done }, `Remove ${name}`),
    ]);
  }

  #agreement({ items, same, krippendorff, fleiss, pairs, disagreements, waiting }) {
    const beyond = [
      krippendorff !== null && `Krippendorff's alpha ${krippendorff.toFixed(2)}`,
      fleiss !== null && `Fleiss' kappa ${fleiss.toFixed(2)}`,
    ].filter(Boolean);
    const pair = (one) =>
      make(
        "li",
        {},
        `${one.first} and ${one.second}: ${one.items} items, `,
        one.cohen === null ? "all of one class" : `Cohen's kappa ${one.cohen.toFixed(2)}`,
      );
    fill(
      this.#parts.agreement,
      make(
        "p",
        {},
        items
          ? `${items} items have several blind answers; ${Math.round(100 * same)} % of them are alike.`
          : "No item has two blind answers. With overlap = 0.1 in the plan one question in ten is asked twice.",
      ),
      beyond.length > 0 && make("p", {}, `Beyond chance: ${beyond.join(", ")}.`),
      pairs.length > 0 && make("ul", { class: "pairs" }, ...pairs.map(pair)),
      waiting > 0 && make("p", {}, make("strong", {}, `${waiting} wait for your word:`)),
    );
    fill(this.#parts.queue, ...disagreements.map((one) => this.#differ(one)));
  }

  #differ(one) {
    const say = (verdict, value) =>
      this.#tried(async () => {
        await post("/api/resolutions", { key: uuid(), item: one.item, verdict, value });
        this.#agreement(await get("/api/agreement"));
      });
    const answer = (said) =>
      make(
        "button",
        {
          type: "button",
          class: "plain",
          onclick: () => say(said.verdict, said.verdict === "label" ? said.value : null),
        },
        `${said.annotator}: ${valueWords(said)}`,
      );
    const { project } = this.#page;
    const others = project.task === "classification" && this.#others(say);
    return make(
      "li",
      { "data-item": one.item },
      thumbnail(one, this.#page.items),
      make("div", { class: "told" }, make("p", { class: "quiet-words" }, one.name)),
      ...one.answers.map(answer),
      others,
    );
  }

  #others(say) {
    const used = this.#page.project.classes.filter((one) => !one.retired);
    return make(
      "select",
      {
        "aria-label": "Another class",
        onchange: ({ target }) => target.value && say("label", target.value),
      },
      make("option", { value: "" }, "another"),
      ...used.map((one) => make("option", { value: one.name }, one.name)),
    );
  }
}

function showLink({ name, link, qr }) {
  const field = make("input", { type: "text", readonly: true, id: "link", "aria-label": "The link" });
  field.value = link;
  open(`The link of ${name}`, [
    make("p", {}, "Whoever has it answers in this name. On a phone, point the camera at the code."),
    field,
    HERE.includes(location.hostname) &&
      make("p", { class: "quiet-words" }, "This address is of this machine alone: start with --host or --public."),
    qr && code(qr),
  ]);
  field.select();
}

/** A QR code from its rows of modules, dark on white whatever the theme. */
function code(rows) {
  const size = rows.length + 2 * MARGIN;
  const dark = rows.flatMap((row, y) =>
    [...row].flatMap((one, x) => (one === "1" ? [`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`] : [])),
  );
  return draw(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "The link as a QR code" },
    draw("rect", { width: size, height: size, fill: "#fff" }),
    draw("path", { d: dark.join(""), fill: "#000" }),
  );
}

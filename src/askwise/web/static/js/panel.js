/** The side panel: how far it is, how good it is, what to do next. */

import { get } from "./api.js";
import { curve } from "./curve.js";
import { fill, make, share } from "./dom.js";
import { thumbnail } from "./why.js";

const BARS = 12;
const FOR_A_JOURNEY = 60;

const COLD = {
  classification: "Waiting for two classes",
  multilabel: "Waiting for two different answers",
  regression: "Waiting for two different numbers",
};
const MODEL = {
  encoding: "Reading the items",
  learning: "Learning",
  steady: "Steady: new answers change little",
};

/** The panel of one project; `open` shows an item of the gallery. */
export class Panel {
  #parts = {};
  #drawn = {}; // what each part was drawn from
  #project;
  #items;
  #open;
  #looked = -1;
  #looking = false;

  constructor(box, project, items, { open, stock }) {
    this.#project = project;
    this.#items = items;
    this.#open = open;
    const part = (name, title) =>
      make(
        "section",
        { id: `panel-${name}` },
        title && make("h2", {}, title),
        (this.#parts[name] = make("div")),
      );
    fill(
      box,
      part("next"),
      part("numbers"),
      part("learning", "The model"),
      project.task === "regression" ? null : part("balance", "Labels by class"),
      part("unsure", "What it is unsure about"),
      make("section", {}, make("h2", {}, "Without the server"), this.#journey(stock)),
    );
    // Numbers and tags have no accuracy; what they have is told with the first status.
    const measure = project.task === "classification" ? null : { name: "quality", value: null, said: "" };
    this.show({ labels: project.counts.labelled, balance: [], curve: [], measure, seen: 0, given: 0, next: "" });
  }

  /** Shows a status of the server. */
  show(status) {
    const {
      next,
      labels,
      accuracy,
      measure,
      forecast,
      speed,
      curve: points,
      model,
      trainer,
      seen,
      given,
      encoding,
      encoder,
      encoders,
      balance,
    } = status;
    this.#draw("next", [next], () => [
      make("p", { class: "next" }, next || "Answer what is asked; the model learns meanwhile."),
    ]);
    this.#draw("numbers", [labels, accuracy, measure, forecast, speed, points], () => [
      ...this.#numbers(status),
      curve(points ?? []),
    ]);
    this.#draw("learning", [model, trainer, seen, given, encoding, encoder, encoders], () => this.#learning(status));
    if (this.#parts.balance) this.#draw("balance", [balance], () => [this.#balance(balance ?? [])]);
    this.#parts.unsure.parentElement.hidden = !["learning", "steady"].includes(status.model);
    if (!this.#parts.unsure.parentElement.hidden && status.seen !== this.#looked) this.#gallery(status.seen);
  }

  /** Draws a part anew if what it stands on has changed. */
  #draw(name, facts, parts) {
    const now = JSON.stringify(facts);
    if (this.#drawn[name] === now) return;
    this.#drawn[name] = now;
    fill(this.#parts[name], ...parts());
  }

  #numbers({ labels, accuracy, measure, forecast, speed, curve: points }) {
    const number = (value, words) =>
      make(
        "div",
        { class: "number-box" },
        make("p", { class: value === "—" ? "figure none" : "figure" }, value),
        make("p", { class: "quiet-words" }, words),
      );
    const last = points?.findLast((point) => typeof point.accuracy === "number");
    const percent = (value) => `${(value * 100).toFixed(0)} %`;
    const three = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
    const known = accuracy?.value ?? last?.accuracy ?? null;
    return [
      make(
        "div",
        { class: "numbers" },
        number(labels.toLocaleString("en"), `labels of ${this.#project.counts.items.toLocaleString("en")}`),
        measure
          ? number(measure.value === null ? "—" : three(measure.value), measure.name)
          : number(known === null ? "—" : percent(known), "accuracy"),
        number(speed ? String(Math.round(speed.per_minute)) : "—", "answers a minute"),
      ),
      make(
        "p",
        { class: "quiet-words" },
        measure
          ? measure.said
          : accuracy
            ? accuracy.said
            : known === null
              ? "The accuracy is not known yet."
              : `The accuracy is that at ${last.labels} labels.`,
      ),
      forecast ? make("p", { class: "quiet-words" }, `${forecast[0].toUpperCase()}${forecast.slice(1)}.`) : null,
    ];
  }

  #learning({ model, trainer, seen, given, encoding, encoder, encoders }) {
    const words =
      trainer === "restarting"
        ? "The trainer starts again; your answers are safe."
        : model === "cold"
          ? COLD[this.#project.task]
          : (MODEL[model] ?? "Starting");
    const lines = [make("p", {}, words)];
    if (given) {
      lines.push(
        share(
          make("div", {
            class: "meter",
            role: "progressbar",
            "aria-label": "Answers the model has seen",
            "aria-valuemin": 0,
            "aria-valuemax": given,
            "aria-valuenow": Math.min(seen, given),
          }),
          seen / given,
        ),
        make("p", { class: "quiet-words" }, `It has seen ${seen} of ${given} answers.`),
      );
    }
    if (encoding) lines.push(...encodingLines(encoding));
    if (encoder) lines.push(make("p", { class: "quiet-words" }, features(encoder, encoding)));
    if (encoders) lines.push(make("p", { class: "quiet-words" }, `Encoders: ${encoders}.`));
    return lines;
  }

  #balance(balance) {
    if (!balance.length) return make("p", { class: "quiet-words" }, "No label yet.");
    const most = Math.max(1, ...balance.map((one) => one.count));
    const sorted = [...balance].sort((one, other) => other.count - one.count);
    const rest = sorted.slice(BARS);
    const line = ({ name, count }) =>
      make(
        "li",
        {},
        make("span", { class: "label" }, name),
        share(make("span", { class: "bar" }), count / most),
        make("span", { class: "value" }, String(count)),
      );
    return make(
      "ul",
      { class: "bars" },
      ...sorted.slice(0, BARS).map(line),
      rest.length
        ? make(
            "li",
            { class: "quiet-words" },
            `${rest.length} more classes with ${rest.reduce((sum, one) => sum + one.count, 0)} labels`,
          )
        : null,
    );
  }

  async #gallery(seen) {
    if (this.#looking) return;
    this.#looking = true;
    setTimeout(() => (this.#looking = false), 4000); // a later status asks again
    const { items } = await get("/api/unsure?n=12").catch(() => ({ items: null }));
    if (!items) return;
    this.#looked = seen;
    // The guess stays hidden: a person who has seen it no longer answers blind.
    const tile = (item) =>
      make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            class: "tile",
            "aria-label": `Open ${item.name}`,
            title: item.name,
            onclick: () => this.#open(item),
          },
          thumbnail(item, this.#items),
        ),
      );
    fill(
      this.#parts.unsure,
      items.length
        ? make("ul", { class: "tiles" }, ...items.map(tile))
        : make("p", { class: "quiet-words" }, "Nothing now."),
    );
  }

  #journey(stock) {
    const words = make(
      "p",
      { class: "quiet-words" },
      "Answers wait in this browser while the server is away. More questions can be loaded before that.",
    );
    const button = make(
      "button",
      {
        type: "button",
        class: "plain",
        onclick: async () => {
          button.disabled = true;
          const loaded = await stock(FOR_A_JOURNEY, (so) => fill(words, `${so} questions so far …`));
          button.disabled = false;
          fill(words, `${loaded} questions are loaded.`);
        },
      },
      `Load the next ${FOR_A_JOURNEY}`,
    );
    return make("div", {}, words, button);
  }
}

/** Whose features the model works with, and what follows. */
function features(encoder, encoding) {
  const next = encoding?.then ?? (encoding && encoding.encoder !== encoder ? encoding.encoder : null);
  const later = next && next !== encoder ? `; it moves to ${next} once that has seen all items` : "";
  return `It works with the features of ${encoder}${later}.`;
}

/** How far the encoding is, as a bar and a sentence. */
export function encodingLines({ done, of, seconds_left: left, encoder }) {
  const time =
    typeof left !== "number"
      ? ""
      : left > 90
        ? `, about ${Math.round(left / 60)} minutes left`
        : `, about ${Math.ceil(left)} seconds left`;
  return [
    share(
      make("div", {
        class: "meter",
        role: "progressbar",
        "aria-label": "Items encoded",
        "aria-valuemin": 0,
        "aria-valuemax": of,
        "aria-valuenow": done,
      }),
      done / of,
    ),
    make(
      "p",
      { class: "quiet-words" },
      `${done.toLocaleString("en")} of ${of.toLocaleString("en")} items encoded${encoder ? ` by ${encoder}` : ""}${time}.`,
    ),
  ];
}

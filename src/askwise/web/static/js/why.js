/** Why this one: the model's guess, its uncertainty and the nearest labelled items. */

import { get } from "./api.js";
import { fill, make, share } from "./dom.js";

/** A promise of the element that explains an item, or of a sentence why there is none yet. */
export async function explain(item, items) {
  let why;
  try {
    why = await get(`/api/items/${encodeURIComponent(item.item)}/why`);
  } catch (error) {
    return {
      known: false,
      element: make(
        "p",
        {},
        error.status === 409
          ? "There is no model yet. Answer a few items of two classes first."
          : `Not known now: ${error.message}.`,
      ),
    };
  }
  const percent = (value) => `${Math.round(value * 100)} %`;
  const bar = ({ name, p }) =>
    make(
      "li",
      {},
      make("span", { class: "label" }, name),
      share(make("span", { class: "bar" }), p),
      make("span", { class: "value" }, percent(p)),
    );
  const part = (name, words) =>
    typeof why.uncertainty?.[name] === "number" && [
      make("dt", { title: words }, name),
      make("dd", {}, why.uncertainty[name].toFixed(2)),
    ];
  const guess =
    typeof why.guess === "number" ? why.guess.toPrecision(4) : [why.guess].flat().join(", ") || "none";
  const element = make(
    "div",
    { class: "why" },
    make("p", { class: "guess" }, "Its guess: ", make("strong", {}, guess)),
    make("ul", { class: "bars" }, ...(why.probabilities ?? []).map(bar)),
    make("h3", {}, "Uncertainty"),
    make(
      "dl",
      { class: "parts" },
      ...[
        part("total", "all of it"),
        part("epistemic", "what more labels can take away"),
        part("aleatoric", "what stays: the item itself is unclear"),
      ]
        .filter(Boolean)
        .flat(),
    ),
    why.neighbours?.length ? make("h3", {}, "Nearest labelled items") : null,
    make(
      "ul",
      { class: "tiles" },
      ...(why.neighbours ?? []).map((near) =>
        make("li", {}, thumbnail(near, items), make("span", { class: "label" }, String(near.label))),
      ),
    ),
  );
  return { known: true, element };
}

/** A small form of an item that fills itself when it is loaded; a large one has more pixels and words. */
export function thumbnail(item, items, { large = false } = {}) {
  const box = make("span", { class: "thumb" });
  items.small(item, large ? 320 : 160).then((content) => {
    if (content.image) {
      const image = content.image.cloneNode();
      image.alt = item.name;
      fill(box, image);
    } else fill(box, make("span", { class: "snippet" }, snippet(content, item, large)));
  });
  return box;
}

function snippet(content, item, large) {
  if (content.row)
    return content.row
      .slice(0, large ? 6 : 3)
      .map(([name, value]) => `${name}: ${value}`)
      .join(", ");
  return content.text?.slice(0, large ? 320 : 140) || item.name;
}

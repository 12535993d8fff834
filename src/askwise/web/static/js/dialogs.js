/** The small windows: find a class, name a new one, leave a note, see and change the keys. */

import { fill, keycap, make } from "./dom.js";

/** Opens a window over the page; returns it and the way to shut it. */
export function open(title, children, { wide = false } = {}) {
  const dialog = make(
    "dialog",
    { "aria-labelledby": "dialog-title", class: wide ? "wide" : false, onclose: () => dialog.remove() },
    make(
      "div",
      { class: "dialog-head" },
      make("h2", { id: "dialog-title" }, title),
      make("button", { type: "button", class: "quiet", onclick: () => shut() }, "Close ", keycap("Esc")),
    ),
    ...children,
  );
  // It is gone at once, so that the next key, however soon, is the page's again.
  const shut = () => {
    dialog.close();
    dialog.remove();
  };
  dialog.addEventListener("click", (event) => event.target === dialog && shut()); // a click beside it
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    shut();
  });
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, shut };
}

/** Lets the person find a class by typing; `pick` hears its name. */
export function findClass(classes, recent, pick) {
  let found = [];
  let active = 0;
  const list = make("ul", { class: "found", role: "listbox", id: "found", "aria-label": "Classes" });
  const input = make("input", {
    type: "text",
    role: "combobox",
    "aria-label": "Find a class",
    "aria-controls": "found",
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Type a part of the name",
    oninput: () => search(),
    onkeydown: (event) => move(event),
  });
  const choose = (name) => {
    shut();
    pick(name);
  };
  const show = () => {
    fill(
      list,
      ...found.map((one, place) =>
        make(
          "li",
          {
            role: "option",
            id: `found-${place}`,
            "aria-selected": String(place === active),
            onclick: () => choose(one.name),
          },
          make("span", { class: "label" }, one.name),
          one.parent && make("span", { class: "quiet-words" }, one.parent),
          one.latest && make("span", { class: "quiet-words" }, "recent"),
          one.key && keycap(one.key),
        ),
      ),
    );
    if (!found.length)
      fill(
        list,
        make(
          "li",
          { class: "quiet-words", role: "option", "aria-selected": "false", "aria-disabled": "true" },
          "No class has this name.",
        ),
      );
    input.setAttribute("aria-activedescendant", found.length ? `found-${active}` : "");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  };
  const search = () => {
    [found, active] = [ranked(classes, recent, input.value), 0];
    show();
  };
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) active = (active + step + found.length) % Math.max(1, found.length);
    else if (event.key === "Enter" && found[active])
      return (event.preventDefault(), choose(found[active].name));
    else return;
    event.preventDefault();
    show();
  };
  const { shut } = open("Find a class", [input, list]);
  search();
  input.focus();
}

/** The classes that fit what was typed, best first; with nothing typed the recent ones lead. */
export function ranked(classes, recent, typed) {
  const sought = typed.trim().toLowerCase();
  if (!sought) {
    const lead = recent.map((name) => classes.find((one) => one.name === name)).filter(Boolean);
    return [
      ...lead.map((one) => ({ ...one, latest: true })),
      ...classes.filter((one) => !lead.includes(one)),
    ];
  }
  const rank = ({ name, parent }) => {
    const low = name.toLowerCase();
    if (low === sought) return 0;
    if (low.startsWith(sought)) return 1;
    if (low.split(/[\s_\-/.]+/).some((word) => word.startsWith(sought))) return 2;
    if (low.includes(sought)) return 3;
    if ((parent ?? "").toLowerCase().startsWith(sought)) return 3.5;
    let at = 0;
    for (const letter of low) if (letter === sought[at]) at += 1;
    return at === sought.length ? 4 : null;
  };
  const scored = classes.map((one) => ({ one, score: rank(one) })).filter(({ score }) => score !== null);
  return scored.sort((one, other) => one.score - other.score).map(({ one }) => one);
}

/** Asks for one line of words; `save` hears it and may return a sentence why not. */
export function askWords(
  title,
  { label, value = "", button, hint = null, long = false, most = 120, instead = null },
  save,
) {
  const field = make(long ? "textarea" : "input", {
    id: "words",
    maxlength: most,
    rows: long ? 4 : null,
    type: long ? null : "text",
    autocomplete: "off",
  });
  const trouble = make("p", { class: "trouble", role: "alert" });
  field.value = value;
  const say = async (value) => {
    const words = await save(value);
    if (words) fill(trouble, words);
    else shut();
  };
  const submit = (event) => {
    event.preventDefault();
    return say(field.value.trim());
  };
  const form = make(
    "form",
    { onsubmit: submit },
    make("label", { for: "words" }, label),
    field,
    hint && make("p", { class: "quiet-words" }, hint),
    trouble,
    make("button", { class: "primary" }, button),
    instead && make("button", { type: "button", class: "plain", onclick: () => say(instead.value) }, instead.words),
  );
  if (long)
    field.addEventListener("keydown", (event) => event.key === "Enter" && !event.shiftKey && submit(event));
  const { shut } = open(title, [form]);
  field.focus();
}

/** Shows all keys; each can be changed, and so can a class, by `change`. */
export function showKeys(keys, changed, change) {
  const said = make("p", { class: "trouble", role: "alert" });
  const table = make("ul", { class: "keys" });
  let waiting = null;
  const row = (binding) => {
    const begin = () => {
      if (waiting) build();
      waiting = binding.id;
      fill(button, make("em", {}, "press a key")).focus();
      fill(said);
    };
    const button = make(
      "button",
      { type: "button", class: "quiet", "aria-label": `Change the key of ${binding.words}`, onclick: begin },
      binding.key ? keycap(binding.key) : "none",
    );
    const named = () => {
      shut();
      change(binding.name);
    };
    const other =
      binding.name &&
      make(
        "button",
        {
          type: "button",
          class: "quiet quiet-words",
          "aria-label": `Change the class ${binding.name}`,
          onclick: named,
        },
        "Change",
      );
    return make("li", {}, make("span", { class: "label" }, binding.words), other, button);
  };
  const build = () => {
    const place = [...table.children].findIndex((line) => line.contains(document.activeElement));
    waiting = null;
    fill(table, ...keys.all().map(row));
    table.children[place]?.querySelector("button").focus();
  };
  const reset = make(
    "button",
    {
      type: "button",
      class: "plain",
      onclick: () => {
        keys.reset();
        build();
        changed();
      },
    },
    "Take all changes back",
  );
  const { dialog, shut } = open(
    "Classes and keys",
    [
      make(
        "p",
        {},
        "Click a key to change it. Hold ",
        keycap("Alt"),
        " to see what the model thinks; such an answer is marked as assisted. ",
        keycap("Ctrl"),
        " ",
        keycap("Z"),
        " undoes too.",
      ),
      said,
      table,
      reset,
    ],
    { wide: true },
  );
  dialog.addEventListener(
    "keydown",
    (event) => {
      if (waiting === null) return;
      if (event.key !== "Escape" && event.key !== "Tab") {
        const trouble = keys.change(waiting, event);
        fill(said, trouble ?? "");
        event.preventDefault();
        if (trouble !== null) return;
        changed();
      } else if (event.key === "Escape") event.preventDefault();
      build();
    },
    true,
  );
  build();
}

/** Elements built one by one: text is always text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/** A new element; `on…` attributes are listeners, false and null attributes are left out. */
export function make(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** A new SVG element. */
export function draw(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

/** The element of index.html with this id. */
export function at(id) {
  return document.getElementById(id);
}

/** Puts these children in the place of all others. */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** A number between 0 and 1 as the length of a bar. */
export function share(element, value) {
  element.style.setProperty("--share", String(Math.min(1, Math.max(0, value || 0))));
  return element;
}

const PATHS = {
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  skip: "M5 5l8 7-8 7zM18 5v14",
  unclear: "M9.2 9a3 3 0 0 1 5.8 1c0 2-3 2.6-3 4M12 18h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18",
  add: "M12 5v14M5 12h14",
  find: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M20 20l-4-4",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5M8.5 9h7M8.5 13h3",
  why: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5",
  theme: "M20 14.5A8.5 8.5 0 1 1 9.5 4a6.8 6.8 0 0 0 10.5 10.5",
  keys: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  correct: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  smaller: "M6 12h12",
  whole: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
};

/** One of the page's line icons; it says nothing to a screen reader. */
export function icon(name) {
  return draw(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    draw("path", { d: PATHS[name] }),
  );
}

/** A key as it is printed on a keyboard. */
export function keycap(key) {
  return make("kbd", {}, keyWords(key));
}

const WORDS = {
  " ": "Space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Backspace: "⌫",
  "Shift+Backspace": "⇧ ⌫",
  Enter: "↵",
  "-": "−",
};

/** The name of a key in words or a sign. */
export function keyWords(key) {
  return WORDS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : value);
  }
  return fill(element, ...children);
}

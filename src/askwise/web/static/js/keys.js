/** Which key does what: the server's keys for classes, the page's for the rest, and the person's own over both. */

const ACTIONS = [
  { id: "undo", key: "Backspace", words: "Undo the last answer" },
  { id: "redo", key: "Shift+Backspace", words: "Redo: give it again" },
  { id: "skip", key: " ", words: "Skip: it comes back at the end" },
  { id: "unclear", key: "-", number: "u", words: "Cannot tell: stored, not learnt from" },
  { id: "add", key: "+", number: null, words: "None of these: a new class" },
  { id: "find", key: "/", number: null, words: "Find a class by typing" },
  { id: "note", key: ".", number: "n", words: "Leave a note" },
  { id: "back", key: "ArrowLeft", words: "Look at the earlier answer" },
  { id: "forward", key: "ArrowRight", words: "Look forward" },
  { id: "next", key: "Enter", words: "Confirm tags or a number" },
  { id: "larger", key: "]", words: "Zoom in" },
  { id: "smaller", key: "[", words: "Zoom out" },
  { id: "view", key: "Tab", words: "The next view: Ask, Sweep, Check, Find" },
  { id: "help", key: "?", words: "All keys" },
];

const BROWSERS_OWN =
  /^(Tab|Escape|F\d+|Home|End|PageUp|PageDown|Dead|Unidentified|Process|ContextMenu|CapsLock|Insert|Delete|ArrowUp|ArrowDown)$/;

/** The name of the key that was pressed, the same with caps lock; null for a lone modifier. */
export function keyName(event) {
  const { key } = event;
  if (["Shift", "Control", "Alt", "Meta", "AltGraph"].includes(key)) return null;
  if (key.length === 1) return key.toLowerCase();
  return event.shiftKey ? `Shift+${key}` : key;
}

/** The keys of one project. */
export class Keys {
  #name;
  #own;
  #classes = [];
  #number;

  constructor(project) {
    this.#name = `askwise keys ${project.name}`;
    this.#own = read(this.#name);
    this.#number = project.task === "regression";
    this.classes(project.classes);
  }

  /** Hears which classes there are now. */
  classes(classes) {
    this.#classes = this.#number ? [] : classes.filter((one) => !one.retired);
  }

  /** Every binding: {id, key, words}, classes first. */
  all() {
    const actions = ACTIONS.map(({ id, key, number, words }) => ({
      id,
      words,
      key: this.#number && number !== undefined ? number : key,
    }));
    const classes = this.#classes.map((one) => ({
      id: `class ${one.name}`,
      name: one.name,
      words: one.name,
      key: one.key || null,
    }));
    const own = (binding) => ({
      ...binding,
      key: binding.id in this.#own ? this.#own[binding.id] : binding.key,
    });
    return [...classes, ...actions].map(own).filter((binding) => binding.key !== null || binding.name);
  }

  /** The key of an action or of `class NAME`; null where it has none. */
  of(id) {
    return this.all().find((binding) => binding.id === id)?.key ?? null;
  }

  /** What a key press means: an id, or null. */
  meaning(event) {
    const pressed = keyName(event);
    if (event.isComposing || pressed === null || event.altKey) return null;
    if (event.ctrlKey || event.metaKey) return pressed === "z" ? (event.shiftKey ? "redo" : "undo") : null;
    const bindings = this.all();
    const found = bindings.find((binding) => binding.key === pressed);
    if (found) return found.id;
    // On French keyboards the digits need a shift: there the place of the key counts.
    const digit = /^Digit(\d)$/.exec(event.code)?.[1];
    return bindings.find((binding) => binding.name && binding.key === digit)?.id ?? null;
  }

  /** Gives a key to an id; returns a sentence where that cannot be. */
  change(id, event) {
    const pressed = keyName(event);
    if (pressed === null) return "";
    if (event.ctrlKey || event.metaKey || event.altKey || BROWSERS_OWN.test(pressed.replace("Shift+", "")))
      return "The browser uses this key itself; choose another.";
    const holder = this.all().find((binding) => binding.key === pressed && binding.id !== id);
    if (holder) return `This key is taken: ${holder.words}.`;
    this.#own[id] = pressed;
    write(this.#name, this.#own);
    return null;
  }

  /** Takes all changes back. */
  reset() {
    this.#own = {};
    write(this.#name, this.#own);
  }
}

/** A JSON object of this browser's storage; empty where there is none. */
export function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

/** Keeps a JSON object in this browser's storage, where it lets us. */
export function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A choice that cannot be kept lasts until the page is closed.
  }
}

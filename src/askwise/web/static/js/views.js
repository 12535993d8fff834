/** The views of the page: which there are, which one is shown, and the key that goes to the next. */

const ROUND = ["ask", "sweep", "check", "find"]; // what the key goes through

/** Emits "leave" before a person goes to another view. */
export class Views extends EventTarget {
  #keys;
  #known = new Map();

  constructor(keys) {
    super();
    this.#keys = keys;
    for (const tab of document.querySelectorAll("[data-goto]"))
      tab.addEventListener("click", () => this.#leave(tab.dataset.goto));
    document.addEventListener("keydown", (event) => this.#pressed(event), { capture: true });
  }

  /** The name of the view that is shown. */
  get current() {
    return document.body.dataset.view;
  }

  /** Registers a view, so that its tab is there.

  `show` is called each time it is gone to; `pressed(event, meaning)` hears the keys while it is shown and
  nothing is typed, with what the key means (keys.js) or null, and says whether it took the key. */
  add(name, { show = () => {}, pressed = null } = {}) {
    this.#known.set(name, { show, pressed });
    this.offer(name, true);
  }

  /** Shows or hides the tab of a view; a view that is hidden is left. */
  offer(name, offered) {
    document.querySelector(`[data-goto=${name}]`).hidden = !offered;
    if (!offered && this.current === name) this.goto("ask");
  }

  /** Shows a view. */
  goto(name) {
    if (this.current !== name) {
      document.body.dataset.view = name;
      for (const tab of document.querySelectorAll("[data-goto]")) {
        if (tab.dataset.goto === name) tab.setAttribute("aria-current", "page");
        else tab.removeAttribute("aria-current");
      }
      const shown = name === "progress" ? "ask" : name; // beside the panel, on a desk
      for (const section of document.querySelectorAll("main > section"))
        section.hidden = section.id !== shown;
    }
    this.#known.get(name)?.show();
  }

  #leave(name) {
    this.dispatchEvent(new Event("leave"));
    this.goto(name);
  }

  #pressed(event) {
    if (document.querySelector("dialog[open]")) return;
    const { target } = event;
    const free = target === document.body || target.matches("#stage, .grid .tile");
    const meaning = this.#keys.meaning(event);
    if (meaning === "view") {
      const offered = ROUND.filter((name) => !document.querySelector(`[data-goto=${name}]`).hidden);
      // On a button or in a field the key goes to the next one, as everywhere.
      if ((event.key === "Tab" && !free) || offered.length < 2) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.repeat) return;
      document.activeElement?.blur();
      this.#leave(offered[(offered.indexOf(this.current) + 1) % offered.length]);
      return;
    }
    if (target.matches("input, textarea, select")) return;
    if (target.matches("button, a") && !free && [" ", "Enter"].includes(event.key)) return; // it presses the button
    if (this.#known.get(this.current)?.pressed?.(event, meaning)) event.preventDefault();
  }
}

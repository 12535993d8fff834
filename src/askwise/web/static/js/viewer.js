/** One item on the stage: a picture to zoom and move, a text to read and search, or a row of values. */

import { fill, icon, make } from "./dom.js";

const CLOSEST = 12;

/** The stage and the small tools beside its caption. */
export class Viewer {
  #stage;
  #tools;
  #wanted = ""; // searched words stay for the texts that follow
  #zoom = null;
  #turn = 0;

  constructor(stage, tools, swipe) {
    this.#stage = stage;
    this.#tools = tools;
    this.#gestures(swipe);
  }

  /** Shows what `loading` promises; an item that came later wins. `sharper` fetches more pixels for a close look. */
  async show(name, loading, sharper) {
    const turn = (this.#turn += 1);
    const slow = setTimeout(() => this.#words(make("p", { class: "loading" }, "Loading …")), 250);
    const content = await loading;
    clearTimeout(slow);
    if (turn !== this.#turn) return;
    this.#zoom = null;
    if (content.image) this.#picture(name, content.image, sharper);
    else if (content.row) this.#row(content.row);
    else if (typeof content.text === "string") this.#text(content.text);
    else
      this.#words(
        make(
          "p",
          { class: "loading" },
          `This item cannot be shown: ${content.trouble ?? "it is empty"}. Skip it, or say that you cannot tell.`,
        ),
      );
  }

  /** Shows something else than an item. */
  empty(...children) {
    this.#turn += 1;
    this.#words(...children);
  }

  /** Zooms by a factor, at the middle of the stage or at a point of it. */
  zoom(factor, point = null) {
    const zoom = this.#zoom;
    if (!zoom) return;
    const box = this.#stage.getBoundingClientRect();
    const [x, y] = point ? [point.x - box.left - box.width / 2, point.y - box.top - box.height / 2] : [0, 0];
    const scale = Math.min(CLOSEST, Math.max(1, zoom.scale * factor));
    const ratio = scale / zoom.scale;
    Object.assign(zoom, { scale, x: x - (x - zoom.x) * ratio, y: y - (y - zoom.y) * ratio });
    this.#place();
    if (scale > 1.4 && Math.max(zoom.image.naturalWidth, zoom.image.naturalHeight) >= 1024)
      this.#sharpen(zoom);
  }

  /** Scrolls a long text by some share of the stage. */
  scroll(pages) {
    this.#stage.scrollBy({ top: pages * this.#stage.clientHeight });
  }

  #words(...children) {
    this.#zoom = null;
    fill(this.#tools);
    this.#stage.dataset.kind = "words";
    fill(this.#stage, ...children);
    this.#stage.scrollTop = 0;
  }

  #picture(name, image, sharper) {
    image.alt = name;
    image.classList.toggle("tiny", image.naturalWidth <= 96 && image.naturalHeight <= 96);
    this.#stage.dataset.kind = "image";
    this.#zoom = { image, name, sharper, scale: 1, x: 0, y: 0 };
    fill(this.#stage, image);
    const tool = (name, words, work) =>
      make(
        "button",
        { type: "button", class: "quiet square", "aria-label": words, title: words, onclick: work },
        icon(name),
      );
    fill(
      this.#tools,
      tool("smaller", "Zoom out", () => this.zoom(1 / 1.5)),
      make("output", { class: "scale", "aria-label": "Zoom" }, "100 %"),
      tool("add", "Zoom in", () => this.zoom(1.5)),
      tool("whole", "Whole picture", () => this.zoom(0)),
    );
    this.#place();
  }

  async #sharpen(zoom) {
    const { sharper } = zoom;
    zoom.sharper = null; // once is enough
    const found = await sharper?.().catch(() => null);
    if (!found || this.#zoom !== zoom) return;
    found.image.alt = zoom.name;
    zoom.image = found.image;
    fill(this.#stage, found.image);
    this.#place();
  }

  #place() {
    const { image, scale } = this.#zoom;
    const within = (value, side) =>
      Math.min(((scale - 1) * side) / 2, Math.max(((1 - scale) * side) / 2, value));
    if (scale > 1) {
      // a whole picture needs no measuring, which would hold up the painting
      this.#zoom.x = within(this.#zoom.x, this.#stage.clientWidth);
      this.#zoom.y = within(this.#zoom.y, this.#stage.clientHeight);
    } else this.#zoom.x = this.#zoom.y = 0;
    image.style.transform =
      scale === 1 ? "" : `translate(${this.#zoom.x}px, ${this.#zoom.y}px) scale(${scale})`;
    this.#stage.classList.toggle("zoomed", scale > 1);
    this.#tools.querySelector("output")?.replaceChildren(`${Math.round(scale * 100)} %`);
  }

  #text(text) {
    this.#stage.dataset.kind = "text";
    const article = make("article", { class: "text", dir: "auto" });
    const search = make("input", {
      type: "search",
      placeholder: "Find in the text",
      "aria-label": "Find in the text",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => mark((this.#wanted = search.value)),
    });
    const count = make("output", { class: "scale", "aria-label": "Places found" });
    search.value = this.#wanted;
    const mark = (wanted) => {
      const places = fill(article, highlighted(text, wanted)).querySelectorAll("mark");
      fill(count, wanted ? `${places.length} found` : "");
      places[0]?.scrollIntoView({ block: "center" });
    };
    fill(this.#tools, count, search);
    fill(this.#stage, article);
    this.#stage.scrollTop = 0;
    mark(this.#wanted);
  }

  #row(row) {
    this.#stage.dataset.kind = "row";
    fill(this.#tools);
    const line = ([name, value]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, String(name)),
        make("td", { dir: "auto" }, value === null ? "—" : String(value)),
      );
    fill(this.#stage, make("table", { class: "row" }, make("tbody", {}, ...row.map(line))));
    this.#stage.scrollTop = 0;
  }

  #gestures(swipe) {
    const stage = this.#stage;
    const fingers = new Map();
    let start = null;
    const distance = () => {
      const [one, other] = [...fingers.values()];
      return Math.hypot(one.x - other.x, one.y - other.y);
    };
    stage.addEventListener(
      "wheel",
      (event) => {
        if (!this.#zoom) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 300), { x: event.clientX, y: event.clientY });
      },
      { passive: false },
    );
    stage.addEventListener("dblclick", (event) =>
      this.zoom(this.#zoom?.scale > 1 ? 0 : 2.5, { x: event.clientX, y: event.clientY }),
    );
    stage.addEventListener("pointerdown", (event) => {
      if (!this.#zoom || event.button !== 0) return;
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      start =
        fingers.size === 1
          ? { x: event.clientX, y: event.clientY, touch: event.pointerType === "touch" }
          : null;
      stage.setPointerCapture(event.pointerId);
    });
    stage.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last || !this.#zoom) return;
      const apart = fingers.size === 2 ? distance() : 0;
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      Object.assign(last, { x: event.clientX, y: event.clientY });
      if (apart) this.zoom(distance() / apart, last);
      else if (this.#zoom.scale > 1) {
        this.#zoom.x += dx;
        this.#zoom.y += dy;
        this.#place();
      }
    });
    const lift = (event) => {
      if (
        !fingers.delete(event.pointerId) ||
        !start?.touch ||
        this.#zoom?.scale > 1 ||
        event.type === "pointercancel"
      )
        return;
      const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
      if (dy < -80 && Math.abs(dx) < 60) swipe("skip");
      else if (start.x < 40 && dx > 80 && Math.abs(dy) < 60) swipe("undo");
    };
    stage.addEventListener("pointerup", lift);
    stage.addEventListener("pointercancel", lift);
  }
}

/** The text as nodes, with what is searched marked. */
function highlighted(text, wanted) {
  if (!wanted) return [text];
  const nodes = [];
  const [low, sought] = [text.toLowerCase(), wanted.toLowerCase()];
  // Some letters grow when they are made small; then only equal spelling counts.
  const [where, what] = low.length === text.length ? [low, sought] : [text, wanted];
  let from = 0;
  for (let found = where.indexOf(what); found >= 0; found = where.indexOf(what, from)) {
    nodes.push(text.slice(from, found), make("mark", {}, text.slice(found, found + what.length)));
    from = found + what.length;
  }
  return [...nodes, text.slice(from)];
}

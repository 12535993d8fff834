/** The pool on its two principal axes: points in the colours of their labels, and a line around some of them. */

import { fill, make } from "./dom.js";

const EDGE = 14; // pixels around the points
const STEP = 0.04; // of the map, by which an arrow key moves the circle
const CORNERS = 28; // of the circle that the keys move
const NEAR = 12; // pixels within which a click means a point

/** Emits "lasso" ({corners}) when a line was closed, and "point" ({item}) when a point was clicked. */
export class PoolMap extends EventTarget {
  #canvas = make("canvas", {
    class: "map",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "map",
    "aria-label":
      "Map of the pool. Draw a line around items, or move the circle with the arrow keys, change its size with the keys [ and ], and press Enter.",
  });
  #legend = make("ul", { class: "legend" });
  #points = [];
  #colours = new Map();
  #line = []; // corners in shares of the map
  #circle = null; // {x, y, r}, while the keys are used

  constructor(box) {
    super();
    fill(box, this.#canvas, this.#legend);
    new ResizeObserver(() => this.draw()).observe(this.#canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributes: true });
    this.#gestures();
  }

  /** Shows these points, in the colours of these classes. */
  show(points, classes) {
    this.#points = points;
    this.#colours = new Map(classes.map((name, place) => [name, place]));
    const seen = new Set(points.map((point) => point.label));
    const entry = (words, place) => {
      const dot = make("span", { class: "dot", "aria-hidden": "true" });
      dot.style.setProperty("background", this.#colour(place));
      return make("li", {}, dot, words);
    };
    fill(
      this.#legend,
      ...classes.filter((name) => seen.has(name)).map((name) => entry(name, this.#colours.get(name))),
      seen.has(null) && entry("no label", undefined),
    );
    this.draw();
  }

  /** Hears a key while the map has the focus; says whether it was for the map. */
  pressed(event) {
    if (document.activeElement !== this.#canvas || event.ctrlKey || event.metaKey || event.altKey) return false;
    const circle = this.#circle ?? { x: 0.5, y: 0.5, r: 0.15 };
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    const size = { "[": 1 / 1.25, "]": 1.25 }[event.key] ?? 1;
    if (event.key === "Enter" && this.#circle) this.#tell(this.#line);
    else if (dx || dy || size !== 1) {
      this.#circle = {
        x: within(circle.x + dx * STEP),
        y: within(circle.y + dy * STEP),
        r: Math.min(0.8, Math.max(0.02, circle.r * size)),
      };
      const { x, y, r } = this.#circle;
      this.#line = Array.from({ length: CORNERS }, (_, place) => {
        const angle = (2 * Math.PI * place) / CORNERS;
        return [x + r * Math.cos(angle), y + r * Math.sin(angle)];
      });
      this.draw();
    } else return false;
    return true;
  }

  /** Draws everything anew. */
  draw() {
    const { clientWidth: wide, clientHeight: high } = this.#canvas;
    if (!wide || !high) return;
    const sharp = devicePixelRatio || 1;
    Object.assign(this.#canvas, { width: wide * sharp, height: high * sharp });
    const pen = this.#canvas.getContext("2d");
    pen.scale(sharp, sharp);
    const labelled = this.#points.filter((point) => point.label !== null);
    for (const point of [...this.#points.filter((one) => one.label === null), ...labelled]) {
      const [x, y] = this.#pixels(point.x, point.y);
      pen.globalAlpha = point.label === null ? 0.45 : 0.95;
      pen.fillStyle = this.#colour(this.#colours.get(point.label));
      pen.beginPath();
      pen.arc(x, y, point.label === null ? 2.4 : 4, 0, 2 * Math.PI);
      pen.fill();
    }
    if (this.#line.length < 2) return;
    pen.globalAlpha = 1;
    pen.strokeStyle = getComputedStyle(this.#canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const [x, y] of this.#line) pen.lineTo(...this.#pixels(x, y));
    pen.closePath();
    pen.stroke();
  }

  #tell(corners) {
    this.dispatchEvent(new CustomEvent("lasso", { detail: { corners } }));
  }

  #gestures() {
    let from = null;
    const place = (event) => {
      const box = this.#canvas.getBoundingClientRect();
      return [
        (event.clientX - box.left - EDGE) / (box.width - 2 * EDGE),
        (event.clientY - box.top - EDGE) / (box.height - 2 * EDGE),
      ];
    };
    this.#canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = event;
      this.#circle = null;
      this.#line = [place(event)];
      this.#canvas.setPointerCapture(event.pointerId);
    });
    this.#canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.#line.push(place(event).map((value) => Math.min(1.5, Math.max(-0.5, value))));
      if (this.#line.length > 400) this.#line = this.#line.filter((_, number) => number % 2 === 0);
      this.draw();
    });
    this.#canvas.addEventListener("pointerup", (event) => {
      if (!from) return;
      const moved = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY);
      const [line, still] = [this.#line, moved < 5 && this.#line.length < 8];
      from = null;
      if (still) {
        this.#line = [];
        const near = this.#nearest(line[0]);
        if (near) this.dispatchEvent(new CustomEvent("point", { detail: near }));
      } else if (line.length > 2) this.#tell(line);
      this.draw();
    });
    this.#canvas.addEventListener("pointercancel", () => (from = null));
  }

  #nearest([x, y]) {
    const [left, top] = this.#pixels(x, y);
    const apart = (point) => {
      const [px, py] = this.#pixels(point.x, point.y);
      return Math.hypot(px - left, py - top);
    };
    const [best] = this.#points
      .map((point) => ({ point, far: apart(point) }))
      .sort((one, other) => one.far - other.far);
    return best && best.far < NEAR ? best.point : null;
  }

  #pixels(x, y) {
    const { clientWidth: wide, clientHeight: high } = this.#canvas;
    return [EDGE + x * (wide - 2 * EDGE), EDGE + y * (high - 2 * EDGE)];
  }

  #colour(place) {
    const root = getComputedStyle(document.documentElement);
    const dark = root.colorScheme === "dark" || (root.colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    if (place === undefined) return dark ? "#a4aab0" : "#5a5f64";
    return `hsl(${(place * 137.5 + 12) % 360} 70% ${dark ? 66 : 40}%)`;
  }
}

const within = (value) => Math.min(1, Math.max(0, value));

/** The learning curve: accuracy over labels as a small drawing. */

import { draw } from "./dom.js";

const [WIDTH, HEIGHT] = [300, 132];
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 8, 10, 22];

/** An SVG of the points {labels, accuracy}; null with fewer than two. */
export function curve(points) {
  const known = points.filter((point) => typeof point.accuracy === "number");
  if (known.length < 2) return null;
  const most = known.at(-1).labels || 1;
  const least = Math.min(0.9, Math.floor(Math.min(...known.map((point) => point.accuracy)) * 10) / 10);
  const x = (labels) => LEFT + (labels / most) * (WIDTH - LEFT - RIGHT);
  const y = (accuracy) => TOP + (1 - (accuracy - least) / (1 - least)) * (HEIGHT - TOP - BOTTOM);
  const place = (point) => `${x(point.labels).toFixed(1)} ${y(point.accuracy).toFixed(1)}`;
  const line = `M${known.map(place).join("L")}`;
  const last = known.at(-1);
  const level = (value) => [
    draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    draw("text", { x: LEFT - 6, y: y(value) + 3.5, "text-anchor": "end" }, `${Math.round(value * 100)} %`),
  ];
  return draw(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `Accuracy over labels: ${Math.round(last.accuracy * 100)} % at ${last.labels} labels`,
    },
    ...[least, (least + 1) / 2, 1].flatMap(level),
    draw("path", { class: "area", d: `${line}L${x(most)} ${y(least)}L${x(known[0].labels)} ${y(least)}Z` }),
    draw("path", { class: "line", d: line }),
    draw("circle", { cx: x(last.labels), cy: y(last.accuracy), r: 3.5 }),
    draw("text", { x: LEFT, y: HEIGHT - 6 }, "0"),
    draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, `${most} labels`),
  );
}

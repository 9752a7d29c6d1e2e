// An array of values as a small picture.

import { h, s } from "./dom.js";

/** The array as grey levels, odd values crossed out. */
export function picture(value) {
  const rows = value.picture.map((row) => row.match(/../g) || []);
  const [width, height] = [rows[0].length, rows.length];
  const canvas = h("canvas", {
    class: "value-picture", width, height, role: "img",
    "aria-label": `picture of ${value.shape} values from ${value.min} to ${value.max}`,
  });
  const cell = Math.max(2, Math.min(12, Math.floor(224 / Math.max(width, height))));
  canvas.style.width = `${width * cell}px`;
  canvas.style.height = `${height * cell}px`;
  const pen = canvas.getContext("2d");
  rows.forEach((row, y) => row.forEach((level, x) => {
    const grey = 255 - parseInt(level, 16) * 0.86;
    pen.fillStyle = level === "xx" ? "#b3261e" : `rgb(${grey} ${grey} ${grey})`;
    pen.fillRect(x, y, 1, 1);
  }));
  return h("figure", { class: "value" }, canvas, h("figcaption", {}, caption(value)));
}

/** The histogram: the number of elements in each of equal parts between the ends. */
export function bars(value) {
  const most = Math.max(...value.bars);
  const [width, height] = [9, 44];
  const rows = value.bars.map((count, place) => {
    const tall = count && Math.max(1, Math.round((height * count) / most));
    return s("rect", { x: place * width, y: height - tall, width: width - 1, height: tall });
  });
  const whole = value.bars.length * width;
  const words = `${value.min} to ${value.max}, at most ${most.toLocaleString("en")} in a bar`;
  return h("figure", { class: "histogram" },
    s("svg", { class: "value-bars", width: whole, height, viewBox: `0 0 ${whole} ${height}`,
      role: "img", "aria-label": `histogram of values from ${words}` }, ...rows),
    h("figcaption", {}, words));
}

function caption(value) {
  const ends = "min" in value ? `, ${value.min} light, ${value.max} dark` : "";
  const odd = value.nan || value.inf ? ", red where not finite" : "";
  return `shape ${value.shape}${ends}${odd}`;
}

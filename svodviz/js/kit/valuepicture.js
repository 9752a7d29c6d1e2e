// An array of values as a small picture.

import { h } from "./dom.js";

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

function caption(value) {
  const ends = "min" in value ? `, ${value.min} light, ${value.max} dark` : "";
  const odd = value.nan || value.inf ? ", red where not finite" : "";
  return `shape ${value.shape}${ends}${odd}`;
}

// A drawing of the page as a picture of its own: light, on white, with all that style sheets say.

import { h, s } from "./dom.js";

const SPACE = 16; // around the drawing
const HEAD = 30; // for the title
const ADVANCE = 8.5; // pixels of a letter of it, about
const LARGEST = 8192; // pixels of a side: canvases above are refused by browsers
const SHARPNESS = 2;
// The styles of SVG elements: those of style sheets, and the defaults.
/** @type {Record<string, string>} */
const INHERITED = {
  fill: "rgb(0, 0, 0)", "fill-opacity": "1", stroke: "none", "stroke-width": "1px",
  "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter",
  "stroke-opacity": "1", "font-family": "", "font-size": "", "font-weight": "400",
  "font-style": "normal", "text-anchor": "start", "paint-order": "normal", visibility: "visible",
};
/** @type {Record<string, string>} */
const OWN = { opacity: "1", "dominant-baseline": "auto" };
const MIXED = /color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)[^)]*\)/;
const OURS = /^(class|style|role|tabindex|cursor|data-.*|aria-.*)$/;

/**
 * An SVG without a page: its styles are attributes, its colours those of the light theme.
 * @param {SVGElement} drawing is left as it is
 * @param {import("./geometry.js").Box} box what of it is shown
 * @param {string} title
 * @returns {string}
 */
export function pictureOf(drawing, box, title) {
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  const stage = h("div", { class: "svodviz paper", "data-theme": "light", "aria-hidden": "true" },
    copy);
  document.body.append(stage);
  try {
    const looks = new Map([copy, ...copy.querySelectorAll("*")].map((it) => [it, lookOf(it)]));
    for (const [element, look] of looks) {
      inline(element, look, looks.get(element.parentElement) ?? INHERITED);
    }
    return framed(copy, box, title, getComputedStyle(stage).getPropertyValue("--text"));
  } finally {
    stage.remove();
  }
}

/**
 * The computed style of an element at its place in the page; null if it is not visible.
 * @param {Element} element
 * @returns {Record<string, string> | null}
 */
function lookOf(element) {
  const style = getComputedStyle(element);
  const names = [...Object.keys(INHERITED), ...Object.keys(OWN)];
  if (style.display === "none" && element.tagName !== "title") return null;
  return Object.fromEntries(names.map((name) => [name, valueOf(style, name)]));
}

/**
 * Writes into an element what it looks like, as far as that is not so around it.
 * @param {Element} element @param {Record<string, string> | null} look
 * @param {Record<string, string>} around
 */
function inline(element, look, around) {
  if (!look) {
    element.remove();
    return;
  }
  for (const { name } of [...element.attributes]) {
    if (OURS.test(name)) element.removeAttribute(name);
  }
  if (element.tagName === "title") return;
  for (const [name, value] of Object.entries(look)) {
    if (value === (name in OWN ? OWN[name] : around[name])) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
  if (element.tagName === "text") element.setAttribute("xml:space", "preserve");
}

/** @param {CSSStyleDeclaration} style @param {string} name */
function valueOf(style, name) {
  // Mixed colours compute to a form that only browsers know.
  return style.getPropertyValue(name).replace(MIXED, (_, ...parts) =>
    `rgb(${parts.slice(0, 3).map((it) => Math.round(255 * it)).join(", ")})`);
}

/**
 * @param {SVGElement} copy @param {import("./geometry.js").Box} box @param {string} title
 * @param {string} ink
 */
function framed(copy, [left, top, right, bottom], title, ink) {
  const width = Math.max(right - left, ADVANCE * title.length) + 2 * SPACE;
  const height = bottom - top + 2 * SPACE + HEAD;
  const [x, y] = [left - SPACE, top - SPACE - HEAD];
  const sheet = s("svg", { xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(width),
    height: Math.ceil(height), viewBox: `${x} ${y} ${width} ${height}` },
  s("title", {}, title),
  s("rect", { x, y, width, height, fill: "#ffffff" }),
  s("text", { x: left, y: y + SPACE + 12, fill: ink, "font-family": "sans-serif",
    "font-size": 14, "font-weight": 600 }, title));
  for (const name of ["width", "height", "viewBox"]) copy.removeAttribute(name);
  const inner = s("g", {}, ...copy.childNodes);
  for (const { name, value } of [...copy.attributes]) inner.setAttribute(name, value);
  sheet.append(inner);
  return new XMLSerializer().serializeToString(sheet);
}

/**
 * The picture as a PNG, twice as sharp as on screen unless it is huge.
 * @param {string} svg
 * @returns {Promise<Blob>}
 */
export async function rasterized(svg) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(SHARPNESS, LARGEST / image.width, LARGEST / image.height);
    const canvas = h("canvas", { width: Math.ceil(image.width * scale),
      height: Math.ceil(image.height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((/** @type {Blob | null} */ blob) =>
        (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

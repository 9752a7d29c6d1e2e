// Elements without parsing markup: text reaches the page only as text nodes.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/** An HTML element. Attributes named "on…" are listeners; strings become text nodes. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A button that shows `text`; `label` is what a screen reader says where that differs. */
export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** 9640 as "9,640". */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "1 node", "2 nodes". */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** 1536 as "1.5 KiB". */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [size, unit] = [number, 0];
  while (size >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
  const digits = size >= 100 || unit === 0 ? Math.round(size) : Number(size.toPrecision(3));
  return `${digits} ${units[unit]}`;
}

/** Seconds in words of a fitting unit. */
export function duration(seconds) {
  if (!(seconds > 0)) return "0";
  if (seconds < 1e-6) return `${precise(seconds * 1e9)} ns`;
  if (seconds < 1e-3) return `${precise(seconds * 1e6)} µs`;
  return seconds < 1 ? `${precise(seconds * 1e3)} ms` : `${precise(seconds)} s`;
}

function precise(number) {
  return number >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(2)));
}

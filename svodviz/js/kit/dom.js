// Elements without parsing markup: text reaches the page only as text nodes.

import { bytes, count, counted, duration, nanoseconds } from "./words.js";

export { bytes, count, counted, duration, nanoseconds };

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | boolean | null | undefined} Child false and null are nothing
 * @typedef {Record<string, any>} Attributes
 */

/**
 * @template {Element} T
 * @param {T} node @param {Attributes} attributes @param {(Child | Child[])[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(/** @type {Node | string} */ (child));
  }
  return node;
}

/**
 * An HTML element. Attributes named "on…" are listeners; strings become text nodes.
 * @param {string} tag @param {Attributes} attributes @param {(Child | Child[])[]} children
 * @returns {any} an element of that kind
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @param {string} tag @param {Attributes} attributes @param {(Child | Child[])[]} children
 * @returns {any} an element of that kind
 */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * A button that shows `text`.
 * @param {string} text @param {(event: Event) => void} onclick @param {Attributes} attributes
 * @returns {HTMLButtonElement}
 */
export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/**
 * A small sign in the colour of the words around it: of lines, so that no font must have it.
 * @param {string} d the path
 * @returns {SVGElement}
 */
export function icon(d) {
  return s("svg", { class: "icon", width: 14, height: 14, viewBox: "0 0 16 16",
    "aria-hidden": "true" }, s("path", { d }));
}

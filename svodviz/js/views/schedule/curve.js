// Bytes alive while each item runs, in the order they run in, with the planner's figures as lines.

import { bytes, count as many, h, s } from "../../kit/dom.js";
import { scaleOf } from "./curvescale.js";

const [HIGH, LOW] = [74, 40]; // the lower one where the timeline has little room
const ROOM = 440;
const TOP = 16;

export class MemoryCurve {
  constructor(store) {
    this.store = store;
    this.schedule = store.model.schedule;
    this.words = h("div", { class: "curve-words" });
    this.svg = s("svg", { class: "curve-picture", role: "img" });
    this.root = h("div", { class: "curve" }, this.words, this.svg);
  }

  /** Lines at sizes: [class, words, bytes]; equal ones share their line. */
  lines() {
    const { plan } = this.schedule.memory;
    if (!plan) return [];
    const rows = [["planned", "planned peak", plan.peak], ["bound", "lower bound", plan.live],
      ["unplanned", "without sharing", plan.unshared]];
    const found = new Map();
    for (const [name, words, size] of rows) {
      if (found.has(size)) found.get(size)[1] += ` = ${words}`;
      else found.set(size, [name, words, size]);
    }
    return [...found.values()];
  }

  /** @param range the first and the last item that are drawn */
  draw(left, width, range) {
    const { alive, inputs, peak, plan } = this.schedule.memory;
    const [first, last] = range;
    const lines = this.lines();
    const scale = scaleOf(alive, lines.map((it) => it[2]));
    const { from, to, isBroken, beyond } = scale;
    const count = Math.max(1, last + 1 - first);
    this.x = (item) =>
      left + (Math.max(0, Math.min(count, item - first)) / count) * width;
    const room = this.root.parentElement?.clientHeight || ROOM;
    const high = room < ROOM ? LOW : HIGH;
    this.y = (size) => TOP + high - 3 - ((size - from) / (to - from)) * (high - 8);
    this.showWords(lines, inputs, peak, plan, scale);
    this.svg.setAttribute("width", left + width + 82);
    this.svg.setAttribute("height", high + TOP);
    this.mark = s("rect", { class: "curve-mark", y: TOP, height: high, visibility: "hidden" });
    const label = `bytes alive, peak ${bytes(alive[peak] ?? 0)}; ${axisWords(scale)}`;
    this.svg.setAttribute("aria-label", label);
    this.svg.replaceChildren(...[
      this.mark, ...this.area(thinned(alive, range, width), from),
      ...lines.filter((it) => !beyond.includes(it[2])).map(([name, , size]) => s("path", {
        class: `curve-line ${name}`, d: `M${left} ${this.y(size)}H${left + width}`,
      })),
      ...this.peakMark(peak < first || peak > last ? -1 : peak, alive[peak] ?? 0),
      s("text", { class: "curve-scale", x: left - 6, y: TOP + 8 }, bytes(to)),
      s("text", { class: "curve-scale", x: left - 6, y: TOP + high - 2 },
        from ? bytes(from) : "0"),
      isBroken && breakMark(left, TOP + high),
      s("text", { class: "curve-scale first", x: left, y: 10 },
        `item ${many(first)}`),
      count > 1 && s("text", { class: "curve-scale", x: left + width, y: 10 },
        `item ${many(last)}`),
      this.target(left, width, range, high),
    ].filter(Boolean));
    this.light();
  }

  /** @param rows sizes, and where each ends @param from where the scale begins */
  area(rows, from) {
    if (!rows.length) return [];
    const bottom = this.y(from);
    const steps = rows.map(([size, end]) => `V${this.y(size)}H${this.x(end)}`).join("");
    return [
      s("path", { class: "curve-area", d: `M${this.x(0)} ${bottom}${steps}V${bottom}z` }),
      s("path", { class: "curve-edge", d: `M${this.x(0)} ${bottom}${steps}V${bottom}` }),
    ];
  }

  peakMark(peak, size) {
    if (peak < 0) return [];
    const x = (this.x(peak) + this.x(peak + 1)) / 2;
    const y = this.y(size);
    return [s("path", { class: "curve-peak", d: `M${x} ${y}l-5 -8h10z` })];
  }

  /** Follows the pointer over the curve: the item under it is highlighted, a click selects it. */
  target(left, width, [first, last], high) {
    const itemAt = (event) => {
      const x = event.clientX - this.svg.getBoundingClientRect().left;
      const item = first + Math.floor(((x - left) / width) * (last + 1 - first));
      return this.schedule.items[Math.max(first, Math.min(last, item))]?.e ?? -1;
    };
    return s("rect", {
      class: "curve-target", x: left, y: 0, width, height: TOP + high,
      onmousemove: (event) => this.store.hover(itemAt(event)),
      onclick: (event) => { event.stopPropagation(); this.store.select(itemAt(event)); },
    });
  }

  showWords(lines, inputs, peak, plan, scale) {
    const { alive } = this.schedule.memory;
    const item = this.schedule.items[peak];
    const entry = (name, words) => h("span", { class: "curve-entry" },
      s("svg", { width: 26, height: 10, "aria-hidden": "true" },
        s("path", { class: `curve-line ${name}`, d: "M0 5H26" })), words);
    this.words.replaceChildren(
      h("span", {}, "Bytes alive while each item runs, in order, without inputs"
        + (inputs ? ` (${bytes(inputs)})` : "")),
      h("span", {}, `▼ peak ${bytes(alive[peak] ?? 0)} at ${item ? item.name : "no item"}`),
      ...lines.map(([name, words, size]) =>
        entry(name, `${words} ${bytes(size)}${placeOf(size, scale)}`)),
      scale.isBroken ? h("span", { class: "curve-broken" }, `≈ ${axisWords(scale)}`) : "",
      ...(plan ? [] : [h("span", {}, "no memory plan")]),
    );
  }

  light() {
    if (!this.mark) return;
    const { hovered, selected } = this.store;
    const { itemOf } = this.schedule;
    const item = itemOf.get(hovered) || itemOf.get(selected);
    const [from, to] = item ? [this.x(item.position), this.x(item.position + 1)] : [0, 0];
    this.mark.setAttribute("visibility", to > from ? "visible" : "hidden");
    this.mark.setAttribute("x", from);
    this.mark.setAttribute("width", Math.max(2, to - from));
  }
}

/** Sizes and where each ends, at most two for a pixel: of more the largest of each few. */
function thinned(alive, [first, last], width) {
  const step = Math.max(1, Math.floor((last + 1 - first) / (2 * width)));
  const rows = [];
  for (let item = first; item <= last && item < alive.length; item += step) {
    const end = Math.min(item + step, last + 1);
    rows.push([Math.max(...alive.slice(item, end)), end]);
  }
  return rows;
}

/** The place of a size that is not on the scale, in words. */
function placeOf(size, { to, beyond }) {
  if (!beyond.includes(size)) return "";
  return size > to ? ", above the scale" : ", below the scale";
}

/** The meaning of the axis, in words. */
function axisWords({ from, to, isBroken }) {
  return isBroken ? `axis broken: from ${bytes(from)}, not 0, to ${bytes(to)}`
    : `axis from 0 to ${bytes(to)}`;
}

/** Two strokes across the foot of an axis that does not begin at 0. */
function breakMark(x, bottom) {
  const stroke = (y) => `M${x - 5} ${y + 3}l10 -5`;
  return s("path", { class: "curve-break", d: stroke(bottom - 8) + stroke(bottom - 12) });
}

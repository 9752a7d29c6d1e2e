// Arrows from nodes that a rewrite removed to their replacements.

import { s } from "../../kit/dom.js";
import { arrow } from "../../kit/geometry.js";

const MOST_ARROWS = 24; // in one picture; with more of them none could be followed
const BOW = 26;

/**
 * Pairs of nodes of a picture: one that is shown as removed, and what took its place. Where that
 * was replaced later, the last one. None where there are too many to distinguish. Pure.
 * @param {{rewrites: [number, number, number][]}} record a pass: rules, entities before and after
 * @param {number} step as in passreplay.js: -1 for the whole pass
 * @param {{byEntity: Map<number, any>}} picture
 * @returns {[any, any][]}
 */
export function replacementsOf({ rewrites }, step, { byEntity }) {
  const last = step < 0 ? rewrites.length : step;
  const played = rewrites.slice(step < 0 ? 0 : Math.max(0, step - 1), last);
  const became = new Map(played.map(([, before, after]) => [before, after]));
  /** @param {number} entity */
  const end = (entity) => {
    const seen = new Set([entity]);
    let at = became.get(entity);
    while (at !== undefined && became.has(at) && !seen.has(at)) {
      seen.add(at);
      at = became.get(at);
    }
    return at;
  };
  const pairs = [...became.keys()].map((it) => [byEntity.get(it), byEntity.get(end(it) ?? -1)]);
  const found = pairs.filter(([from, to]) => from && to && from !== to
    && from.mark === "removed" && to.mark !== "removed");
  return found.length > MOST_ARROWS ? [] : /** @type {[any, any][]} */ (found);
}

/**
 * The point where the line from the middle of a box to a point leaves the box. Pure.
 * @param {import("../../kit/geometry.js").Box} box
 * @param {number} x
 * @param {number} y
 * @returns {[number, number]}
 */
export function borderOf([left, top, right, bottom], x, y) {
  const [midX, midY] = [(left + right) / 2, (top + bottom) / 2];
  const [dx, dy] = [x - midX, y - midY];
  const part = Math.min((right - left) / 2 / Math.abs(dx || 1e-9),
    (bottom - top) / 2 / Math.abs(dy || 1e-9), 1);
  return [midX + dx * part, midY + dy * part];
}

/** The arrow of a pair, bowed so that no edge hides it. Pure are the functions above and below. */
export function replacementArrow([from, to]) {
  const { d } = arrow(pathBetween(from.box, to.box));
  return s("path", { class: "replacement", d },
    s("title", {}, `${from.row.op} became ${to.row.op}`));
}

/**
 * The path from one box to another; between two that stand close side by side it leads over them.
 * @param {import("../../kit/geometry.js").Box} from
 * @param {import("../../kit/geometry.js").Box} to
 */
export function pathBetween(from, to) {
  const middle = (box) => [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  const gap = Math.max(to[0] - from[2], from[0] - to[2]);
  if (gap > -BOW && gap < BOW && from[1] < to[3] && to[1] < from[3]) {
    const [x1, x2] = [middle(from)[0], middle(to)[0]];
    const over = Math.min(from[1], to[1]) - BOW;
    return `M${x1} ${from[1]}C${x1} ${over} ${x2} ${over} ${x2} ${to[1]}`;
  }
  const [x1, y1] = borderOf(from, ...middle(to));
  const [x2, y2] = borderOf(to, ...middle(from));
  const long = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [bx, by] = [((y2 - y1) / long) * BOW, ((x1 - x2) / long) * BOW];
  const at = (part) => `${x1 + (x2 - x1) * part + bx} ${y1 + (y2 - y1) * part + by}`;
  return `M${x1} ${y1}C${at(0.3)} ${at(0.7)} ${x2} ${y2}`;
}

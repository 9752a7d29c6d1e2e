// Places parts of a graph: open groups as frames around a layout of their own. Pure.

import { placeInLayers, route } from "./layers.js";

/** @typedef {import("./layers.js").Point} Point */
/**
 * @typedef {Object} Arrangement
 * @property {Point[]} places upper left corner of each part
 * @property {string[]} routes path of each link
 * @property {{frame: number, x: number, y: number, w: number, h: number}[]} frames
 */

const INSET = 14; // between a frame and what stands in it
const HEAD = 22; // room for a frame's words

/**
 * @param {Point[]} boxes width and height of each part
 * @param {{from: number, to: number}[]} links
 * @param {number[]} frameOf the frame that each part stands in, -1 for none
 * @param {(Point | undefined)[]} near where parts stood in another layout; only without frames
 * @returns {Arrangement}
 */
export function arrange(boxes, links, frameOf, near = []) {
  /** @type {Map<number, number[]>} */
  const members = new Map();
  frameOf.forEach((frame, part) => {
    if (frame < 0) return;
    if (!members.has(frame)) members.set(frame, []);
    members.get(frame)?.push(part);
  });
  const outer = outerGraph(boxes, frameOf, members, links);
  const placed = placeInLayers(outer.boxes, outer.edges, members.size ? [] : near);
  const places = boxes.map((_, part) => {
    const [x, y] = placed.places[outer.itemOf[part]];
    const inner = outer.inside.get(frameOf[part]);
    if (!inner) return /** @type {Point} */ ([x, y]);
    const [dx, dy] = inner.placed.places[inner.at.get(part) ?? 0];
    return /** @type {Point} */ ([x + INSET + dx, y + HEAD + dy]);
  });
  const box = (/** @type {number} */ part) =>
    [...places[part], places[part][0] + boxes[part][0], places[part][1] + boxes[part][1]];
  const routes = links.map(({ from, to }) => {
    const frame = frameOf[from];
    const inner = frame >= 0 && frame === frameOf[to] ? outer.inside.get(frame) : undefined;
    return route(box(from), box(to), inner
      ? innerBends(inner, placed.places[outer.itemOf[from]], from, to)
      : placed.bends[outer.edgeOf(from, to)] ?? []);
  });
  const frames = [...members.keys()].map((frame) => {
    const item = outer.itemOf[/** @type {number[]} */ (members.get(frame))[0]];
    const [[x, y], [w, h]] = [placed.places[item], outer.boxes[item]];
    return { frame, x, y, w, h };
  });
  return { places, routes, frames };
}

/**
 * @typedef {Object} Inside the layout of what stands in one frame
 * @property {import("./layers.js").Placed} placed
 * @property {Map<number, number>} at position of each part in it
 * @property {Map<string, number>} edgeAt position of each pair of parts
 */

/**
 * @param {Inside} inner @param {Point} corner @param {number} from @param {number} to
 * @returns {Point[]}
 */
function innerBends(inner, [x, y], from, to) {
  const bends = inner.placed.bends[inner.edgeAt.get(`${from} ${to}`) ?? -1] ?? [];
  return bends.map(([dx, dy]) => [x + INSET + dx, y + HEAD + dy]);
}

/**
 * The graph of frames and of the parts that stand in none.
 * @param {Point[]} boxes @param {number[]} frameOf @param {Map<number, number[]>} members
 * @param {{from: number, to: number}[]} links
 */
function outerGraph(boxes, frameOf, members, links) {
  /** @type {Map<number, Inside>} */
  const inside = new Map();
  for (const [frame, parts] of members) inside.set(frame, insideOf(parts, boxes, links, frameOf));
  /** @type {Point[]} */
  const outer = [];
  /** @type {Map<number, number>} */
  const itemOfFrame = new Map();
  const itemOf = boxes.map((box, part) => {
    const frame = frameOf[part];
    const inner = inside.get(frame);
    if (!inner) return outer.push(box) - 1;
    if (!itemOfFrame.has(frame)) {
      const [w, h] = inner.placed.size;
      itemOfFrame.set(frame, outer.push([w + 2 * INSET, h + HEAD + INSET]) - 1);
    }
    return /** @type {number} */ (itemOfFrame.get(frame));
  });
  /** @type {Map<string, number>} */
  const positions = new Map();
  /** @type {Point[]} */
  const edges = [];
  for (const { from, to } of links) {
    const key = `${itemOf[from]} ${itemOf[to]}`;
    const isInside = itemOf[from] === itemOf[to] && (from !== to || inside.has(frameOf[from]));
    if (isInside || positions.has(key)) continue;
    positions.set(key, edges.push([itemOf[from], itemOf[to]]) - 1);
  }
  const edgeOf = (/** @type {number} */ from, /** @type {number} */ to) =>
    positions.get(`${itemOf[from]} ${itemOf[to]}`) ?? -1;
  return { boxes: outer, edges, itemOf, inside, edgeOf };
}

/**
 * @param {number[]} parts @param {Point[]} boxes @param {{from: number, to: number}[]} links
 * @param {number[]} frameOf
 * @returns {Inside}
 */
function insideOf(parts, boxes, links, frameOf) {
  const at = new Map(parts.map((part, i) => [part, i]));
  /** @type {Map<string, number>} */
  const edgeAt = new Map();
  /** @type {Point[]} */
  const edges = [];
  for (const { from, to } of links) {
    const [a, b] = [at.get(from), at.get(to)];
    if (a === undefined || b === undefined || frameOf[from] !== frameOf[to]) continue;
    edgeAt.set(`${from} ${to}`, edges.push([a, b]) - 1);
  }
  return { placed: placeInLayers(parts.map((part) => boxes[part]), edges), at, edgeAt };
}

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
/** @type {Point} */
const CORNER = [INSET, HEAD]; // where the inside of a frame begins

/**
 * @param {Point[]} boxes width and height of each part
 * @param {{from: number, to: number}[]} links
 * @param {number[]} frameOf the frame that each part stands in, -1 for none
 * @param {{parentOf?: (frame: number) => number, near?: (Point | undefined)[],
 *   across?: boolean}} how the frame around a frame, -1 for none; where parts stood in another
 *   layout, used only without frames; whether producers stand to the left of their users
 * @returns {Arrangement}
 */
export function arrange(boxes, links, frameOf, how = {}) {
  return how.across ? turned(arrangeDown(boxes.map(turn), links, frameOf, how))
    : arrangeDown(boxes, links, frameOf, how);
}

/**
 * @param {Point} point
 * @returns {Point}
 */
const turn = ([x, y]) => [y, x];

/** @param {string} path */
const turnedPath = (path) => path.replace(/(-?[\d.]+) (-?[\d.]+)/g, "$2 $1");

/**
 * The path of an edge between two boxes that runs past all others.
 * @param {number[]} from @param {number[]} to @param {boolean} [across]
 */
export function routeAlone(from, to, across) {
  const turnBox = ([left, top, right, bottom] = from) => [top, left, bottom, right];
  return across ? turnedPath(route(turnBox(from), turnBox(to), [])) : route(from, to, []);
}

/**
 * An arrangement with both axes exchanged: what led down leads to the right.
 * @param {Arrangement} made
 * @returns {Arrangement}
 */
const turned = ({ places, routes, frames }) => ({
  places: places.map(turn),
  routes: routes.map(turnedPath),
  frames: frames.map(({ frame, x, y, w, h }) => ({ frame, x: y, y: x, w: h, h: w })),
});

/**
 * @param {Point[]} boxes @param {{from: number, to: number}[]} links @param {number[]} frameOf
 * @param {{parentOf?: (frame: number) => number, near?: (Point | undefined)[],
 *   across?: boolean}} how
 * @returns {Arrangement}
 */
function arrangeDown(boxes, links, frameOf, { parentOf = () => -1, near = [], across = false }) {
  const inset = across ? turn(CORNER) : CORNER;
  const tree = treeOf(frameOf, parentOf);
  const edges = links.map(({ from, to }) => meeting(tree, from, to));
  /** @type {Map<number, Placed>} */
  const placed = new Map();
  for (const frame of [...tree.order].reverse()) {
    const sizes = itemsIn(tree, frame).map((item) =>
      (item >= 0 ? boxes[item] : framed(placed.get(~item), inset)));
    placed.set(frame, placeInside(tree, frame, sizes, edges, tree.order.length > 1 ? [] : near));
  }
  const corners = cornersOf(tree, placed, inset);
  const at = (/** @type {number} */ item) => /** @type {Point} */ (corners.get(item));
  const box = (/** @type {number} */ part) =>
    [...at(part), at(part)[0] + boxes[part][0], at(part)[1] + boxes[part][1]];
  const routes = links.map(({ from, to }, link) => {
    const { frame, ends } = edges[link];
    const inner = /** @type {Placed} */ (placed.get(frame));
    const bends = inner.bends[inner.edgeAt.get(`${ends[0]} ${ends[1]}`) ?? -1] ?? [];
    const [x, y] = originOf(frame, corners, inset);
    return route(box(from), box(to),
      bends.map(([dx, dy]) => /** @type {Point} */ ([x + dx, y + dy])));
  });
  const frames = tree.order.filter((frame) => frame >= 0).map((frame) => {
    const [[x, y], [w, h]] = [at(~frame), framed(placed.get(frame), inset)];
    return { frame, x, y, w, h };
  });
  return { places: boxes.map((_, part) => at(part)), routes, frames };
}

/**
 * @typedef {Object} Tree items (a part, or ~frame) in frames; the drawing is the frame -1
 * @property {Map<number, number>} home the frame that each item stands in
 * @property {Map<number, number[]>} items of each frame
 * @property {number[]} order frames, each after the one around it
 *
 * @typedef {import("./layers.js").Placed & {edgeAt: Map<string, number>}} Placed
 */

/**
 * @param {number[]} frameOf @param {(frame: number) => number} parentOf
 * @returns {Tree}
 */
function treeOf(frameOf, parentOf) {
  /** @type {Map<number, number>} */
  const home = new Map();
  /** @type {Map<number, number[]>} */
  const items = new Map([[-1, []]]);
  frameOf.forEach((first, part) => {
    let [item, frame] = [part, first];
    while (!home.has(item)) {
      home.set(item, frame);
      if (!items.has(frame)) items.set(frame, []);
      items.get(frame)?.push(item);
      if (frame < 0) break;
      [item, frame] = [~frame, parentOf(frame)];
    }
  });
  const order = [-1];
  for (const frame of order) {
    order.push(...itemsIn({ items }, frame).filter((it) => it < 0).map((it) => ~it));
  }
  return { home, items, order };
}

/** @param {Pick<Tree, "items">} tree @param {number} frame */
const itemsIn = (tree, frame) => tree.items.get(frame) ?? [];

/**
 * The innermost frame that holds both ends of a link, and the items in it in which they are.
 * @param {Tree} tree @param {number} from @param {number} to
 * @returns {{frame: number, ends: [number, number]}}
 */
function meeting({ home }, from, to) {
  /** @type {Map<number, number>} */
  const way = new Map(); // frames around the one end, and the item of each in which it is
  for (let item = from; ; item = ~/** @type {number} */ (home.get(item))) {
    const frame = /** @type {number} */ (home.get(item));
    way.set(frame, item);
    if (frame < 0) break;
  }
  let item = to;
  while (!way.has(/** @type {number} */ (home.get(item)))) {
    item = ~/** @type {number} */ (home.get(item));
  }
  const frame = /** @type {number} */ (home.get(item));
  return { frame, ends: [/** @type {number} */ (way.get(frame)), item] };
}

/**
 * @param {Tree} tree @param {number} frame @param {Point[]} sizes of its items
 * @param {{frame: number, ends: [number, number]}[]} edges
 * @param {(Point | undefined)[]} near where parts stood in another layout
 * @returns {Placed}
 */
function placeInside(tree, frame, sizes, edges, near) {
  const at = new Map(itemsIn(tree, frame).map((item, i) => [item, i]));
  /** @type {Map<string, number>} */
  const edgeAt = new Map();
  /** @type {Point[]} */
  const inner = [];
  for (const { frame: where, ends: [from, to] } of edges) {
    const key = `${from} ${to}`;
    if (where !== frame || edgeAt.has(key)) continue;
    edgeAt.set(key, inner.push([at.get(from) ?? 0, at.get(to) ?? 0]) - 1);
  }
  const stood = near.length ? itemsIn(tree, frame).map((item) => near[item]) : [];
  return { ...placeInLayers(sizes, inner, stood), edgeAt };
}

/**
 * @param {Placed | undefined} placed @param {Point} inset
 * @returns {Point} the size of a frame
 */
function framed(placed, [left, top]) {
  const [w, h] = placed?.size ?? [0, 0];
  return [w + left + INSET, h + top + INSET];
}

/**
 * The upper left corner of each item.
 * @param {Tree} tree @param {Map<number, Placed>} placed @param {Point} inset
 */
function cornersOf(tree, placed, inset) {
  /** @type {Map<number, Point>} */
  const corners = new Map();
  for (const frame of tree.order) {
    const [x, y] = originOf(frame, corners, inset);
    const { places } = /** @type {Placed} */ (placed.get(frame));
    itemsIn(tree, frame).forEach((item, i) => {
      corners.set(item, [x + places[i][0], y + places[i][1]]);
    });
  }
  return corners;
}

/**
 * Where the layout of what stands in a frame begins.
 * @param {number} frame @param {Map<number, Point>} corners @param {Point} inset
 * @returns {Point}
 */
function originOf(frame, corners, [left, top]) {
  const corner = frame < 0 ? undefined : corners.get(~frame);
  return corner ? [corner[0] + left, corner[1] + top] : [0, 0];
}

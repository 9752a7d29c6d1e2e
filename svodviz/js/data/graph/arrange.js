// Places parts of a graph: open groups as frames around a layout of their own. Pure.

import { placeInLayers, route } from "./layers.js";

/** @typedef {import("./layers.js").Point} Point */
/**
 * @typedef {Object} Arrangement
 * @property {Point[]} places upper left corner of each part
 * @property {string[]} routes path of each link
 * @property {{frame: number, x: number, y: number, w: number, h: number}[]} frames
 */

/**
 * @typedef {Object} Crossing a link that leads into a frame, or out of one
 * @property {number} frame
 * @property {number} item in it, where the link goes on
 * @property {boolean} isIn
 */

const INSET = 14; // between a frame and what stands in it
const HEAD = 22; // room for a frame's words
/** @type {Point} */
const CORNER = [INSET, HEAD]; // where the inside of a frame begins
/** @type {Point} */
const DOOR = [1, 0]; // the place where links come into a frame or leave it

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
  const crossed = links.map(({ from, to }, link) => [
    ...crossings(tree, from, edges[link].frame).map((it) => ({ ...it, isIn: false })),
    ...crossings(tree, to, edges[link].frame).reverse().map((it) => ({ ...it, isIn: true })),
  ]);
  const doors = doorsOf(crossed.flat(), edges);
  /** @type {Map<number, Placed>} */
  const placed = new Map();
  for (const frame of [...tree.order].reverse()) {
    const sizes = itemsIn(tree, frame).map((item) =>
      (item >= 0 ? boxes[item] : framed(placed.get(~item), inset)));
    placed.set(frame, placeInside(tree, frame, sizes, edges, doors.get(frame) ?? new Map(),
      tree.order.length > 1 ? [] : near));
  }
  const corners = cornersOf(tree, placed, inset);
  const at = (/** @type {number} */ item) => /** @type {Point} */ (corners.get(item));
  const box = (/** @type {number} */ part) =>
    [...at(part), at(part)[0] + boxes[part][0], at(part)[1] + boxes[part][1]];
  const routes = links.map(({ from, to }, link) => {
    const { frame, ends } = edges[link];
    /** @type {(frame: number, key: string) => Point[]} */
    const bendsOf = (where, key) => {
      const inner = /** @type {Placed} */ (placed.get(where));
      const [x, y] = originOf(where, corners, inset);
      const found = inner.bends[inner.edgeAt.get(key) ?? -1] ?? [];
      return found.map(([dx, dy]) => /** @type {Point} */ ([x + dx, y + dy]));
    };
    const outer = bendsOf(frame, `${ends[0]} ${ends[1]}`);
    if (box(from)[1] > box(to)[1]) return route(box(from), box(to), outer);
    const inside = (/** @type {boolean} */ isIn) => crossed[link]
      .filter((it) => it.isIn === isIn).flatMap((it) => bendsOf(it.frame, doorKey(it)));
    return route(box(from), box(to), [...inside(false), ...outer, ...inside(true)]);
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
 * The frames around an item up to one around them all, from the innermost, and the items in them.
 * @param {Tree} tree @param {number} start @param {number} end
 */
function crossings({ home }, start, end) {
  const found = [];
  for (let item = start; home.get(item) !== end; item = ~(home.get(item) ?? -1)) {
    found.push({ frame: /** @type {number} */ (home.get(item)), item });
  }
  return found;
}

/** @param {Crossing} crossing */
const doorKey = ({ item, isIn }) => (isIn ? `in ${item}` : `out ${item}`);

/**
 * The points where links enter and leave a frame, so that they lead around its contents. Those to
 * what stands first need none, nor do those from what stands last.
 * @param {Crossing[]} crossed @param {{frame: number, ends: [number, number]}[]} edges
 * @returns {Map<number, Map<string, Crossing>>} by frame
 */
function doorsOf(crossed, edges) {
  const hasAbove = new Set(edges.filter(({ ends }) => ends[0] !== ends[1])
    .map(({ frame, ends }) => `${frame} ${ends[1]}`));
  const hasBelow = new Set(edges.filter(({ ends }) => ends[0] !== ends[1])
    .map(({ frame, ends }) => `${frame} ${ends[0]}`));
  /** @type {Map<number, Map<string, Crossing>>} */
  const doors = new Map();
  for (const it of crossed) {
    if (!(it.isIn ? hasAbove : hasBelow).has(`${it.frame} ${it.item}`)) continue;
    if (!doors.has(it.frame)) doors.set(it.frame, new Map());
    doors.get(it.frame)?.set(doorKey(it), it);
  }
  return doors;
}

/**
 * @param {Tree} tree @param {number} frame @param {Point[]} sizes of its items
 * @param {{frame: number, ends: [number, number]}[]} edges
 * @param {Map<string, Crossing>} doors
 * @param {(Point | undefined)[]} near where parts stood in another layout
 * @returns {Placed}
 */
function placeInside(tree, frame, sizes, edges, doors, near) {
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
  /** @type {{first: number[], last: number[]}} */
  const ends = { first: [], last: [] };
  /** @type {Point[]} */
  const boxes = [...sizes];
  for (const [key, { item, isIn }] of doors) {
    const door = boxes.push(DOOR) - 1;
    const end = at.get(item) ?? 0;
    edgeAt.set(key, inner.push(isIn ? [door, end] : [end, door]) - 1);
    (isIn ? ends.first : ends.last).push(door);
  }
  const made = placeInLayers(boxes, inner, { near: stood, ...ends });
  for (const [key, { isIn }] of doors) {
    const edge = edgeAt.get(key) ?? 0;
    const [x, y] = made.places[inner[edge][isIn ? 0 : 1]];
    const bottom = made.size[1];
    // A door stands half way down its layer: the way leads through all of it.
    /** @type {Point[]} */
    const through = isIn ? [[x, -HEAD], [x, 2 * y]] : [[x, 2 * y - bottom], [x, bottom + INSET]];
    made.bends[edge] = isIn ? [...through, ...made.bends[edge]] : [...made.bends[edge], ...through];
  }
  return { ...made, edgeAt };
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
 * The point where the layout of a frame's contents begins.
 * @param {number} frame @param {Map<number, Point>} corners @param {Point} inset
 * @returns {Point}
 */
function originOf(frame, corners, [left, top]) {
  const corner = frame < 0 ? undefined : corners.get(~frame);
  return corner ? [corner[0] + left, corner[1] + top] : [0, 0];
}

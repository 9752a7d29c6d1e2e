// The rows of the timeline: a head for each lane, its items, and loops that can be folded. Pure.

export const ROW = 34;
export const HEAD = 30; // height of the axis above the first row
export const LANE = 26;
export const FEW_TRIPS = 8; // loops of more iterations start folded: a choice
const BARS = 400; // bars of one folded row that are drawn apart: a choice

/**
 * @typedef {Object} Row
 * @property {string} type lane, loop or item
 * @property {number} lane
 * @property {number} top y of its upper edge
 * @property {number} height
 * @property {number[]} items positions of the items it shows
 * @property {string} [name] of a lane
 * @property {number} [loop] of an item in a loop
 *
 * @typedef {{lane: number, position: number, start: number, finish: number}} Item
 * @typedef {Object} Schedule
 * @property {string[]} lanes
 * @property {Item[]} items
 * @property {{items: number[]}[]} loops
 * @property {Map<number, number>} loopOf the loop of each item in one
 */

/**
 * The rows of a schedule, from the top; loops whose number is in `folded` are one row.
 * @param {Schedule} schedule @param {Set<number>} folded
 * @returns {Row[]}
 */
export function rowsOf(schedule, folded) {
  /** @type {Row[]} */
  const rows = [];
  schedule.lanes.forEach((name, lane) => {
    const items = schedule.items.filter((it) => it.lane === lane);
    const all = items.map((it) => it.position);
    rows.push({ type: "lane", name, lane, top: 0, height: LANE, items: all });
    const headed = new Set();
    /** @param {number} position @param {number} [loop] */
    const enter = (position, loop) =>
      rows.push({ type: "item", loop, lane, top: 0, height: ROW, items: [position] });
    for (const { position } of items) {
      const loop = schedule.loopOf.get(position);
      if (loop === undefined) enter(position);
      if (loop === undefined || headed.has(loop)) continue;
      headed.add(loop);
      const iterations = schedule.loops[loop].items;
      rows.push({ type: "loop", loop, lane, top: 0, height: ROW, items: iterations });
      // Iterations stand under their head, whatever runs between them.
      if (!folded.has(loop)) {
        iterations.filter((it) => schedule.items[it].lane === lane)
          .forEach((it) => enter(it, loop));
      }
    }
  });
  let top = 0;
  for (const row of rows) {
    row.top = top;
    top += row.height;
  }
  return rows;
}

/**
 * The row in which each item is seen: its own, or that of its folded loop.
 * @param {Row[]} rows
 * @returns {Map<number, Row>}
 */
export function rowOfItem(rows) {
  const found = new Map();
  rows.filter((row) => row.type !== "lane").forEach((row) => {
    row.items.forEach((position) => {
      if (row.type === "item" || !found.has(position)) found.set(position, row);
    });
  });
  return found;
}

/**
 * The loops that start folded.
 * @param {Schedule} schedule
 */
export function foldedAtFirst(schedule) {
  const long = schedule.loops.map((loop, number) => [loop.items.length, number]);
  return new Set(long.filter(([trips]) => trips > FEW_TRIPS).map(([, number]) => number));
}

/**
 * Rows between two heights; binary search, for schedules of thousands of items.
 * @param {Row[]} rows @param {number} top @param {number} bottom
 */
export function rowsBetween(rows, top, bottom) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].top + rows[middle].height < top) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let i = low; i < rows.length && rows[i].top <= bottom; i += 1) found.push(rows[i]);
  return found;
}

/**
 * The items of a folded row as bars; where there are many, those that touch become one.
 * @template {{start: number, finish: number}} T
 * @param {T[]} items @param {(time: number) => number} pixelOf
 * @returns {{start: number, finish: number, items: T[]}[]}
 */
export function barsOf(items, pixelOf) {
  const bars = items.map((it) => ({ start: it.start, finish: it.finish, items: [it] }));
  if (bars.length <= BARS) return bars;
  /** @type {{start: number, finish: number, items: T[]}[]} */
  const joined = [];
  for (const bar of bars.sort((a, b) => a.start - b.start)) {
    const last = joined[joined.length - 1];
    if (last && pixelOf(bar.start) - pixelOf(last.finish) < 1.5) {
      last.finish = Math.max(last.finish, bar.finish);
      last.items.push(...bar.items);
    } else {
      joined.push(bar);
    }
  }
  return joined;
}

// The rows of a measured run: items in order of time, the iterations of a long loop as one. Pure.

import { FEW_TRIPS } from "../schedule/rows.js";

/**
 * @typedef {{critical: boolean, bound: string, low?: number, high?: number}} Run
 * @typedef {{position: number, measured: number, ns: number, cost: number, read: number,
 *   written: number, flops: number, run: Run}} Item
 * @typedef {{loops: {items: number[], label: string}[], loopOf: Map<number, number>}} Loops
 * @typedef {Item & {iterations: Item[], loop: number}} LoopRow all measured iterations together
 */

/**
 * The rows in order of time; loops in `opened` have their iterations after them.
 * @param {Loops} schedule
 * @param {Item[]} items those that were measured
 * @param {Set<number>} opened
 * @returns {(Item | LoopRow)[]}
 */
export function runRows(schedule, items, opened) {
  /** @type {Map<number, Item[]>} */
  const iterations = new Map();
  const alone = items.filter((item) => {
    const loop = schedule.loopOf.get(item.position);
    if (loop === undefined || schedule.loops[loop].items.length <= FEW_TRIPS) return true;
    if (!iterations.has(loop)) iterations.set(loop, []);
    /** @type {Item[]} */ (iterations.get(loop)).push(item);
    return false;
  });
  const loops = [...iterations].map(([loop, found]) => together(loop, found));
  /** @type {(Item | LoopRow)[]} */
  const rows = [...alone, ...loops];
  return byTime(rows).flatMap((row) =>
    ("iterations" in row && opened.has(row.loop) ? [row, ...byTime(row.iterations)] : [row]));
}

/**
 * @template {{measured: number}} T
 * @param {T[]} rows
 */
function byTime(rows) {
  return [...rows].sort((a, b) => b.measured - a.measured);
}

/**
 * @param {number} loop @param {Item[]} iterations
 * @returns {LoopRow}
 */
function together(loop, iterations) {
  const sum = (/** @type {(item: Item) => number} */ of) =>
    iterations.reduce((total, it) => total + of(it), 0);
  return {
    position: iterations[0].position, loop, iterations,
    measured: sum((it) => it.measured), ns: sum((it) => it.ns), cost: sum((it) => it.cost),
    read: sum((it) => it.read), written: sum((it) => it.written), flops: sum((it) => it.flops),
    run: { critical: iterations.some((it) => it.run.critical), bound: boundOf(iterations) },
  };
}

/**
 * The bound of most of the time.
 * @param {Item[]} iterations
 */
function boundOf(iterations) {
  /** @type {Map<string, number>} */
  const time = new Map();
  iterations.forEach(({ run, measured }) =>
    time.set(run.bound, (time.get(run.bound) ?? 0) + measured));
  return byTime([...time].map(([bound, measured]) => ({ bound, measured })))[0].bound;
}

// The rows of a measured run: items in order of time, the turns of a long loop as one row. Pure.

import { FEW_TURNS } from "../schedule/rows.js";

/**
 * @typedef {{critical: boolean, bound: string, low?: number, high?: number}} Run
 * @typedef {{position: number, measured: number, ns: number, cost: number, read: number,
 *   written: number, flops: number, run: Run}} Item
 * @typedef {{loops: {items: number[], label: string}[], loopOf: Map<number, number>}} Loops
 * @typedef {Item & {turns: Item[], loop: number}} LoopRow what all measured turns take together
 */

/**
 * The rows in order of time; loops in `opened` have their turns after them.
 * @param {Loops} schedule
 * @param {Item[]} items those that were measured
 * @param {Set<number>} opened
 * @returns {(Item | LoopRow)[]}
 */
export function runRows(schedule, items, opened) {
  /** @type {Map<number, Item[]>} */
  const turns = new Map();
  const alone = items.filter((item) => {
    const loop = schedule.loopOf.get(item.position);
    if (loop === undefined || schedule.loops[loop].items.length <= FEW_TURNS) return true;
    if (!turns.has(loop)) turns.set(loop, []);
    /** @type {Item[]} */ (turns.get(loop)).push(item);
    return false;
  });
  const loops = [...turns].map(([loop, found]) => together(loop, found));
  /** @type {(Item | LoopRow)[]} */
  const rows = [...alone, ...loops];
  return byTime(rows).flatMap((row) =>
    ("turns" in row && opened.has(row.loop) ? [row, ...byTime(row.turns)] : [row]));
}

/**
 * @template {{measured: number}} T
 * @param {T[]} rows
 */
function byTime(rows) {
  return [...rows].sort((a, b) => b.measured - a.measured);
}

/**
 * @param {number} loop @param {Item[]} turns
 * @returns {LoopRow}
 */
function together(loop, turns) {
  const sum = (/** @type {(item: Item) => number} */ of) =>
    turns.reduce((total, it) => total + of(it), 0);
  return {
    position: turns[0].position, loop, turns,
    measured: sum((it) => it.measured), ns: sum((it) => it.ns), cost: sum((it) => it.cost),
    read: sum((it) => it.read), written: sum((it) => it.written), flops: sum((it) => it.flops),
    run: { critical: turns.some((it) => it.run.critical), bound: boundOf(turns) },
  };
}

/**
 * What bounds most of the time.
 * @param {Item[]} turns
 */
function boundOf(turns) {
  /** @type {Map<string, number>} */
  const time = new Map();
  turns.forEach(({ run, measured }) =>
    time.set(run.bound, (time.get(run.bound) ?? 0) + measured));
  return byTime([...time].map(([bound, measured]) => ({ bound, measured })))[0].bound;
}

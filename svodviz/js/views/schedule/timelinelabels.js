// The labels of the rows of the timeline. Pure.

import { count } from "../../kit/words.js";

/**
 * @typedef {import("./rows.js").Row} Row
 * @typedef {{op: string, name: string, title?: string, position: number, tasks: number,
 *   fixed: [string, any][], facts: [string, any][]}} Item
 * @typedef {{items: Item[], loops: {label: string, items: number[]}[]}} Schedule
 */

const WIDE = 7.3; // pixels of a letter in bold

/**
 * Pixels that a label takes in bold, with what stands before it.
 * @param {Schedule} schedule @param {Row} row
 */
export function labelWidth(schedule, row) {
  const before = row.type === "loop" ? 82 : row.loop === undefined ? 46 : 66;
  return before + labelOf(schedule, row).length * WIDE;
}

/**
 * The width in pixels of the name of a packed lane, next to its tracks.
 * @param {{name?: string}} row
 */
export function laneWidth({ name = "" }) {
  return 26 + name.length * WIDE;
}

/**
 * "k0 matmul+relu 64×32, line 12 · 2 tasks", "transfer copy from CPU:1",
 * "step × 3: i = 0, 1, 2", "i = 0".
 * @param {Schedule} schedule @param {Row} row
 */
export function labelOf(schedule, row) {
  if (row.type === "lane") return "";
  const item = schedule.items[row.items[0]];
  if (row.type !== "loop") {
    return row.loop === undefined ? caption(item) : iteration(schedule, item, row.loop);
  }
  const { label, items } = schedule.loops[/** @type {number} */ (row.loop)];
  return `${item.title ?? item.name} × ${count(items.length)}: ${label}`;
}

/** @param {Schedule} schedule @param {Item} item @param {number} loop */
function iteration(schedule, item, loop) {
  const counters = item.fixed.map(([name, value]) => `${name} = ${value}`).join(", ");
  return counters || `iteration ${schedule.loops[loop].items.indexOf(item.position)}`;
}

/** @param {Item} item */
function caption({ op, name, title, tasks, facts }) {
  const ends = new Map(facts);
  const [from, to] = [ends.get("from device"), ends.get("to device")];
  // A title says by itself that it is a kernel's.
  const called = title ?? `${op} ${name}`.trim();
  const words = from && from !== to ? `${called} from ${from}` : called;
  return tasks > 1 ? `${words} · ${count(tasks)} tasks` : words;
}

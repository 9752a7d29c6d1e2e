// The rows of the timeline: a head for each lane, its items, and loops that can be folded. Pure.

export const ROW = 34;
export const LANE = 26;
export const FEW_TURNS = 8; // loops of more turns start folded
const BARS = 400; // bars of one folded row that are drawn apart

/**
 * @typedef {Object} Row
 * @property {string} type lane, loop or item
 * @property {number} top y of its upper edge
 * @property {number} height
 * @property {number[]} items positions of the items it shows
 */

/** The rows of a schedule, from the top; loops whose number is in `folded` are one row. */
export function rowsOf(schedule, folded) {
  const rows = [];
  schedule.lanes.forEach((name, lane) => {
    const items = schedule.items.filter((it) => it.lane === lane);
    rows.push({ type: "lane", name, lane, height: LANE, items: items.map((it) => it.position) });
    const headed = new Set();
    for (const { position } of items) {
      const loop = schedule.loopOf.get(position);
      if (loop !== undefined && !headed.has(loop)) {
        headed.add(loop);
        rows.push({ type: "loop", loop, lane, height: ROW, items: schedule.loops[loop].items });
      }
      if (!folded.has(loop)) {
        rows.push({ type: "item", loop, lane, height: ROW, items: [position] });
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

/** The row in which each item is seen: its own, or that of its folded loop. */
export function rowOfItem(rows) {
  const found = new Map();
  rows.filter((row) => row.type !== "lane").forEach((row) => {
    row.items.forEach((position) => {
      if (row.type === "item" || !found.has(position)) found.set(position, row);
    });
  });
  return found;
}

/** The loops that start folded. */
export function foldedAtFirst(schedule) {
  const long = schedule.loops.map((loop, number) => [loop.items.length, number]);
  return new Set(long.filter(([turns]) => turns > FEW_TURNS).map(([, number]) => number));
}

/** Rows between two heights; binary search, for schedules of thousands of items. */
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

/** The items of a folded row as bars; where there are many, those that touch become one. */
export function barsOf(items, pixelOf) {
  const bars = items.map((it) => ({ start: it.start, finish: it.finish, items: [it] }));
  if (bars.length <= BARS) return bars;
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

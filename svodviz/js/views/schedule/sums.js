// The sums of a stretch of time: the time of items within it, by kernel or by the lines
// of the program that they come from. Pure.

/**
 * @typedef {{e: number, op: string, name: string, position: number, critical: boolean}} Item
 * @typedef {{from: number, to: number}} Stretch nanoseconds
 * @typedef {Object} Sum
 * @property {string} key "kernel k0", or the number of a line; "" where there is none
 * @property {number} time nanoseconds of its items within the stretch
 * @property {number} share of the time of all items within the stretch
 * @property {Item[]} items the longest first
 */

/**
 * The time that an item has within a stretch; 0 where it has none.
 * @param {{start: number, finish: number}} when @param {Stretch} stretch
 */
export function timeWithin({ start, finish }, { from, to }) {
  return Math.max(0, Math.min(finish, to) - Math.max(start, from));
}

/**
 * The sums, the longest first. An item of several keys counts with all of its time at each.
 * @template {Item} T
 * @param {T[]} items
 * @param {(item: T) => {start: number, finish: number}} when
 * @param {Stretch} stretch
 * @param {(item: T) => string[]} keysOf
 * @returns {{sums: Sum[], whole: number, count: number}} with the time and number of all items
 */
export function sumsOf(items, when, stretch, keysOf) {
  const within = items.map((item) => ({ item, time: timeWithin(when(item), stretch) }))
    .filter(({ time }) => time > 0).sort((a, b) => b.time - a.time);
  const whole = within.reduce((sum, { time }) => sum + time, 0);
  /** @type {Map<string, Sum>} */
  const found = new Map();
  for (const { item, time } of within) {
    const keys = keysOf(item);
    for (const key of keys.length ? keys : [""]) {
      const sum = found.get(key) ?? { key, time: 0, share: 0, items: [] };
      sum.time += time;
      sum.share = sum.time / whole;
      sum.items.push(item);
      found.set(key, sum);
    }
  }
  return { sums: [...found.values()].sort((a, b) => b.time - a.time), whole,
    count: within.length };
}

/** @param {Item} item */
export function kernelKey({ op, name }) {
  return [`${op} ${name}`.trim()];
}

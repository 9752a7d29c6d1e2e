// The rows of two texts side by side, from the blocks of their diff. Pure.

export const SIDES = ["a", "b"]; // what the two are called
const CONTEXT = 3; // equal lines shown around what differs
export const MOST_ROWS = 3000; // of one text that are shown: a choice

/**
 * @typedef {Object} Row
 * @property {string} type "equal", "changed", "a" (only there), "b", or "gap"
 * @property {number} a position of the line in a, or -1
 * @property {number} b the same in b
 * @property {number[]} [hidden] of a gap: where its equal lines begin in a, in b (those shown
 *   around it included), and how many are left out
 */

/** @typedef {[string, number, number, number, number]} Block tag; from and to in a, in b */

/**
 * All rows; long runs of equal lines become a gap unless its start is in `opened`.
 * @param {Block[]} blocks @param {Set<number>} opened
 * @returns {Row[]}
 */
export function rowsOf(blocks, opened = new Set()) {
  return blocks.flatMap(([tag, i, j, m, n], at) => {
    if (tag !== "equal") return pairs(i, j, m, n);
    const all = Array.from({ length: j - i }, (_, k) => ({ type: "equal", a: i + k, b: m + k }));
    const head = at ? CONTEXT : 0;
    const tail = at < blocks.length - 1 ? CONTEXT : 0;
    const hidden = all.length - head - tail;
    if (hidden <= 1 || opened.has(i)) return all;
    const gap = { type: "gap", a: -1, b: -1, hidden: [i, m, hidden] };
    return [...all.slice(0, head), gap, ...all.slice(head + hidden)];
  });
}

/**
 * @param {number} i @param {number} j @param {number} m @param {number} n
 * @returns {Row[]}
 */
function pairs(i, j, m, n) {
  return Array.from({ length: Math.max(j - i, n - m) }, (_, k) => {
    const [a, b] = [i + k < j ? i + k : -1, m + k < n ? m + k : -1];
    return { type: a < 0 ? "b" : b < 0 ? "a" : "changed", a, b };
  });
}

/**
 * The part in which two lines differ: [common start, end in a, end in b].
 * @param {string} a @param {string} b
 */
export function differing(a, b) {
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [start, a.length - end, b.length - end];
}

/**
 * The next position after (`by` 1) or before (-1) `at` in a sorted list, around the end.
 * @param {number[]} positions @param {number} at @param {number} by
 */
export function nextOf(positions, at, by) {
  if (!positions.length) return -1;
  const found = by > 0
    ? positions.find((it) => it > at) : positions.findLast((it) => it < at);
  return found ?? (by > 0 ? positions[0] : positions[positions.length - 1]);
}

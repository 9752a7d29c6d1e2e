// The texts between LLVM's passes, and what differs from one to the next. Pure.

/**
 * LLVM's passes that can be looked at: the level, and its name.
 * @type {[number, string][]}
 */
export const LEVELS = [
  [-1, "the passes for the code that runs"], [1, "LLVM's whole pipeline, level 1"],
  [2, "LLVM's whole pipeline, level 2"], [3, "LLVM's whole pipeline, level 3"],
];

/**
 * @typedef {[string, ...number[]]} Row text, and lines of the generated IR
 * @typedef {[number, number, Row[]]} Edit line of the text before, how many lines go, what comes
 * @typedef {{name: string, title: string, on: string, kind: string, purpose: string,
 *   edits: Edit[]}} Change
 * @typedef {{sign: string, text: string, lines: number[], number: number, left?: number}} Shown
 */

/**
 * The text before and after each change. The first of machine code comes after an empty text.
 * @param {{start: Row[], changes: Change[]}} run
 * @returns {{before: Row[], after: Row[]}[]}
 */
export function textsOf(run) {
  /** @type {Record<string, Row[]>} */
  const latest = { IR: run.start };
  return run.changes.map(({ kind, edits }) => {
    const before = latest[kind] || [];
    const after = edited(before, edits);
    latest[kind] = after;
    return { before, after };
  });
}

/**
 * @param {Row[]} rows
 * @param {Edit[]} edits from top to bottom
 * @returns {Row[]}
 */
export function edited(rows, edits) {
  /** @type {Row[]} */
  const result = [];
  let at = 0;
  for (const [place, removed, added] of edits) {
    result.push(...rows.slice(at, place), ...added);
    at = place + removed;
  }
  return [...result, ...rows.slice(at)];
}

/** The number of lines that a change removes and adds. */
export function sizeOf(/** @type {Change} */ { edits }) {
  return edits.reduce(
    ({ removed, added }, [, gone, rows]) =>
      ({ removed: removed + gone, added: added + rows.length }),
    { removed: 0, added: 0 },
  );
}

/**
 * The text before with what goes marked "−" and what comes marked "+". Lines that stay are shown
 * as far as `context` lines around; a row with `left` stands for those that are not.
 * @param {Row[]} before
 * @param {Edit[]} edits
 * @param {number} context Infinity for the whole text
 * @returns {Shown[]}
 */
export function differing(before, edits, context) {
  /** @type {Shown[]} */
  const rows = [];
  let at = 0;
  let number = 0; // of the line in the text after
  const stay = (/** @type {number} */ from, /** @type {number} */ to) => {
    for (let index = from; index < to; index++) rows.push(shown("", before[index], ++number));
  };
  const skip = (/** @type {number} */ from, /** @type {number} */ to) => {
    if (to <= from) return;
    number += to - from;
    rows.push({ sign: "", text: "", lines: [], number: 0, left: to - from });
  };
  edits.forEach(([place, removed, added], index) => {
    const begin = Math.max(at, place - context);
    const pause = index ? Math.min(begin, at + context) : at;
    if (index) stay(at, pause);
    skip(index ? pause : at, begin);
    stay(begin, place);
    before.slice(place, place + removed).forEach((row) => rows.push(shown("−", row, 0)));
    added.forEach((row) => rows.push(shown("+", row, ++number)));
    at = place + removed;
  });
  const end = Math.min(before.length, at + context);
  stay(at, end);
  skip(end, before.length);
  return rows;
}

/**
 * @param {string} sign
 * @param {Row} row
 * @param {number} number
 * @returns {Shown}
 */
function shown(sign, [text, ...lines], number) {
  return { sign, text, lines, number };
}

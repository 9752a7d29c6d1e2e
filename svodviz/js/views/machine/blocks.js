// Blocks of machine code as rows of text, and the arrows of its jumps next to them. Pure.

/**
 * @typedef {[string, number, number, number[]]} Block label, first, end, heads of the loops around
 * @typedef {[number, number, string, boolean]} Jump from, to, way, whether it goes back
 * @typedef {{blocks: Block[], jumps: Jump[]}} Flow
 */

/** The name of a jump, with a sign of its own. */
export function wordsOf(/** @type {Jump} */ [, , way, isBack]) {
  if (isBack) return ["↻", "back to"];
  if (way === "next") return ["↓", "continues with"];
  return ["→", way === "taken" ? "jumps to" : `if ${way}, jumps to`];
}

/**
 * The lines of a text with a row in front of each block and one behind it. Labels are in the
 * former, so their own lines are left out.
 * @template T
 * @param {Flow | null} flow null where the text has no blocks
 * @param {T[]} lines
 * @param {(line: T) => string} textOf
 * @returns {{rows: {block: number, kind: string, line: number}[], tops: number[], ends: number[]}}
 *   `tops` and `ends` are the first and last row of each block
 */
export function blockRows(flow, lines, textOf) {
  if (!flow) {
    const rows = lines.map((_, line) => ({ block: -1, kind: "code", line }));
    return { rows, tops: [], ends: [] };
  }
  /** @type {{block: number, kind: string, line: number}[]} */
  const rows = [];
  /** @type {number[]} */
  const tops = [];
  /** @type {number[]} */
  const ends = [];
  flow.blocks.forEach(([label, first, end], block) => {
    tops.push(rows.length);
    rows.push({ block, kind: "head", line: first });
    for (let line = first; line < end; line++) {
      if (textOf(lines[line]) !== `${label}:`) rows.push({ block, kind: "code", line });
    }
    ends.push(rows.length);
    rows.push({ block, kind: "foot", line: end - 1 });
  });
  return { rows, tops, ends };
}

/**
 * A track for each jump that is not simply to the next block, so that no two overlap.
 * Short ones are nearest to the text.
 * @param {Flow} flow
 * @param {number[]} tops row of the head of each block
 * @param {number[]} ends row of the foot of each block
 * @returns {{jump: Jump, from: number, to: number, track: number}[]}
 */
export function tracks(flow, tops, ends) {
  const jumps = flow.jumps
    .filter(([source, target, way]) => !(way === "next" && target === source + 1))
    .map((jump) => ({ jump, from: ends[jump[0]], to: tops[jump[1]], track: 0 }));
  const length = (/** @type {{from: number, to: number}} */ it) => Math.abs(it.from - it.to);
  jumps.sort((a, b) => length(a) - length(b));
  /** @type {[number, number][][]} */
  const taken = [];
  for (const it of jumps) {
    const [low, high] = it.from < it.to ? [it.from, it.to] : [it.to, it.from];
    let track = 0;
    while (taken[track]?.some(([a, b]) => a <= high && low <= b)) track += 1;
    (taken[track] ||= []).push([low, high]);
    it.track = track;
  }
  return jumps;
}

/**
 * The loops as stretches of rows: from the first to the last of their blocks, outer ones first.
 * @param {Flow} flow
 * @param {number[]} tops
 * @param {number[]} ends
 */
export function loopsOf(flow, tops, ends) {
  const heads = [...new Set(flow.blocks.flatMap(([, , , around]) => around))];
  return heads.map((head) => {
    const own = flow.blocks.flatMap(([, , , around], block) =>
      (around.includes(head) ? [block] : []));
    const depth = flow.blocks[head][3].indexOf(head);
    return { head, depth, top: tops[own[0]], end: ends[own[own.length - 1]] };
  }).sort((a, b) => a.depth - b.depth);
}

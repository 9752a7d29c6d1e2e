// The work of each core: items one after the other, as they are measured, the tasks of each
// dealt out as the thread pool does where all take equally long. Pure.

/**
 * @typedef {import("./tracks.js").Span} Span
 * @typedef {{op: string, position: number, tasks: number, start: number, finish: number,
 *   run?: {cost: number} | null}} Item
 */

/**
 * The tasks of each core, and their number: the caller, core 0, from the first on, the workers
 * from the last. A round is a task on every core; in the last one some have none.
 * @param {number} tasks @param {number} cores
 * @returns {{count: number, words: string}[]} by core
 */
export function dealt(tasks, cores) {
  const width = Math.min(tasks, cores);
  const counts = Array.from({ length: width }, (_, core) =>
    Math.floor(tasks / width) + (core < tasks % width ? 1 : 0));
  const own = counts[0];
  const others = taskWords(own, tasks - 1);
  return counts.map((count, core) => {
    if (core === 0) return { count, words: taskWords(0, own - 1) };
    return { count, words: count === tasks - own ? others : `${count} of the ${others}` };
  });
}

/** @param {number} first @param {number} last */
function taskWords(first, last) {
  return first === last ? `task ${first}` : `tasks ${first} … ${last}`;
}

/**
 * The spans of every core, and when the last item is over.
 * @param {Item[]} items in the order they run in @param {number} cores
 * @param {(item: Item) => number} timeOf
 * @returns {{byCore: Span[][], end: number}}
 */
export function coresOf(items, cores, timeOf) {
  /** @type {Span[][]} */
  const byCore = Array.from({ length: cores }, () => []);
  let end = 0;
  for (const item of items) {
    const time = timeOf(item);
    const shares = dealt(item.tasks, cores);
    shares.forEach(({ count, words }, core) => {
      const finish = end + (time * count) / shares[0].count;
      byCore[core].push({ item: item.position, start: end, finish, slack: 0,
        share: item.tasks > 1 ? words : "" });
    });
    end += time;
  }
  return { byCore, end };
}

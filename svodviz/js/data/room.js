// The layout of an explorer as its reader set it: panels, their sizes, and columns. Pure.

/** @typedef {import("./wire.js").State} State */

/** The panels at the sides, which can be opened and closed. */
export const PANELS = /** @type {const} */ (["passes", "inspector"]);
// The drawer is the inspector below the centre: its size is a height.
const SIZED = ["passes", "inspector", "drawer"];
/** No panel that is open is smaller or larger than so many pixels. */
export const SMALLEST = 96;
export const LARGEST = 1600;
export const MOST_COLUMNS = 12; // what is typed into a state must not fill the page: a choice

/**
 * The parts of a state about room, without impossible ones.
 * @param {State} wanted @param {State} before
 * @param {(stage: string) => boolean} hasText whether a stage can be shown in a column
 * @returns {Pick<State, "columns" | "shares" | "panels" | "sizes">}
 */
export function soundRoom(wanted, before, hasText) {
  const given = Array.isArray(wanted.columns) ? wanted.columns.slice(0, MOST_COLUMNS) : [];
  const found = given.filter(hasText);
  const columns = found.length ? found : before.columns;
  const shares = Array.isArray(wanted.shares) ? wanted.shares : [];
  const isSound = shares.length === columns.length && found.length === given.length
    && shares.every((it) => Number.isFinite(it) && it > 0);
  return {
    columns,
    shares: isSound ? shares : [],
    panels: chosen(wanted.panels, PANELS, (it) => typeof it === "boolean"),
    sizes: chosen(wanted.sizes, SIZED,
      (it) => Number.isFinite(it) && it >= SMALLEST && it <= LARGEST),
  };
}

/**
 * The entries of `given` that have a known name and a possible value.
 * @template T
 * @param {Record<string, T> | undefined} given @param {readonly string[]} names
 * @param {(value: any) => boolean} isPossible
 * @returns {Record<string, T>}
 */
function chosen(given, names, isPossible) {
  const entries = Object.entries(given ?? {});
  return Object.fromEntries(entries.filter(([name, it]) => names.includes(name) && isPossible(it)));
}

/**
 * Columns and their shares of the width once one was added or taken away: `[columns, shares]`.
 * @param {State} state @param {number} at @param {string} [added] its stage; none: it is closed
 * @returns {Pick<State, "columns" | "shares">}
 */
export function withColumn({ columns, shares }, at, added) {
  const sum = shares.reduce((total, it) => total + it, 0);
  const share = shares.length ? [sum / shares.length] : [];
  return {
    columns: columns.toSpliced(at, added ? 0 : 1, ...(added ? [added] : [])),
    shares: shares.toSpliced(at, added ? 0 : 1, ...(added ? share : [])),
  };
}

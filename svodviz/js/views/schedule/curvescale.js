// The axis of the memory curve: its range suits the curve, not the labels next to it. Pure.

/**
 * @typedef {{from: number, to: number, isBroken: boolean, beyond: number[]}} Scale bytes at the
 *   axis' ends; whether it begins above 0; the sizes that it leaves out
 */

const FLAT = 0.5; // a curve that moves over less than this share of its height has a broken axis
const TALL = 2; // lines up to so many heights of the curve are on the scale: both choices

/**
 * The scale for a curve, and for lines at sizes where these leave the curve half of the height.
 * @param {number[]} alive @param {number[]} sizes
 * @returns {Scale}
 */
export function scaleOf(alive, sizes) {
  const [low, high] = alive.reduce(([a, b], it) => [Math.min(a, it), Math.max(b, it)],
    [Infinity, 0]);
  const isBroken = low < high && high - low < FLAT * high;
  const from = isBroken ? Math.max(0, low - (high - low) / 4) : 0;
  const most = from + TALL * (high - from);
  const isOn = (/** @type {number} */ it) => !high || (it >= from && it <= most);
  const to = sizes.filter(isOn).reduce((a, b) => Math.max(a, b), Math.max(high, 1));
  return { from, to, isBroken, beyond: sizes.filter((it) => !isOn(it)) };
}

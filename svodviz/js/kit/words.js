// Numbers in words for people. Pure.

/**
 * 9640 as "9,640".
 * @param {number} number
 */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/**
 * "1 node", "2 nodes".
 * @param {number} number @param {string} noun
 */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * 1536 as "1.5 KiB".
 * @param {number} number
 */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [size, unit] = [number, 0];
  while (size >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
  const digits = size >= 100 || unit === 0 ? Math.round(size) : Number(size.toPrecision(3));
  return `${digits} ${units[unit]}`;
}

/**
 * Seconds in words of a fitting unit.
 * @param {number} seconds
 */
export function duration(seconds) {
  if (!(seconds > 0)) return "0";
  if (seconds < 1e-6) return `${precise(seconds * 1e9)} ns`;
  if (seconds < 1e-3) return `${precise(seconds * 1e6)} µs`;
  return seconds < 1 ? `${precise(seconds * 1e3)} ms` : `${precise(seconds)} s`;
}

/**
 * The same of nanoseconds, which the schedule and what was measured are in.
 * @param {number} time
 */
export function nanoseconds(time) {
  return duration(time * 1e-9);
}

/**
 * A share in words: 0.123 as "12 %", 0.00071 as "0.071 %".
 * @param {number} share
 */
export function percent(share) {
  return share >= 0.0995 ? `${Math.round(share * 100)} %`
    : `${Number((share * 100).toPrecision(2))} %`;
}

/** @param {number} number */
function precise(number) {
  return number >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(2)));
}

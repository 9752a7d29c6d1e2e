// The stretch of time that the timeline shows, zoomed and moved within the program's. Pure.

const CLOSEST = 1e-6; // of the program's time: the shortest stretch that can fill the view

export class TimeWindow {
  /** @param {number} end nanoseconds: the program's time begins at 0 */
  constructor(end) {
    this.end = end;
    this.from = 0;
    this.to = end;
  }

  get length() {
    return this.to - this.from;
  }

  get isWhole() {
    return this.from === 0 && this.to === this.end;
  }

  /** Shows a stretch, or as much of it as there is. @param {number} from @param {number} to */
  show(from, to) {
    const length = Math.min(this.end, Math.max(this.end * CLOSEST, to - from));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(0, middle - length / 2), this.end - length);
    this.to = Math.min(this.end, this.from + length);
  }

  all() {
    this.show(0, this.end);
  }

  /**
   * `factor` times as much time as before; the time `at` stays where it is.
   * @param {number} factor @param {number} at
   */
  zoom(factor, at = (this.from + this.to) / 2) {
    const length = Math.min(this.end, Math.max(this.end * CLOSEST, this.length * factor));
    const from = at - ((at - this.from) / this.length) * length;
    this.show(from, from + length);
  }

  /** @param {number} time later by so much; earlier where it is negative */
  move(time) {
    const by = Math.min(Math.max(time, -this.from), this.end - this.to);
    this.from += by;
    this.to += by;
  }

  /** Moves as far as needed to have all of a stretch in view; zooms out where it is longer. */
  reveal(/** @type {number} */ from, /** @type {number} */ to) {
    if (to - from > this.length) this.show(from, to);
    else if (from < this.from) this.move(from - this.from);
    else if (to > this.to) this.move(to - this.to);
  }

  /** True if part of a stretch is in view. @param {{start: number, finish: number}} span */
  sees({ start, finish }) {
    return finish >= this.from && start <= this.to;
  }
}

/** @type {[number, string][]} */
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/**
 * The marks of an axis: at most `most` round times, with as many digits as tell them apart.
 * @param {TimeWindow} view @param {number} most
 * @returns {[number, string][]} time and words
 */
export function ticksOf({ from, to }, most) {
  const step = niceStep(to - from, most);
  const [unit, name] = UNITS.find(([size]) => to >= size) ?? UNITS[UNITS.length - 1];
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor((to - first * step) / step + 1e-9) + 1;
  return Array.from({ length: count }, (_, number) => {
    const time = (first + number) * step;
    const words = `${(time / unit).toFixed(digits)} ${name}`;
    return [time, first + number ? words : "0"];
  });
}

/**
 * A round step that divides `length` into at most `most` parts.
 * @param {number} length @param {number} most
 */
export function niceStep(length, most) {
  const rough = length / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough) ?? 10 * power;
}

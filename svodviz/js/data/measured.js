// The times of one run (see measured.py): asked for when somebody wants them, kept with the items
// of the schedule. Pure but for the requests.

import { LaneData } from "./lanes.js";

/**
 * @typedef {{ns: number, low: number, high: number, rounds: number, start: number, late: number,
 *   cost: number, critical: boolean, bound: string}} Time
 * @typedef {Time & {finish: number, slack: number}} Ran when an item ran, nanoseconds
 * @typedef {Object} Item of the schedule
 * @property {string} op
 * @property {string} name
 * @property {number} ns its estimate, nanoseconds
 * @property {number} cost the same as a whole number
 * @property {number | null} [measured]
 * @property {Ran | null} [run]
 *
 * @typedef {{items: Item[], measuredPath?: number[] | null, workers?: LaneData | null}} Schedule
 * @typedef {{problem?: string, items: (Time | null)[], path?: number[], whole: number | null,
 *   call: number,
 *   rounds: number, machine: string, notes: string[], results: any[],
 *   lanes?: import("./lanes.js").Rows}} Answer
 */

const NOT_RUN = "the program was not run when this page was made";

/**
 * The slack of an item; none if it is critical, whatever rounding leaves.
 * @param {{start: number, late: number, critical: boolean}} row
 */
export function slackOf({ start, late, critical }) {
  return critical ? 0 : late - start;
}

/**
 * Writes `measured` (nanoseconds) and `run` (when it ran, see `schedule.js`) into the items, and
 * what workers did.
 * @param {Schedule} schedule
 * @param {{items: (Time | null)[], path?: number[], lanes?: import("./lanes.js").Rows}} answer
 */
export function takeTimes(schedule, { items: rows, path, lanes }) {
  schedule.workers = lanes ? new LaneData(lanes) : null;
  schedule.items.forEach((item, position) => {
    const row = rows[position] ?? null;
    item.measured = row && row.ns;
    item.run = row && { ...row, finish: row.start + row.cost, slack: slackOf(row) };
  });
  schedule.measuredPath = path
    ?? rows.flatMap((row, position) => (row?.critical ? [position] : []));
}

/**
 * Measured divided by estimated: "1.25×".
 * @param {{cost: number, measured?: number | null}} item
 */
export function ratioOf(item) {
  const ratio = (item.measured ?? 0) / Math.max(1, item.cost);
  return `${ratio >= 100 ? Math.round(ratio) : Number(ratio.toPrecision(3))}×`;
}

/**
 * All items of a kernel together, as the rows of one; `measured` is 0 unless each was measured.
 * @param {Schedule | null} schedule @param {string} name
 */
export function timesOf(schedule, name) {
  const items = (schedule?.items ?? []).filter((it) => it.op === "kernel" && it.name === name);
  if (!schedule || !items.length) return null;
  const sum = (/** @type {Item[]} */ rows, /** @type {(item: Item) => number} */ of) =>
    rows.reduce((total, it) => total + of(it), 0);
  const time = (/** @type {Item} */ it) => it.measured ?? 0;
  const measured = items.every((it) => it.run) ? sum(items, time) : 0;
  return {
    count: items.length, measured, cost: sum(items, (it) => it.cost),
    ns: sum(items, (it) => it.ns), share: measured / Math.max(1e-9, sum(schedule.items, time)),
  };
}

/**
 * Bytes and operations in a nanosecond of the time measured, in words; "" where there are none.
 * @param {number} amount
 * @param {number} ns
 */
export function rateOf(amount, ns) {
  return amount && ns ? String(Number((amount / ns).toPrecision(3))) : "";
}

/** The measurement of one page. `state` is "none", "asking", "failed" or "known". */
export class Measured {
  /**
   * @param {{schedule: Schedule | null, stageById: Map<string, {units: any[]}>}} model
   * @param {import("./requests.js").Requests} requests
   */
  constructor(model, requests) {
    this.schedule = model.schedule;
    this.requests = requests;
    this.isPossible = Boolean(this.schedule && model.stageById.get("run")?.units.length);
    this.state = "none";
    this.version = 0;
    this.problem = "";
    this.progress = "";
    /** @type {Answer | null} */
    this.answer = null;
    /** @type {(() => void)[]} */
    this.listeners = [];
    if (!this.isPossible) return;
    this.read();
    requests.onLive(() => this.tell());
    requests.onLost(() => this.tell());
  }

  get isKnown() {
    return this.state === "known";
  }

  /** True if there are times, or may be some. */
  get isOffered() {
    return this.isPossible && (this.state !== "none" || this.requests.offers("measure", {}));
  }

  get isLive() {
    return this.requests.isLive;
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.listeners.push(listener);
  }

  tell() {
    this.version += 1;
    this.listeners.forEach((listener) => listener());
  }

  /** Takes what was recorded, by this page or by Python. */
  read() {
    const found = this.requests.recorded("measure", {});
    if (!found || found === this.answer || this.state === "asking") return false;
    this.take(found);
    return true;
  }

  /** Python may have measured by itself. */
  adopt() {
    if (this.isPossible && this.read()) this.tell();
  }

  /** @param {Answer} answer */
  take(answer) {
    this.answer = answer;
    this.problem = answer.problem ?? "";
    this.state = this.problem ? "failed" : "known";
    if (!this.problem && this.schedule) takeTimes(this.schedule, answer);
  }

  /** Asks unless it was asked for before, where Python answers. */
  want() {
    if (this.isPossible && this.state === "none" && this.isLive) this.ask();
  }

  /** Runs the program now, whatever was recorded. */
  ask() {
    if (this.state === "asking") return;
    this.state = "asking";
    this.progress = "running the program a few times …";
    this.tell();
    const show = (/** @type {string} */ words) => { this.progress = words; this.tell(); };
    this.requests.ask("measure", {}, show, true)
      .then((answer) => this.take(answer), (/** @type {Error} */ error) => {
        this.state = "failed";
        this.problem = error.message;
      }).then(() => this.tell());
  }

  /** The reason why there are no times, as the rest of a sentence. */
  get words() {
    if (!this.isPossible) return "this program cannot be run";
    if (this.state === "asking") return this.progress;
    if (this.state === "failed") return `it could not be measured: ${this.problem}`;
    if (this.isLive) return "not measured yet";
    const why = this.requests.isExported ? NOT_RUN : `${NOT_RUN}, and no Python kernel answers`;
    return `${why}: ${this.requests.howTo("measure")}`;
  }
}

// What one run took (see measured.py): asked for when somebody wants it, kept with the schedule's
// items. Pure but for the requests.

/** @typedef {{ns: number, low: number, high: number, rounds: number, start: number, late: number,
 *   cost: number, critical: boolean, bound: string}} Time */

const NO_KERNEL = "the program was not run when this page was made, and no Python kernel answers: "
  + "run the notebook's cell again, or make the page with explore(x, measure=True)";

/**
 * Writes `measured` (nanoseconds) and `run` (when it ran, see `schedule.js`) into the items.
 * @param {any} schedule
 * @param {(Time | null)[]} rows
 */
export function takeTimes(schedule, rows) {
  schedule.items.forEach((/** @type {any} */ item, /** @type {number} */ position) => {
    const row = rows[position] ?? null;
    item.measured = row && row.ns;
    item.run = row && { ...row, finish: row.start + row.cost, slack: row.late - row.start };
  });
}

/**
 * Measured beside estimated: "1.25×".
 * @param {any} item of the schedule
 */
export function ratioOf(item) {
  const ratio = item.measured / Math.max(1, item.cost);
  return `${ratio >= 100 ? Math.round(ratio) : Number(ratio.toPrecision(3))}×`;
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
  constructor(model, requests) {
    this.schedule = model.schedule;
    this.requests = requests;
    this.isPossible = Boolean(model.stageById.get("run")?.units.length);
    this.state = "none";
    this.version = 0;
    this.problem = "";
    this.progress = "";
    this.answer = null;
    this.listeners = [];
    if (!this.isPossible) return;
    this.read();
    requests.onLive(() => this.tell());
  }

  get isKnown() {
    return this.state === "known";
  }

  get isLive() {
    return this.requests.isLive;
  }

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

  take(answer) {
    this.answer = answer;
    this.problem = answer.problem ?? "";
    this.state = this.problem ? "failed" : "known";
    if (!this.problem) takeTimes(this.schedule, answer.items);
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
    const show = (words) => { this.progress = words; this.tell(); };
    this.requests.ask("measure", {}, show, true)
      .then((answer) => this.take(answer), (error) => {
        this.state = "failed";
        this.problem = error.message;
      }).then(() => this.tell());
  }

  /** Where there are no times: why, as the rest of a sentence. */
  get words() {
    if (!this.isPossible) return "this program cannot be run";
    if (this.state === "asking") return this.progress;
    if (this.state === "failed") return `it could not be measured: ${this.problem}`;
    return this.isLive ? "not measured yet" : NO_KERNEL;
  }
}

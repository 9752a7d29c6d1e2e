// One run of a cluster's workers, on one clock (see lanes.py), decoded. Pure.

import { bytes, count, counted, nanoseconds, percent } from "../kit/words.js";

/**
 * @typedef {import("./wire.js").Lanes} Rows
 * @typedef {Object} Bar
 * @property {number} number
 * @property {number} lane
 * @property {string} kind kernel, move, compile, transfer, send, submit or gather
 * @property {number} start nanoseconds since the run began
 * @property {number} finish
 * @property {number} item position in the schedule; -1: of none
 * @property {string} name
 * @property {number} bytes
 * @property {number} source the lane that they came from; -1: of no transfer
 * @property {number[]} needs numbers of bars
 * @property {string} words
 * @property {boolean} critical whether the end of the run waited for it
 *
 * @typedef {Object} Wait
 * @property {number} lane
 * @property {number} start
 * @property {number} finish
 * @property {number} next the bar after it
 * @property {number} on the bar that was waited for; -1: nothing of the program
 * @property {number} ready when that was there
 * @property {string} words
 *
 * @typedef {{name: string, address: string, error: number, busy: number, waiting: number}} Lane
 */

/** The colours of bars, by what they do. */
export const KINDS = {
  kernel: "kernel", move: "transfer", transfer: "transfer", send: "transfer", gather: "transfer",
  compile: "control", submit: "control",
};

/** The part of Python's answer about one run. */
export class LaneData {
  /** @param {Rows} row */
  constructor(row) {
    this.ns = row.ns;
    this.error = row.error;
    this.moved = row.moved;
    this.sent = row.sent;
    this.fetched = row.fetched;
    this.again = row.again;
    this.lost = row.lost;
    this.unsent = row.unsent;
    this.dashboard = pageOf(row.dashboard);
    this.path = row.path;
    const path = new Set(row.path);
    /** @type {Bar[]} */
    this.bars = row.bars.map((it, number) => {
      const [lane, kind, start, finish, item, name, nbytes, source, needs, words] = it;
      return { number, lane, kind, start, finish, item, name, bytes: nbytes, source, needs, words,
        critical: path.has(number) };
    });
    /** @type {Wait[]} */
    this.waits = row.waits.map(([lane, start, finish, next, on, ready, words]) =>
      ({ lane, start, finish, next, on, ready, words }));
    /** @type {Lane[]} */
    this.lanes = row.lanes.map(([name, address, error], lane) => ({
      name, address, error,
      busy: covered(this.bars.filter((it) => it.lane === lane && it.kind !== "transfer")),
      waiting: covered(this.waits.filter((it) => it.lane === lane)),
    }));
    /** @type {Map<number, {start: number, finish: number}>} */
    this.times = timesOf(this.bars);
  }

  /** Start and end of an item on any worker, or undefined. @param {number} position */
  timeOf(position) {
    return this.times.get(position);
  }

  get transfers() {
    return this.bars.filter((it) => it.kind === "transfer");
  }

  /**
   * Bars of the critical path in different lanes, one after the other, that no transfer joins.
   * @returns {[Bar, Bar][]}
   */
  get crossings() {
    const bars = this.path.map((number) => this.bars[number]);
    return bars.slice(1).map((bar, at) => /** @type {[Bar, Bar]} */ ([bars[at], bar]))
      .filter(([a, b]) => a.lane !== b.lane && b.kind !== "transfer");
  }

  /** The error of the alignment of two lanes' clocks. */
  get clocks() {
    return this.error ? `clocks of workers aligned, ± ${nanoseconds(this.error)} at most`
      : "workers and this process share one clock";
  }

  /** The line above the lanes. */
  get caption() {
    const own = this.path.reduce((sum, number) => {
      const { start, finish } = this.bars[number];
      return sum + finish - start;
    }, 0);
    const lost = this.lost.length && `${counted(this.lost.length, "worker")} lost, ${
      counted(this.again.length, "item")} computed again`;
    return [
      `measured: ${nanoseconds(this.ns)} on ${counted(this.lanes.length - 1, "worker")}`,
      this.clocks, `${bytes(this.moved)} moved between workers`,
      `critical path ${counted(this.path.length, "bar")}, ${
        percent(Math.min(1, own / Math.max(1, this.ns)))} of the time, the rest is waiting`,
      lost, this.unsent && `${count(this.unsent)} short bars left out`,
    ].filter(Boolean).join(" · ").replace(/(\d) (?=[%\w])/g, "$1\u00a0");
  }

  /** The tooltip of a bar. @param {Bar} bar */
  words(bar) {
    const late = bar.needs.length ? ` after ${this.bars[this.lastOf(bar.needs)].words}` : "";
    return `${bar.words}, ${nanoseconds(bar.finish - bar.start)}${
      bar.bytes ? `, ${bytes(bar.bytes)}` : ""}${late}${
      bar.critical ? "; on the critical path of the run" : ""}`;
  }

  /** The tooltip of a wait. @param {Wait} wait */
  waitWords(wait) {
    return `${this.lanes[wait.lane].name} waits ${nanoseconds(wait.finish - wait.start)}: ${
      wait.words}`;
  }

  /** @param {number[]} numbers */
  lastOf(numbers) {
    return numbers.reduce((a, b) => (this.bars[b].finish > this.bars[a].finish ? b : a));
  }
}

/**
 * The time that spans cover, together.
 * @param {{start: number, finish: number}[]} spans
 */
function covered(spans) {
  let [total, until] = [0, 0];
  for (const { start, finish } of [...spans].sort((a, b) => a.start - b.start)) {
    total += Math.max(0, finish - Math.max(start, until));
    until = Math.max(until, finish);
  }
  return total;
}

/** @param {Bar[]} bars */
function timesOf(bars) {
  /** @type {Map<number, {start: number, finish: number}>} */
  const found = new Map();
  for (const { item, start, finish } of bars.filter((it) => it.item >= 0)) {
    const known = found.get(item);
    found.set(item, known ? { start: Math.min(known.start, start),
      finish: Math.max(known.finish, finish) } : { start, finish });
  }
  return found;
}

/** An address that is a page's; "" of anything else. @param {string} address */
function pageOf(address) {
  return /^https?:\/\//i.test(address) ? address : "";
}

// The schedule, decoded from the wire (see schedule.py) and indexed for its views. Pure: no page.

import { bytes, count, nanoseconds } from "../kit/words.js";
import { slackOf } from "./measured.js";

/**
 * @typedef {import("./wire.js").ScheduleRows} ScheduleRows
 * @typedef {import("./wire.js").ItemRow & {position: number, kind: string, finish: number,
 *   slack: number, measured?: number | null, run?: import("./measured.js").Ran | null}} Item
 * @typedef {{from: number, to: number, kind: string, buffers: number[], nbytes: number,
 *   critical: boolean}} Dependency
 */

export class ScheduleData {
  /** @param {ScheduleRows} wire */
  constructor(wire) {
    Object.assign(this, wire);
    this.buffers = wire.buffers;
    this.shares = wire.shares;
    this.fusions = wire.fusions;
    /** @type {Item[]} */
    this.items = wire.items.map((row, position) => ({
      ...row, position, kind: row.op, finish: row.start + row.cost, slack: slackOf(row),
    }));
    this.itemOf = new Map(this.items.map((row) => [row.e, row]));
    this.bufferOf = new Map(wire.buffers.map((row, number) => [row.e, { ...row, number }]));
    this.fusionOf = new Map((wire.fusions || []).map((row) => [row.e, row]));
    /** By estimate; `measuredPath` is that by measurement, null where nothing was measured. */
    this.path = wire.path ?? positions(this.items);
    /** @type {number[] | null} */
    this.measuredPath = null;
    /** The work of a cluster's workers in the run that was measured.
     * @type {import("./lanes.js").LaneData | null} */
    this.workers = null;
    /** @type {Map<number, number>} */
    this.loopOf = new Map();
    wire.loops.forEach((loop, number) =>
      loop.items.forEach((position) => this.loopOf.set(position, number)));
    /** @type {Dependency[][]} */
    this.before = this.items.map(() => []);
    /** @type {Dependency[][]} */
    this.behind = this.items.map(() => []);
    wire.dependencies.forEach(([from, to, kind, buffers, nbytes, critical]) => {
      const edge = { from, to, kind, buffers, nbytes, critical };
      this.before[to].push(edge);
      this.behind[from].push(edge);
    });
  }

  /**
   * Start and end of an item: by the estimates or, if `by` says so and it is known, as measured.
   * @param {Item} item @param {string} by
   */
  when(item, by) {
    return (by === "measured" && item.run) || item;
  }

  /**
   * True if one item ends where the other begins, both without slack.
   * @param {Dependency} edge @param {string} by
   */
  isCritical(edge, by) {
    const [a, b] = [edge.from, edge.to].map((it) => this.items[it]);
    if (by !== "measured" || !a.run || !b.run) return edge.critical;
    return !a.run.slack && !b.run.slack && isSameTime(a.run.finish, b.run.start);
  }

  /**
   * The reason why an item has no slack.
   * @param {Item} item @param {string} by
   */
  criticalWords(item, by) {
    const path = (by === "measured" && this.measuredPath) || this.path;
    return path.includes(item.position) ? "on the critical path"
      : "on a path as long as the critical path";
  }

  /**
   * "kernel k7 matmul+relu 64×32, line 12": what an item is called.
   * @param {Item} item
   */
  nameOf(item) {
    const counters = item.fixed.map(([name, value]) => `${name} = ${value}`).join(", ");
    return [`${item.op} ${item.title ?? item.name}`.trim(), counters].filter(Boolean).join(", ");
  }

  /**
   * The name of an entity of the schedule that is neither drawn nor printed.
   * @param {number} entity
   */
  caption(entity) {
    const fusion = this.fusionOf.get(entity);
    if (fusion?.value) return `${fusion.value} in ${this.items[fusion.from].name}`;
    if (fusion) return `${this.items[fusion.from].name} + ${this.items[fusion.to].name}`;
    const buffer = this.bufferOf.get(entity);
    if (buffer) return `buffer ${buffer.name}`;
    const item = this.itemOf.get(entity);
    return item ? this.nameOf(item) : "";
  }

  /**
   * "data: hidden (8 KiB)": why one item waits for another.
   * @param {Dependency} edge
   */
  reasonOf({ kind, buffers, nbytes }) {
    const names = buffers.map((it) => this.buffers[it].name).join(", ");
    return `${kind}${names ? `: ${names}` : ""}${nbytes ? ` (${bytes(nbytes)})` : ""}`;
  }

  /**
   * The words of an edge of the schedule's graph.
   * @param {{from: {row: {e: number}}, to: {row: {e: number}}, kind: string}} edge
   */
  edgeWords({ from, to, kind }) {
    const [a, b] = [this.itemOf.get(from.row.e), this.itemOf.get(to.row.e)];
    if (!a || !b) return kind;
    const ends = `${this.nameOf(a)} → ${this.nameOf(b)}`;
    /** @param {{from: number, to: number}} it */
    const isBetween = (it) => it.from === a.position && it.to === b.position;
    if (kind === "fusion") {
      return [ends, ...(this.fusions || []).filter(isBetween).map((it) => this.verdict(it))]
        .join("\n");
    }
    const edges = this.behind[a.position].filter((it) => isBetween(it) && it.kind === kind);
    return [ends, ...edges.map((it) => this.reasonOf(it))].join("\n");
  }

  /** @param {import("./wire.js").FusionRow} fusion */
  verdict({ taken, reason }) {
    return `${taken ? "✓ taken" : "✗ not taken"}: ${reason}`;
  }

  /**
   * The buffers that an entity names: a buffer itself, or the arguments of an item.
   * @param {number} entity
   */
  buffersAt(entity) {
    const buffer = this.bufferOf.get(entity);
    const item = this.itemOf.get(entity);
    return new Set(buffer ? [buffer.number] : (item?.args || []).map(([number]) => number));
  }

  /**
   * The positions of the items that an entity names: an item, both of a fusion, a buffer's.
   * @param {number} entity
   */
  itemsAt(entity) {
    const fusion = this.fusionOf.get(entity);
    if (fusion) return new Set([fusion.from, fusion.to]);
    const item = this.itemOf.get(entity);
    return new Set(item ? [item.position] : []);
  }
}

const TOLERANCE = 1e-9; // of times that are sums; as in compiler/schedule/analysis/costs.py

/** @param {number} one @param {number} other */
function isSameTime(one, other) {
  return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
}

/**
 * The items that were marked: pages of old did so on the path alone.
 * @param {{position: number, critical: boolean}[]} items
 */
function positions(items) {
  return items.filter((it) => it.critical).map((it) => it.position);
}

/**
 * The change by a fusion, by the estimates: "−210 ns (−0.28 %)", "+41 µs (+410 %)".
 * @param {{change: number, score: number}} row
 */
export function changeWords({ change, score }) {
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  const share = Number((100 * Math.abs(score)).toPrecision(2));
  return `${sign}${nanoseconds(Math.abs(change))} (${sign}${count(share)} %)`;
}

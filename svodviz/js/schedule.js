// The schedule, decoded from the wire (see schedule.py) and indexed for its views. Pure: no page.

import { bytes } from "./dom.js";

export class ScheduleData {
  constructor(wire) {
    Object.assign(this, wire);
    this.items = wire.items.map((row, position) => ({
      ...row, position, kind: row.op, finish: row.start + row.cost, slack: row.late - row.start,
    }));
    const byEntity = (rows) => new Map(rows.map((row) => [row.e, row]));
    this.itemOf = byEntity(this.items);
    this.bufferOf = new Map(wire.buffers.map((row, number) => [row.e, { ...row, number }]));
    this.fusionOf = byEntity(wire.fusions || []);
    this.loopOf = new Map(wire.loops.flatMap((loop, number) =>
      loop.items.map((position) => [position, number])));
    this.before = this.items.map(() => []);
    this.behind = this.items.map(() => []);
    wire.dependencies.forEach(([from, to, kind, buffers, nbytes, critical]) => {
      const edge = { from, to, kind, buffers, nbytes, critical };
      this.before[to].push(edge);
      this.behind[from].push(edge);
    });
  }

  /** When an item runs: by the estimates or, where `by` says so and it is known, as measured. */
  when(item, by) {
    return (by === "measured" && item.run) || item;
  }

  /** Whether the one item ends where the other begins, both without time to spare. */
  isCritical(edge, by) {
    const [a, b] = [edge.from, edge.to].map((it) => this.items[it]);
    if (by !== "measured" || !a.run || !b.run) return edge.critical;
    return a.run.critical && b.run.critical && a.run.finish === b.run.start;
  }

  /** "kernel step, i = 2": what an item is called. */
  nameOf(item) {
    const counters = item.fixed.map(([name, value]) => `${name} = ${value}`).join(", ");
    return [`${item.op} ${item.name}`.trim(), counters].filter(Boolean).join(", ");
  }

  /** What an entity of the schedule that is neither drawn nor printed is called. */
  caption(entity) {
    const fusion = this.fusionOf.get(entity);
    if (fusion?.value) return `${fusion.value} in ${this.items[fusion.from].name}`;
    if (fusion) return `${this.items[fusion.from].name} + ${this.items[fusion.to].name}`;
    const buffer = this.bufferOf.get(entity);
    if (buffer) return `buffer ${buffer.name}`;
    return this.itemOf.has(entity) ? this.nameOf(this.itemOf.get(entity)) : "";
  }

  /** "data: hidden (8 KiB)": why one item waits for another. */
  reasonOf({ kind, buffers, nbytes }) {
    const names = buffers.map((it) => this.buffers[it].name).join(", ");
    return `${kind}${names ? `: ${names}` : ""}${nbytes ? ` (${bytes(nbytes)})` : ""}`;
  }

  /** The words of an edge of the schedule's graph. */
  edgeWords({ from, to, kind }) {
    const [a, b] = [this.itemOf.get(from.row.e), this.itemOf.get(to.row.e)];
    if (!a || !b) return kind;
    const ends = `${this.nameOf(a)} → ${this.nameOf(b)}`;
    const isBetween = (it) => it.from === a.position && it.to === b.position;
    if (kind === "fusion") {
      return [ends, ...(this.fusions || []).filter(isBetween).map((it) => this.verdict(it))]
        .join("\n");
    }
    const edges = this.behind[a.position].filter((it) => isBetween(it) && it.kind === kind);
    return [ends, ...edges.map((it) => this.reasonOf(it))].join("\n");
  }

  verdict({ taken, reason }) {
    return `${taken ? "✓ taken" : "✗ not taken"}: ${reason}`;
  }

  /** The buffers that an entity names: a buffer itself, or the arguments of an item. */
  buffersAt(entity) {
    const buffer = this.bufferOf.get(entity);
    const item = this.itemOf.get(entity);
    return new Set(buffer ? [buffer.number] : (item?.args || []).map(([number]) => number));
  }

  /** The positions of the items that an entity names: an item, both of a fusion, a buffer's. */
  itemsAt(entity) {
    const fusion = this.fusionOf.get(entity);
    if (fusion) return new Set([fusion.from, fusion.to]);
    const item = this.itemOf.get(entity);
    return new Set(item ? [item.position] : []);
  }
}

// Arrows between workers' lanes: each transfer from when it left to when it was there, and steps of
// the critical path from lane to lane.

import { s } from "../../kit/dom.js";
import { HEAD } from "./rows.js";
import { TRACK } from "./tracks.js";

const MOST_ARROWS = 300; // of one drawing: a choice; the largest transfers

export class WorkerArrows {
  /** @param view the timeline, which knows its rows and what stands where */
  constructor(view) {
    this.view = view;
    this.leftOut = 0;
  }

  draw() {
    const { left, width, after, height, schedule, window } = this.view;
    const data = schedule.workers;
    const seen = data.transfers.filter((it) => it.source >= 0 && window.sees(it));
    const drawn = [...seen].sort((a, b) => b.critical - a.critical || b.bytes - a.bytes)
      .slice(0, MOST_ARROWS);
    const steps = data.crossings.filter(([a, b]) =>
      window.sees({ start: a.finish, finish: b.start }));
    this.leftOut = seen.length - drawn.length;
    return s("svg", {
      class: "timeline-arrows workers", width: left + width + after, height,
      "aria-hidden": "true",
      style: `clip-path: inset(0 ${Math.max(0, after - 4)}px 0 ${left - 4}px)`,
    }, ...steps.slice(0, MOST_ARROWS).flatMap(([a, b]) => this.step(a, b)),
    ...drawn.flatMap((it) => this.transfer(it)));
  }

  /** The rows of each lane by what is in them. */
  rowOf(lane, isStrip, number) {
    const type = isStrip ? "strip" : "track";
    const rows = this.view.rows.filter((row) => row.lane === lane && row.type === type);
    return rows.find((row) => row.spans.some((it) => it.item === number)) ?? rows[0];
  }

  transfer(bar) {
    const { view } = this;
    const to = this.rowOf(bar.lane, true, bar.number);
    const from = this.rowOf(bar.source, false, this.lastNeed(bar));
    return this.arrow(view.x(bar.start), from, view.x(bar.finish), to, [bar], "transfer",
      view.schedule.workers.words(bar));
  }

  lastNeed({ needs }) {
    return needs.length ? this.view.schedule.workers.lastOf(needs) : -1;
  }

  step(a, b) {
    const { view } = this;
    const from = this.rowOf(a.lane, a.kind === "transfer", a.number);
    const to = this.rowOf(b.lane, false, b.number);
    return this.arrow(view.x(a.finish), from, view.x(b.start), to, [a, b], "step",
      `${a.words} → ${b.words}`);
  }

  arrow(x1, from, x2, to, bars, kind, words) {
    const isDown = to.top > from.top;
    const edge = (row, isLower) => HEAD + row.top
      + (row.type === "strip" ? (isLower ? 15 : 1) : (isLower ? TRACK - 3 : 3));
    const [y1, tip] = [edge(from, isDown), edge(to, !isDown)];
    const end = Math.max(x2, x1 - 1);
    const line = `M${x1} ${y1}L${end} ${tip}`;
    const angle = Math.atan2(tip - y1, end - x1);
    const at = (turn) => `${end - 8 * Math.cos(angle + turn)} ${tip - 8 * Math.sin(angle + turn)}`;
    const isCritical = bars.every((it) => it.critical);
    const classes = `dependency ${kind}${isCritical ? " critical" : ""}`;
    const paths = [
      s("path", { class: "dependency-hit", d: line }, s("title", {}, words)),
      s("path", { class: classes, d: line }, s("title", {}, words)),
      s("path", { class: `${classes} head`, d: `M${at(-0.4)}L${end} ${tip}L${at(0.4)}` }),
    ];
    const ends = bars.map((it) => this.view.schedule.items[it.item]?.e).filter((it) => it >= 0);
    paths.forEach((path) => { path.ends = ends; });
    return paths;
  }
}

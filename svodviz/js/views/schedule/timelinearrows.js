// The arrows of the timeline: what waits for what, by the kind of dependency.

import { s } from "../../kit/dom.js";
import { HEAD, ROW } from "./rows.js";

const MOST_ARROWS = 1200; // drawn at once: a choice, no measurement
// Of the bars that arrows join: their middle, upper and lower edge within a row.
const ALONE = [ROW / 2, 6, ROW - 6];
const BOTH = { estimated: [11.5, 4, 20], measured: [25.5, 21, 30] };

export class TimelineArrows {
  /** @param view the timeline, which knows its rows and what stands where */
  constructor(view) {
    this.view = view;
    this.leftOut = 0;
  }

  /** Arrows between the rows on screen, as many as can be told apart. */
  draw(rows) {
    const { left, width, after, height, folded } = this.view;
    const picture = s("svg", {
      class: "timeline-arrows", width: left + width + after, height,
      "aria-hidden": "true",
    });
    const { behind, before } = this.view.schedule;
    const isSeen = (row) => row.type === "item" || folded.has(row.loop);
    const edges = new Set(rows.filter(isSeen)
      .flatMap((row) => row.items.flatMap((it) => [...behind[it], ...before[it]])));
    const wanted = [...edges].filter((edge) =>
      this.view.rowOf.get(edge.from) !== this.view.rowOf.get(edge.to));
    const drawn = this.oneOfEach(wanted).slice(0, MOST_ARROWS);
    const beside = new Map();
    for (const edge of drawn) {
      const key = `${edge.from} ${edge.to}`;
      picture.append(...this.arrow(edge, beside.get(key) ?? 0));
      beside.set(key, (beside.get(key) ?? 0) + 1);
    }
    this.leftOut = wanted.length - drawn.length;
    return picture;
  }

  /** The edges without all but the first of each kind between two rows, where one is folded. */
  oneOfEach(edges) {
    const found = new Map();
    for (const edge of edges) {
      const rows = [edge.from, edge.to].map((it) => this.view.rowOf.get(it));
      const isFolded = rows.some((row) => row.type === "loop");
      const ends = isFolded ? rows.map((row) => row.top) : [edge.from, edge.to];
      const key = `${isFolded} ${ends.join(" ")} ${edge.kind}`;
      if (!found.has(key)) found.set(key, edge);
    }
    return [...found.values()];
  }

  arrow(edge, beside) {
    const { view } = this;
    const { schedule } = view;
    const [a, b] = [edge.from, edge.to].map((it) => schedule.items[it]);
    const [from, to] = [edge.from, edge.to].map((it) => view.rowOf.get(it));
    const x1 = view.x(view.when(a).finish);
    const [middle, upper, lower] = view.isMeasured ? BOTH[view.by] : ALONE;
    const y1 = HEAD + from.top + middle + 4 * beside;
    const isDown = to.top > from.top;
    const x2 = Math.max(view.x(view.when(b).start) + 6, x1 - 1) + 8 * beside;
    const tip = HEAD + to.top + (isDown ? upper : lower);
    const back = isDown ? -6 : 6;
    const line = `M${x1} ${y1}C${x1 + 12} ${y1} ${x2} ${(y1 + tip) / 2} ${x2} ${tip}`;
    const isCritical = schedule.isCritical(edge, view.by);
    const classes = isCritical ? "dependency critical" : "dependency";
    const ends = `${schedule.nameOf(a)} → ${schedule.nameOf(b)}`;
    const head = `M${x2 - 3.5} ${tip + back}L${x2} ${tip}L${x2 + 3.5} ${tip + back}`;
    const title = () => s("title", {}, `${ends}\n${schedule.reasonOf(edge)}`);
    const paths = [
      s("path", { class: "dependency-hit", d: line }, title()),
      s("path", { class: classes, d: line, "data-edge": edge.kind }, title()),
      s("path", { class: `${classes} head`, d: head }),
    ];
    paths.forEach((path) => { path.ends = [a.e, b.e]; });
    return paths;
  }
}

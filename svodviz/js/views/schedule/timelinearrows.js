// The arrows of the timeline: dependencies, by their kind.

import { s } from "../../kit/dom.js";
import { HEAD, ROW } from "./rows.js";
import { TRACK } from "./tracks.js";

const MOST_ARROWS = 1200; // drawn at once: a choice, no measurement
// The bars that arrows join: their middle, upper and lower edge within a row.
const FEW_ARROWS = 60; // drawn where lanes are packed; of more only those of what is followed
const CLEAR = 14; // pixels of a box that an arrow can be seen to start from, or end at
const DEEP = 9; // pixels that an arrow within one track hangs below it
const ALONE = [ROW / 2, 6, ROW - 6];
const PACKED = [TRACK / 2, 3, TRACK - 3];
const BOTH = { estimated: [11.5, 4, 20], measured: [25.5, 21, 30] };

export class TimelineArrows {
  /** @param view the timeline, which knows its rows and what stands where */
  constructor(view) {
    this.view = view;
    this.leftOut = 0;
  }

  /** Arrows between the rows on screen, as many as can be distinguished; `focus` is followed. */
  draw(rows, focus) {
    const { left, width, after, height } = this.view;
    const picture = s("svg", {
      class: "timeline-arrows", width: left + width + after, height, "aria-hidden": "true",
      style: `clip-path: inset(0 ${Math.max(0, after - 4)}px 0 ${left - 4}px)`,
    });
    const wanted = this.view.isPacked ? this.packed(focus) : this.between(rows);
    const drawn = this.oneOfEach(wanted).slice(0, MOST_ARROWS);
    const ranks = new Map();
    for (const edge of drawn) {
      const key = `${edge.from} ${edge.to}`;
      picture.append(...this.arrow(edge, ranks.get(key) ?? 0));
      ranks.set(key, (ranks.get(key) ?? 0) + 1);
    }
    this.leftOut = wanted.length - drawn.length;
    return picture;
  }

  /** The edges of the items in these rows that lead to other rows. */
  between(rows) {
    const { folded, rowOf, schedule } = this.view;
    const { behind, before } = schedule;
    const isSeen = (row) => row.type === "item" || folded.has(row.loop);
    const edges = new Set(rows.filter(isSeen)
      .flatMap((row) => row.items.flatMap((it) => [...behind[it], ...before[it]])));
    return [...edges].filter((edge) => rowOf.get(edge.from) !== rowOf.get(edge.to));
  }

  /**
   * If lanes are packed: the edges of followed items and, if they are few, all others from
   * track to track.
   */
  packed(focus) {
    const { view } = this;
    const { rowOf, schedule, window } = view;
    const { behind, before, itemOf, items } = schedule;
    const item = itemOf.get(focus);
    const own = item ? [...before[item.position], ...behind[item.position]] : [];
    const clear = new Set(items.filter((it) => {
      const time = view.timeOf(it);
      return window.sees(time) && view.x(time.finish) - view.x(time.start) > CLEAR;
    }).map((it) => it.position));
    const others = [...clear].flatMap((it) => behind[it]).filter((edge) => clear.has(edge.to)
      && rowOf.get(edge.from) !== rowOf.get(edge.to) && !own.includes(edge));
    return others.length > FEW_ARROWS ? own : [...others, ...own];
  }

  /**
   * The edges without all but the first of each kind between two rows, where one is folded, and
   * between two items of one track.
   */
  oneOfEach(edges) {
    const found = new Map();
    for (const edge of edges) {
      const rows = [edge.from, edge.to].map((it) => this.view.rowOf.get(it));
      const isFolded = rows.some((row) => row.type === "loop");
      const ends = isFolded ? rows.map((row) => row.top) : [edge.from, edge.to];
      const key = rows[0] === rows[1] ? ends.join(" ")
        : `${isFolded} ${ends.join(" ")} ${edge.kind}`;
      if (!found.has(key)) found.set(key, edge);
    }
    return [...found.values()];
  }

  /** The middle, upper and lower edge of the bars of a row. */
  edges() {
    const { view } = this;
    if (view.isPacked) return PACKED;
    return view.isMeasured ? BOTH[view.by] : ALONE;
  }

  arrow(edge, rank) {
    const { view } = this;
    const { schedule } = view;
    const [a, b] = [edge.from, edge.to].map((it) => schedule.items[it]);
    const [from, to] = [edge.from, edge.to].map((it) => view.rowOf.get(it));
    const x1 = view.x(view.timeOf(a).finish);
    const [middle, upper, lower] = this.edges();
    const isDown = to.top > from.top;
    const isSame = to.top === from.top;
    const y1 = HEAD + from.top + (isSame ? lower : middle + 4 * rank);
    const x2 = Math.max(view.x(view.timeOf(b).start) + 6, x1 - 1) + 8 * rank;
    const tip = HEAD + to.top + (isDown ? upper : lower);
    const back = isDown ? -6 : 6;
    const line = isSame
      ? `M${x1 - 4} ${y1}C${x1 - 4} ${y1 + DEEP} ${x2} ${y1 + DEEP} ${x2} ${tip}`
      : `M${x1} ${y1}C${x1 + 12} ${y1} ${x2} ${(y1 + tip) / 2} ${x2} ${tip}`;
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

// The schedule on an axis of time: a lane for each device, bars from the earliest start, slack as a
// hollow extension up to the latest one, dependencies by kind, and the memory curve beneath. What
// was measured is a thin dark bar under the estimate's.

import { ratioOf } from "../../data/measured.js";
import { button, count, counted, h, nanoseconds } from "../../kit/dom.js";
import { MemoryCurve } from "./curve.js";
import { barsOf, foldedAtFirst, HEAD, ROW, rowOfItem, rowsBetween, rowsOf } from "./rows.js";
import { TimelineArrows } from "./timelinearrows.js";
import { labelOf, labelWidth } from "./timelinelabels.js";
import { pathWords, TimelineTools, timeWords } from "./timelinetools.js";

const AFTER = 82; // pixels to the right for the words after the last bar
const AFTER_BOTH = 132; // the same where the ratio of both times stands there

export class TimelineView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.schedule = store.model.schedule;
    this.found = new Set();
    this.critical = false;
    this.by = "estimated";
    this.tools = new TimelineTools(store, this);
    this.arrows = new TimelineArrows(this);
    this.body = h("div", { class: "timeline-body" });
    this.scroll = h("div", {
      class: "timeline", tabindex: "0", role: "group", "aria-label": "Schedule timeline",
      onscroll: () => this.draw(),
    }, this.body);
    this.curve = new MemoryCurve(store);
    this.root = h("div", {
      class: "timeline-view",
      onclick: (event) => this.click(event),
      onmouseover: (event) => store.hover(this.entityAt(event)),
      onmouseleave: () => store.hover(-1),
    }, this.tools.root, this.scroll, this.curve.root);
    store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  entityAt(event) {
    const node = event.target.closest?.("[data-entity]");
    return node ? Number(node.dataset.entity) : -1;
  }

  click(event) {
    if (!event.target.closest("button")) this.store.select(this.entityAt(event));
  }

  show() {
    const { version } = this.store.measured;
    if (!this.rows || this.version !== version) this.read();
    this.version = version;
    this.tools.show();
    this.draw();
    this.reveal();
  }

  read() {
    const { items } = this.schedule;
    this.folded ??= foldedAtFirst(this.schedule);
    this.isMeasured = items.some((it) => it.run);
    if (!this.isMeasured) this.by = "estimated";
    const ends = items.flatMap((it) => [it, it.run].filter(Boolean));
    this.end = ends.reduce((end, it) => Math.max(end, it.finish + it.slack), 1);
    this.hasTimes = items.some((it) => it.finish > it.start);
    this.scroll.classList.toggle("both", this.isMeasured);
    this.scroll.dataset.by = this.by;
    this.arrange();
  }

  /** Draws critical path, slack and arrows by the estimates, or as measured. */
  followPath(by) {
    this.by = by;
    this.scroll.dataset.by = by;
    this.tools.show();
    this.place = "";
    this.draw();
  }

  /** When an item runs, by what the critical path is drawn. */
  when(item) {
    return this.schedule.when(item, this.by);
  }

  get after() {
    return this.isMeasured ? AFTER_BOTH : AFTER;
  }

  arrange() {
    this.place = "";
    this.rows = rowsOf(this.schedule, this.folded);
    this.rowOf = rowOfItem(this.rows);
    const last = this.rows[this.rows.length - 1];
    this.height = HEAD + last.top + last.height + 12;
    const widest = this.rows.reduce((most, row) =>
      Math.max(most, labelWidth(this.schedule, row)), 0);
    this.left = Math.min(270, Math.ceil(widest));
  }

  fold(loop) {
    if (!this.folded.delete(loop)) this.folded.add(loop);
    this.arrange();
    this.draw();
  }

  draw() {
    if (!this.rows) return;
    const { scrollTop, clientHeight } = this.scroll;
    const [top, bottom] = [scrollTop - HEAD - 200, scrollTop + (clientHeight || 800) + 200];
    this.drawn = rowsBetween(this.rows, top, bottom);
    this.width = Math.max(300, (this.scroll.clientWidth || 800) - this.left - this.after);
    this.fill();
    this.curve.draw(this.left, this.width);
    this.light();
    this.look.onStatus();
  }

  /** Puts the rows in view into the page, unless they are there: what has the focus keeps it. */
  fill() {
    const tops = this.drawn.map((row) => row.top);
    const place = [this.left, this.width, this.height, tops].join(" ");
    if (place === this.place) return;
    this.place = place;
    this.body.style.height = `${this.height}px`;
    this.body.replaceChildren(
      ...this.drawn.filter((row) => row.type === "lane").map((row) => this.lane(row)),
      this.axis(), this.arrows.draw(this.drawn),
      ...this.drawn.filter((row) => row.type !== "lane").map((row) => this.row(row)),
    );
  }

  x(time) {
    return this.left + (time / this.end) * this.width;
  }

  axis() {
    const step = niceStep(this.end, Math.max(2, Math.floor(this.width / 110)));
    const ticks = [];
    for (let time = 0; time <= this.end * 1.0001; time += step) {
      const line = h("div", { class: "tick", style: `left:${this.x(time)}px` });
      line.append(h("span", {}, nanoseconds(time)));
      ticks.push(line);
    }
    return h("div", { class: "axis", "aria-hidden": "true" },
      h("span", { class: "axis-title" }, "time"), ...ticks);
  }

  lane(row) {
    const next = this.rows.find((it) => it.type === "lane" && it.top > row.top);
    const height = (next ? next.top : this.height - HEAD) - row.top;
    return h(
      "div", { class: "lane", style: `top:${HEAD + row.top}px;height:${height}px` },
      h("span", { class: "lane-name" }, row.name),
      h("span", { class: "lane-count" }, counted(row.items.length, "item")),
    );
  }

  row(row) {
    if (row.type === "loop") return this.loop(row);
    return this.bar(row, this.schedule.items[row.items[0]]);
  }

  /** A loop: all its iterations in one row where it is folded, else a head above them. */
  loop(row) {
    const { loop, items } = row;
    const isFolded = this.folded.has(loop);
    const iterations = items.map((position) => this.schedule.items[position]);
    const label = labelOf(this.schedule, row);
    const kind = iterations[0].op;
    const measured = iterations.filter((it) => it.run)
      .map((it) => ({ ...it, ...it.run, run: it.run }));
    const bars = isFolded ? barsOf(iterations, (time) => this.x(time)) : [];
    const runs = isFolded ? barsOf(measured, (time) => this.x(time)) : [];
    return h(
      "div", { class: "loop-row", style: `top:${HEAD + row.top}px`, "data-kind": kind },
      button(isFolded ? "▸" : "▾", () => this.fold(loop), {
        class: "fold-button", "aria-expanded": String(!isFolded),
        "aria-label": `${isFolded ? "Unfold" : "Fold"} the loop ${label}`,
      }),
      h("span", { class: "item-label loop-label", style: `width:${this.left - 36}px`,
        title: label }, isFolded && iterations.some((it) => this.when(it).critical)
        && h("span", { class: "loop-sign", title: "critical: no slack" }, "◆ "), `↻ ${label}`),
      ...bars.map((bar) => this.iterationBar(bar, "")),
      ...runs.map((bar) => this.iterationBar(bar, " measured")),
      ...(isFolded ? this.loopTimes(iterations) : []),
    );
  }

  /** The time of all iterations together, behind the last of them. */
  loopTimes(iterations) {
    const sum = (of) => iterations.reduce((total, it) => total + of(it), 0);
    const last = (of) => iterations.reduce((end, it) => Math.max(end, of(it)), 0);
    const cost = sum((it) => it.finish - it.start);
    const took = this.time(0, last((it) => it.finish), nanoseconds(cost), 0, "");
    if (!iterations.every((it) => it.run)) return [took];
    const measured = sum((it) => it.measured);
    const words = `${nanoseconds(measured)}, ${ratioOf({ cost, measured })}`;
    return [took, this.time(0, last((it) => it.run.finish), words, 0, " measured")];
  }

  iterationBar({ start, finish, items }, kind) {
    const width = Math.max(2, this.x(finish) - this.x(start));
    const words = (items.length > 1 ? `${counted(items.length, "iteration")} together`
      : `${this.schedule.nameOf(items[0])}, ${nanoseconds(finish - start)}`) + kind;
    const isDrawn = (kind ? "measured" : "estimated") === this.by;
    const isCritical = isDrawn && items.some((it) => this.when(it).critical);
    return h("span", {
      class: `bar iteration${kind}${isCritical ? " critical" : ""}`, title: words,
      "data-entity": items.length > 1 ? null : items[0].e,
      style: `left:${this.x(start)}px;width:${width}px`,
    });
  }

  bar(row, item) {
    const { critical } = this.when(item);
    const words = this.words(item);
    const indent = row.loop === undefined ? "" : " in-loop";
    const parts = [
      h("span", { class: `item-label${indent}`, style: `width:${this.left - 14}px` },
        h("span", { class: "item-sign", "aria-hidden": "true" }, critical ? "◆" : ""),
        labelOf(this.schedule, row)),
      ...this.barOf(item, item, ""),
      ...(item.run ? this.barOf(item, item.run, " measured") : []),
    ];
    return h(
      "div",
      {
        class: critical ? "item critical" : "item", "data-entity": item.e,
        "data-kind": item.op, "data-position": item.position,
        style: `top:${HEAD + row.top}px`, role: "img", "aria-label": words, title: words,
      },
      ...parts,
    );
  }

  /** All that the drawing says of an item. */
  words(item) {
    const { critical, slack } = this.when(item);
    const took = nanoseconds(item.finish - item.start);
    const run = item.run
      ? `estimated ${took}, measured ${nanoseconds(item.measured)} (${ratioOf(item)})` : took;
    return `${this.schedule.nameOf(item)}, ${run}, `
      + (critical ? this.schedule.criticalWords(item, this.by) : `slack ${nanoseconds(slack)}`)
      + (item.tasks > 1 ? `, work shared by ${item.tasks} tasks` : "");
  }

  /** One bar of an item, its slack if that is the one drawn, and its time. */
  barOf(item, when, kind) {
    const { start, finish } = when;
    const slack = when === this.when(item) ? when.slack : 0;
    const width = Math.max(3, this.x(finish) - this.x(start));
    const parts = [
      h("span", { class: `bar${kind}`, style: `left:${this.x(start)}px;width:${width}px` }),
    ];
    if (slack > 0) {
      const wide = this.x(finish + slack) - this.x(finish);
      parts.push(h("span", {
        class: `slack${kind}`, style: `left:${this.x(finish)}px;width:${wide}px`,
      }, wide > 84 ? h("span", {}, `slack ${nanoseconds(slack)}`) : null));
    }
    const took = kind ? `${nanoseconds(item.measured)}, ${ratioOf(item)}`
      : nanoseconds(finish - start);
    return [...parts, this.time(start, finish + slack, took, kind ? 0 : width, kind)];
  }

  /** A time, inside its bar where it fits, else behind it. */
  time(start, end, took, width, kind) {
    const fits = width > took.length * 7 + 10;
    const left = fits ? this.x(start) + 6 : this.x(end) + 6;
    const place = fits ? "" : " beside";
    return h("span", { class: `item-time${kind}${place}`, style: `left:${left}px` }, took);
  }

  light() {
    const { selected, hovered, model } = this.store;
    const { items } = this.schedule;
    const isOurs = (it) => this.schedule.itemOf.has(it) || this.schedule.fusionOf.has(it);
    const focus = isOurs(hovered) ? hovered : selected;
    const related = model.related(focus);
    const isDim = items.some((it) => related.has(it.e));
    for (const node of this.body.querySelectorAll(".item, .iteration[data-entity]")) {
      const entity = Number(node.dataset.entity);
      const isRelated = related.has(entity);
      node.classList.toggle("selected", entity === selected);
      node.classList.toggle("related", isRelated && entity !== selected);
      node.classList.toggle("found", this.found.has(entity));
      const isHidden = this.critical && !node.matches(".critical");
      node.classList.toggle("far", isHidden || (isDim && !isRelated));
    }
    for (const path of this.body.querySelectorAll(".dependency")) {
      path.classList.toggle("near", path.ends.includes(focus));
    }
    this.curve.light();
  }

  reveal() {
    const { selected } = this.store;
    if (selected === this.revealed) return;
    this.revealed = selected;
    const related = this.store.model.related(selected);
    const item = this.schedule.items.find((it) => related.has(it.e));
    if (!item) return;
    const top = HEAD + this.rowOf.get(item.position).top;
    const { scrollTop, clientHeight } = this.scroll;
    const isSeen = top >= scrollTop && top + ROW <= scrollTop + clientHeight;
    if (!isSeen) this.scroll.scrollTop = top - clientHeight / 2;
  }

  search(text) {
    const wanted = text.toLowerCase();
    const hits = this.schedule.items.filter((it) =>
      wanted && this.schedule.nameOf(it).toLowerCase().includes(wanted));
    this.found = new Set(hits.map((it) => it.e));
    this.light();
    return hits;
  }

  visit(hit) {
    this.store.select(hit.e);
  }

  fit() {
    this.scroll.scrollTop = 0;
  }

  status() {
    const { items } = this.schedule;
    const rows = this.rows.filter((row) => row.type !== "lane");
    const drawn = this.drawn.filter((row) => row.type !== "lane").length;
    const folded = [...this.folded].reduce(
      (sum, loop) => sum + this.schedule.loops[loop].items.length, 0);
    const notes = [
      counted(items.length, "item"),
      folded && `${count(folded)} folded into ${counted(this.folded.size, "loop")}`,
      drawn < rows.length && `${count(drawn)} of ${count(rows.length)} rows drawn: scroll for more`,
      this.arrows.leftOut && `${count(this.arrows.leftOut)} arrows left out`,
      pathWords(this.schedule, this.isMeasured),
      timeWords(this),
    ];
    return notes.filter(Boolean).join(" · ");
  }

  present() {
    const { items, dependencies } = this.schedule;
    const both = this.isMeasured ? ["estimated", "measured"] : [];
    return {
      kinds: new Set(items.map((it) => it.op)),
      edges: new Set(dependencies.map(([, , kind]) => kind)),
      marks: new Set([...both, ...["critical", "slack"].filter((mark) =>
        items.some((it) => (mark === "slack" ? this.when(it).slack > 0
          : this.when(it).critical)))]),
    };
  }
}

/** A round step that divides `end` into at most `most` parts. */
export function niceStep(end, most) {
  const rough = end / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
}

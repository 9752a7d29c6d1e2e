// The schedule on an axis of time: a lane for each device, bars from the earliest start, slack as a
// hollow extension up to the latest one, dependencies by kind, and the memory curve beneath.

import { MemoryCurve } from "./curve.js";
import { button, count, counted, duration, h, s } from "./dom.js";
import { foldedAtFirst, ROW, rowOfItem, rowsBetween, rowsOf, barsOf } from "./rows.js";

const HEAD = 30;
const MOST_ARROWS = 1200;

export class TimelineView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.schedule = store.model.schedule;
    this.found = new Set();
    this.critical = false;
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
    }, this.scroll, this.curve.root);
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
    if (!this.rows) this.read();
    this.draw();
    this.reveal();
  }

  read() {
    const { items } = this.schedule;
    this.folded = foldedAtFirst(this.schedule);
    this.end = items.reduce((end, it) => Math.max(end, it.finish + it.slack), 1);
    this.hasTimes = items.some((it) => it.finish > it.start);
    this.arrange();
  }

  arrange() {
    this.place = "";
    this.rows = rowsOf(this.schedule, this.folded);
    this.rowOf = rowOfItem(this.rows);
    const last = this.rows[this.rows.length - 1];
    this.height = HEAD + last.top + last.height + 12;
    const widest = this.rows.reduce((most, row) => Math.max(most, this.labelWidth(row)), 0);
    this.left = Math.min(250, Math.ceil(widest));
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
    // Room to the right for the words after the last bar.
    this.width = Math.max(300, (this.scroll.clientWidth || 800) - this.left - 82);
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
      this.axis(), this.arrows(),
      ...this.drawn.filter((row) => row.type !== "lane").map((row) => this.row(row)),
    );
  }

  /** Pixels that a label takes in bold, with what stands before it. */
  labelWidth(row) {
    const before = row.type === "loop" ? 66 : row.loop === undefined ? 46 : 66;
    return before + this.label(row).length * 7.3;
  }

  label(row) {
    if (row.type === "lane") return "";
    const item = this.schedule.items[row.items[0]];
    if (row.type === "loop") {
      const { label, items } = this.schedule.loops[row.loop];
      return `${item.name} × ${items.length}: ${label}`;
    }
    return row.loop === undefined ? this.caption(item) : this.turn(item, row.loop);
  }

  turn(item, loop) {
    const counters = item.fixed.map(([name, value]) => `${name} = ${value}`).join(", ");
    const { items } = this.schedule.loops[loop];
    return counters || `turn ${items.indexOf(item.position)}`;
  }

  caption(item) {
    const words = [item.op, item.name].filter(Boolean).join(" ");
    return item.tasks > 1 ? `${words} ⇶${item.tasks}` : words;
  }

  x(time) {
    return this.left + (time / this.end) * this.width;
  }

  axis() {
    const step = niceStep(this.end, Math.max(2, Math.floor(this.width / 110)));
    const ticks = [];
    for (let time = 0; time <= this.end * 1.0001; time += step) {
      const line = h("div", { class: "tick", style: `left:${this.x(time)}px` });
      line.append(h("span", {}, duration(time * 1e-9)));
      ticks.push(line);
    }
    return h("div", { class: "axis", "aria-hidden": "true" }, ...ticks);
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

  /** A loop: all its turns in one row where it is folded, else a head above them. */
  loop(row) {
    const { loop, items } = row;
    const isFolded = this.folded.has(loop);
    const turns = items.map((position) => this.schedule.items[position]);
    const label = this.label(row);
    const kind = turns[0].op;
    const bars = isFolded ? barsOf(turns, (time) => this.x(time)) : [];
    return h(
      "div", { class: "loop-row", style: `top:${HEAD + row.top}px`, "data-kind": kind },
      button(isFolded ? "▸" : "▾", () => this.fold(loop), {
        class: "fold-button", "aria-expanded": String(!isFolded),
        "aria-label": `${isFolded ? "Unfold" : "Fold"} the loop ${label}`,
      }),
      h("span", { class: "item-label loop-label", style: `width:${this.left - 36}px`,
        title: label }, `↻ ${label}`),
      ...bars.map((bar) => this.turnBar(bar)),
    );
  }

  turnBar({ start, finish, items }) {
    const width = Math.max(2, this.x(finish) - this.x(start));
    const words = items.length > 1 ? `${counted(items.length, "turn")} together`
      : `${this.schedule.nameOf(items[0])}, ${duration((finish - start) * 1e-9)}`;
    const isCritical = items.some((it) => it.critical);
    return h("span", {
      class: isCritical ? "bar turn critical" : "bar turn", title: words,
      "data-entity": items.length > 1 ? null : items[0].e,
      style: `left:${this.x(start)}px;width:${width}px`,
    });
  }

  bar(row, item) {
    const { start, finish, slack } = item;
    const took = duration((finish - start) * 1e-9);
    const words = `${this.schedule.nameOf(item)}, ${took}, `
      + (item.critical ? "on the critical path" : `slack ${duration(slack * 1e-9)}`)
      + (item.tasks > 1 ? `, work shared by ${item.tasks} tasks` : "");
    const width = Math.max(3, this.x(finish) - this.x(start));
    const indent = row.loop === undefined ? "" : " in-loop";
    const parts = [
      h("span", { class: `item-label${indent}`, style: `width:${this.left - 14}px` },
        h("span", { class: "item-sign", "aria-hidden": "true" }, item.critical ? "◆" : ""),
        this.label(row)),
      h("span", { class: "bar", style: `left:${this.x(start)}px;width:${width}px` }),
    ];
    if (slack > 0) {
      const wide = this.x(finish + slack) - this.x(finish);
      parts.push(h("span", { class: "slack", style: `left:${this.x(finish)}px;width:${wide}px` },
        wide > 84 ? h("span", {}, `slack ${duration(slack * 1e-9)}`) : null));
    }
    parts.push(this.time(item, took, width));
    return h(
      "div",
      {
        class: item.critical ? "item critical" : "item", "data-entity": item.e,
        "data-kind": item.op, "data-position": item.position,
        style: `top:${HEAD + row.top}px`, role: "img", "aria-label": words, title: words,
      },
      ...parts,
    );
  }

  /** The item's time, inside its bar where it fits, else behind it. */
  time({ start, finish, slack }, took, width) {
    const fits = width > took.length * 7 + 10;
    const left = fits ? this.x(start) + 6 : this.x(finish + slack) + 6;
    return h("span", { class: "item-time", style: `left:${left}px` }, took);
  }

  /** Arrows between the rows on screen, as many as can be told apart. */
  arrows() {
    const picture = s("svg", {
      class: "timeline-arrows", width: this.left + this.width + 82, height: this.height,
      "aria-hidden": "true",
    });
    const { behind, before } = this.schedule;
    const isSeen = (row) => row.type === "item" || this.folded.has(row.loop);
    const edges = new Set(this.drawn.filter(isSeen)
      .flatMap((row) => row.items.flatMap((it) => [...behind[it], ...before[it]])));
    const wanted = [...edges].filter((edge) =>
      this.rowOf.get(edge.from) !== this.rowOf.get(edge.to));
    const drawn = this.oneOfEach(wanted).slice(0, MOST_ARROWS);
    const beside = new Map();
    for (const edge of drawn) {
      const key = `${edge.from} ${edge.to}`;
      picture.append(...this.arrow(edge, beside.get(key) ?? 0));
      beside.set(key, (beside.get(key) ?? 0) + 1);
    }
    this.arrowsLeftOut = wanted.length - drawn.length;
    return picture;
  }

  /** The edges without all but the first of each kind between two rows, where one is folded. */
  oneOfEach(edges) {
    const found = new Map();
    for (const edge of edges) {
      const rows = [this.rowOf.get(edge.from), this.rowOf.get(edge.to)];
      const isFolded = rows.some((row) => row.type === "loop");
      const ends = isFolded ? rows.map((row) => row.top) : [edge.from, edge.to];
      const key = `${isFolded} ${ends.join(" ")} ${edge.kind}`;
      if (!found.has(key)) found.set(key, edge);
    }
    return [...found.values()];
  }

  arrow(edge, beside) {
    const [a, b] = [this.schedule.items[edge.from], this.schedule.items[edge.to]];
    const [from, to] = [this.rowOf.get(edge.from), this.rowOf.get(edge.to)];
    const x1 = this.x(a.finish);
    const y1 = HEAD + from.top + ROW / 2 + 4 * beside;
    const isDown = to.top > from.top;
    const x2 = Math.max(this.x(b.start) + 6, x1 - 1) + 8 * beside;
    const tip = HEAD + to.top + (isDown ? 6 : ROW - 6);
    const back = isDown ? -6 : 6;
    const line = `M${x1} ${y1}C${x1 + 12} ${y1} ${x2} ${(y1 + tip) / 2} ${x2} ${tip}`;
    const classes = edge.critical ? "dependency critical" : "dependency";
    const ends = `${this.schedule.nameOf(a)} → ${this.schedule.nameOf(b)}`;
    const head = `M${x2 - 3.5} ${tip + back}L${x2} ${tip}L${x2 + 3.5} ${tip + back}`;
    const title = () => s("title", {}, `${ends}\n${this.schedule.reasonOf(edge)}`);
    const paths = [
      s("path", { class: "dependency-hit", d: line }, title()),
      s("path", { class: classes, d: line, "data-edge": edge.kind }, title()),
      s("path", { class: `${classes} head`, d: head }),
    ];
    paths.forEach((path) => { path.ends = [a.e, b.e]; });
    return paths;
  }

  light() {
    const { selected, hovered, model } = this.store;
    const { items } = this.schedule;
    const isOurs = (it) => this.schedule.itemOf.has(it) || this.schedule.fusionOf.has(it);
    const focus = isOurs(hovered) ? hovered : selected;
    const related = model.related(focus);
    const isDim = items.some((it) => related.has(it.e));
    for (const node of this.body.querySelectorAll(".item, .turn[data-entity]")) {
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
      this.arrowsLeftOut && `${count(this.arrowsLeftOut)} arrows left out`,
      this.pathWords(),
      this.hasTimes ? "times are estimates" : "no estimates of time",
    ];
    return notes.filter(Boolean).join(" · ");
  }

  pathWords() {
    const critical = this.schedule.items.filter((it) => it.critical);
    const length = critical.reduce((sum, it) => sum + it.finish - it.start, 0);
    return critical.length
      && `critical path ${counted(critical.length, "item")}, ${duration(length * 1e-9)}`;
  }

  present() {
    const { items, dependencies } = this.schedule;
    return {
      kinds: new Set(items.map((it) => it.op)),
      edges: new Set(dependencies.map(([, , kind]) => kind)),
      marks: new Set(["critical", "slack"].filter((mark) =>
        items.some((it) => (mark === "slack" ? it.slack > 0 : it.critical)))),
    };
  }
}

/** A round step that divides `end` into at most `most` parts. */
export function niceStep(end, most) {
  const rough = end / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
}

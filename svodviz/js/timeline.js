// The schedule on an axis of time: bars from start to finish, slack, dependencies, critical path.

import { count, duration, h, s } from "./dom.js";

const ROW = 34;
const HEAD = 30;
const MOST = 400; // rows drawn at once

export class TimelineView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.found = new Set();
    this.critical = false;
    this.body = h("div", { class: "timeline-body" });
    this.root = h("div", {
      class: "timeline", tabindex: "0", role: "group", "aria-label": "Schedule timeline",
      onscroll: () => this.draw(),
      onclick: (event) => store.select(this.entityAt(event)),
      onmouseover: (event) => store.hover(this.entityAt(event)),
      onmouseleave: () => store.hover(-1),
    }, this.body);
    store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  entityAt(event) {
    const node = event.target.closest?.(".item");
    return node ? Number(node.dataset.entity) : -1;
  }

  show() {
    this.items ??= this.read();
    this.draw();
    this.reveal();
  }

  /** The schedule's items in order, with times in nanoseconds. */
  read() {
    const { scene } = this.store.stage.units[0];
    const items = scene.nodes.map((row, node) => ({
      row, node, start: row.start ?? 0, finish: row.finish ?? row.start ?? 0, slack: row.slack ?? 0,
    }));
    const ends = items.map((it) => it.finish + it.slack);
    this.end = Math.max(1, ...ends);
    this.hasTimes = items.some((it) => it.finish > it.start);
    this.edges = scene.edges;
    return items;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - 5);
    this.rows = this.items.slice(first, first + MOST);
    this.first = first;
    const labels = Math.max(...this.items.map((it) => this.caption(it).length));
    this.left = Math.min(250, 42 + labels * 7);
    // Room to the right for the words after the last bar.
    this.width = Math.max(420, this.root.clientWidth - 8) - this.left - 74;
    this.body.style.height = `${HEAD + this.items.length * ROW + 12}px`;
    this.body.replaceChildren(
      this.axis(), this.arrows(), ...this.rows.map((it, index) => this.bar(it, first + index)),
    );
    this.light();
    this.look.onStatus();
  }

  caption({ row }) {
    return [row.op, row.name].filter(Boolean).join(" ");
  }

  x(time) {
    return this.left + (time / this.end) * this.width;
  }

  y(index) {
    return HEAD + index * ROW;
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

  bar(item, index) {
    const { row, start, finish, slack } = item;
    const took = duration((finish - start) * 1e-9);
    const words = `${this.caption(item)}, ${took}, `
      + (row.critical ? "on the critical path" : `slack ${duration(slack * 1e-9)}`);
    const width = Math.max(3, this.x(finish) - this.x(start));
    const parts = [
      h("span", { class: "item-label", style: `width:${this.left - 14}px` },
        h("span", { class: "item-sign", "aria-hidden": "true" }, row.critical ? "◆" : ""),
        this.caption(item)),
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
        class: row.critical ? "item critical" : "item", "data-entity": row.e, "data-kind": row.kind,
        style: `top:${this.y(index)}px`, role: "img", "aria-label": words, title: words,
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

  arrows() {
    const height = HEAD + this.items.length * ROW;
    const picture = s("svg", {
      class: "timeline-arrows", width: this.left + this.width + 74, height, "aria-hidden": "true",
    });
    const isDrawn = (index) => index >= this.first && index < this.first + MOST;
    for (const [from, to] of this.edges) {
      if (isDrawn(from) || isDrawn(to)) picture.append(this.arrow(from, to));
    }
    return picture;
  }

  arrow(from, to) {
    const [a, b] = [this.items[from], this.items[to]];
    const isCritical = a.row.critical && b.row.critical && a.finish === b.start;
    const [x1, y1] = [this.x(a.finish), this.y(from) + ROW / 2];
    const x2 = Math.max(this.x(b.start) + 6, x1 - 1);
    const tip = this.y(to) + (to > from ? 6 : ROW - 6);
    const back = to > from ? -6 : 6;
    const d = `M${x1} ${y1}C${x1 + 12} ${y1} ${x2} ${(y1 + tip) / 2} ${x2} ${tip}`
      + `M${x2 - 3.5} ${tip + back}L${x2} ${tip}L${x2 + 3.5} ${tip + back}`;
    const path = s("path", { class: isCritical ? "dependency critical" : "dependency", d });
    path.ends = [a.row.e, b.row.e];
    return path;
  }

  light() {
    const { selected, hovered, model } = this.store;
    const focus = this.items.some((it) => it.row.e === hovered) ? hovered : selected;
    const related = model.related(focus);
    const isDim = this.items.some((it) => related.has(it.row.e));
    for (const node of this.body.querySelectorAll(".item")) {
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
  }

  reveal() {
    const related = this.store.model.related(this.store.selected);
    const index = this.items.findIndex((it) => related.has(it.row.e));
    if (index < 0) return;
    const top = this.y(index);
    const { scrollTop, clientHeight } = this.root;
    const isSeen = top >= scrollTop && top + ROW <= scrollTop + clientHeight;
    if (!isSeen) this.root.scrollTop = top - clientHeight / 2;
  }

  search(text) {
    const wanted = text.toLowerCase();
    const hits = this.items.filter((it) =>
      wanted && this.caption(it).toLowerCase().includes(wanted));
    this.found = new Set(hits.map((it) => it.row.e));
    this.light();
    return hits;
  }

  visit(hit) {
    this.store.select(hit.row.e);
  }

  fit() {
    this.root.scrollTop = 0;
  }

  status() {
    const all = this.items.length;
    const shown = this.rows.length < all ? `${count(this.rows.length)} of ${count(all)} items shown`
      : `${count(all)} item${all === 1 ? "" : "s"}`;
    const critical = this.items.filter((it) => it.row.critical);
    const length = critical.reduce((sum, it) => sum + it.finish - it.start, 0);
    const path = critical.length
      ? ` · critical path ${critical.length} items, ${duration(length * 1e-9)}` : "";
    return `${shown}${path} · ${this.hasTimes ? "times are estimates" : "no estimates of time"}`;
  }

  present() {
    return {
      kinds: new Set(this.items.map((it) => it.row.kind)),
      marks: new Set(["critical", "slack"].filter((mark) =>
        this.items.some((it) => (mark === "slack" ? it.slack > 0 : it.row.critical)))),
    };
  }
}

/** A round step that divides `end` into at most `most` parts. */
export function niceStep(end, most) {
  const rough = end / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
}

// The modules of a model as a tree: what is left of each at every stage, and what it takes.

import { depthOf, firstOpen, innerOf, moduleOf, ofRoof, seen, workOf } from "../../data/modules.js";
import { button, bytes, count, counted, h, nanoseconds } from "../../kit/dom.js";
import { percent } from "../../kit/words.js";
import { RowsView, shareCell } from "../run/rowsview.js";

const SHOWN = 0.0001; // of the time: less is no more than "< 0.01 %", the title has the figure
const FIRST = 28; // rows that are seen at first, at most: about a screen
const HEADS = [
  ["module", "the name in the program; a click follows it through every stage", "words"],
  ["time", "its part of each kernel: an item's time is divided among its nodes by work, a shared "
    + "node's among its modules evenly"],
  ["share", "of the time of the whole program"],
  ["of peak", "share of peak: its roofline time divided by its time"],
  ["kernels", "that do part of its work; shared, or *: those that also serve other modules"],
  ["nodes", "of the graph as written → after its passes"],
  ["of others", "nodes that other modules have too: equal ones are computed once (CSE)"],
  ["lowered", "instructions of the lowered stage; a shared one counts for each module"],
  ["code", "bytes of machine code; a kernel's are divided by instructions"],
  ["moved", "bytes read and written by its part of each kernel"],
];

export class ModulesView extends RowsView {
  constructor(store, look) {
    super(store, look);
    this.measure = button("Measure", () => store.measured.ask(), {
      title: "Runs the program for about a second: the times are then measured",
    });
    this.all = button("Open all", () => this.toggleAll());
    this.table = h("div", {
      class: "figures modules-table", tabindex: "0", role: "region", "aria-label": "Modules",
    });
    this.root = this.made({
      class: "run-view modules-view", "aria-label": "Modules",
      onkeydown: (event) => this.key(event),
    }, h("div", { class: "run-head" }, h("div", {}, this.title, this.words),
      h("span", { class: "module-tools" }, this.all, this.measure)), this.table);
    const { modules } = store.model;
    if (!modules) return;
    this.inner = innerOf(modules.rows);
    this.open = firstOpen(modules.rows, FIRST);
  }

  get scroller() {
    return this.table;
  }

  get rows() {
    return this.store.model.modules.rows;
  }

  get isMeasured() {
    const items = this.store.model.schedule?.items ?? [];
    return items.length > 0 && items.every((it) => it.run);
  }

  show() {
    const { measured, model } = this.store;
    this.reach(moduleOf(model, this.store.selected));
    this.offer(this.measure);
    const key = `${measured.version} ${model.revision} ${[...this.open]}`;
    if (this.shown !== key) this.fill();
    this.shown = key;
    this.light();
    this.look.onStatus();
  }

  /** Opens what holds a module, so that it is seen. */
  reach(module) {
    if (module < 0) return;
    for (let at = this.rows[module].parent; at >= 0; at = this.rows[at].parent) this.open.add(at);
  }

  fill() {
    const { model } = this.store;
    const { isMeasured } = this;
    this.work = workOf(model, isMeasured ? (it) => it.run.ns : (it) => it.ns);
    this.title.textContent = `${model.name}: ${counted(this.rows.length - 1, "module")}`;
    this.words.textContent = `Follow a module through every stage: select it. Times are ${
      isMeasured ? "measured" : "estimated"}, bars their share of the whole.`;
    const isAll = this.inner.every((inner, at) => !inner.length || this.open.has(at));
    this.all.textContent = isAll ? "Fold all" : "Open all";
    const heads = HEADS.map(([name, title, kind]) => h("th", { scope: "col", title, class: kind },
      name === "time" ? (isMeasured ? "measured" : "estimated") : name));
    this.table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...heads)),
      h("tbody", {}, ...seen(this.rows, this.open).map((at) => this.row(at)))));
  }

  row(at) {
    const row = this.rows[at];
    const work = this.work[at];
    const code = this.store.model.codes?.[at];
    const left = row.alive.at(-1) ?? row.nodes;
    const shared = row.kernels.filter(([, , , others]) => others.length).length;
    const isGone = !row.kernels.length;
    return h("tr", { class: isGone ? "run-row module-gone" : "run-row", "data-entity": row.e },
      h("th", { scope: "row", class: "module-name", style: `--depth: ${depthOf(this.rows, at)}` },
        this.fold(at), button(row.name, () => {}, {
          class: "entity-link", title: `${row.path || row.name} ${row.kind}`.trim(),
          "data-module": at,
        }), row.kind && h("span", { class: "module-kind" }, row.kind)),
      h("td", {}, work.ns ? nanoseconds(work.ns) : "–"),
      shareOf(work.ns / Math.max(this.work[0].ns, 1e-9)),
      h("td", {}, work.ns ? percent(ofRoof(work)) : "–"),
      kernelsCell(row.kernels.length - shared, shared),
      nodesCell(row.nodes, left),
      h("td", {}, row.shared ? count(row.shared) : "–"),
      h("td", {}, code ? count(code[0]) : "…"),
      h("td", {}, code ? bytes(code[4]) : "…"),
      h("td", {}, work.moved >= 0.5 ? bytes(Math.round(work.moved)) : "–"));
  }

  fold(at) {
    if (!this.inner[at].length) return h("span", { class: "fold-space" });
    const isOpen = this.open.has(at);
    return button(isOpen ? "▾" : "▸", () => this.toggle(at), {
      class: "fold-button", "aria-expanded": String(isOpen), "data-fold": at,
      "aria-label": `${isOpen ? "Fold" : "Open"} ${this.rows[at].path || this.rows[at].name}`,
    });
  }

  toggle(at) {
    if (!this.open.delete(at)) this.open.add(at);
    this.refill(`[data-fold="${at}"]`);
  }

  toggleAll() {
    const isAll = this.inner.every((inner, at) => !inner.length || this.open.has(at));
    this.open = isAll ? new Set([0])
      : new Set(this.inner.flatMap((inner, at) => (inner.length ? [at] : [])));
    this.refill("");
  }

  /** The table with other rows; what had the focus keeps it. */
  refill(focus) {
    this.shown = "";
    this.fill();
    this.shown = `${this.store.measured.version} ${this.store.model.revision} ${[...this.open]}`;
    this.light();
    if (focus) this.table.querySelector(focus)?.focus();
  }

  /** Up and down through the names, left and right fold and open. */
  key(event) {
    const names = [...this.table.querySelectorAll("[data-module]")];
    const at = names.indexOf(event.target);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const module = Number(event.target.dataset.module);
    const isOpen = this.open.has(module);
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by) names[at + by]?.focus();
    else if (event.key === (isOpen ? "ArrowLeft" : "ArrowRight") && this.inner[module].length) {
      this.toggle(module);
      this.table.querySelector(`[data-module="${module}"]`)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  light() {
    const { selected, model } = this.store;
    const isModule = moduleOf(model, selected) >= 0;
    const related = model.related(selected);
    for (const row of this.table.querySelectorAll(".run-row")) {
      const entity = Number(row.dataset.entity);
      row.classList.toggle("selected", entity === selected);
      row.classList.toggle("related", !isModule && related.has(entity));
      row.classList.toggle("found", this.found.has(entity));
      const name = row.querySelector("[data-module]");
      if (entity === selected) name.setAttribute("aria-current", "true");
      else name.removeAttribute("aria-current");
    }
  }

  search(text) {
    const wanted = text.toLowerCase();
    const hits = this.rows.filter((row) => wanted
      && `${row.path} ${row.kind}`.toLowerCase().includes(wanted));
    this.found = new Set(hits.map((it) => it.e));
    this.light();
    return hits;
  }

  status() {
    const { rows } = this;
    const gone = rows.filter((row) => !row.kernels.length).length;
    return `${counted(rows.length - 1, "module")}, ${count(gone)} of them without a kernel`;
  }
}

/**
 * Kernels of its own and those that serve other modules too, with a * where the table is narrow.
 * @param {number} own @param {number} shared
 */
function kernelsCell(own, shared) {
  if (!own && !shared) {
    return h("td", { title: "no kernel does any of its work: it was folded away, or only moves "
      + "elements" }, "none");
  }
  if (!shared) return h("td", {}, count(own));
  return h("td", { title: `${count(own)} of its own, ${count(shared)} shared with other modules` },
    `${own ? `${count(own)} + ` : ""}${count(shared)}`,
    h("span", { class: "module-long" }, " shared"), h("span", { class: "module-short" }, "*"));
}

/** @param {number} share of the time */
function shareOf(share) {
  return shareCell(share, share > 0 && share < SHOWN ? `< ${percent(SHOWN)}` : percent(share));
}

/**
 * As many as were written, which narrow tables leave to the title, and as many as are left.
 * @param {number} written @param {number} left
 */
function nodesCell(written, left) {
  if (left === written) return h("td", {}, count(left));
  return h("td", { title: `${count(written)} as written, ${count(left)} left` },
    h("span", { class: "module-long" }, `${count(written)} → `), count(left));
}

// The table of a measured run: items, or the iterations of a loop together, with the estimate.

import { rateOf, ratioOf } from "../../data/measured.js";
import { button, count, counted, h, nanoseconds } from "../../kit/dom.js";
import { shareCell } from "./rowsview.js";
import { runRows } from "./runrows.js";

const MOST_ROWS = 300; // of the table: a choice
const HEADS = [
  ["item", "its name in the schedule; ◆ critical: no slack", "words"],
  ["measured", "the median of all rounds"],
  ["quartiles", "a quarter of the rounds took less than the first, a quarter more than the second"],
  ["share", "of all items' time"],
  ["estimated", "by the cost model"],
  ["ratio", "measured, divided by estimated"],
  ["GB/s", "bytes of the buffers read and written, in the time measured"],
  ["GFLOP/s", "operations (a division counts 4, an exponential 12), in the time measured"],
  ["bound by", "the largest part of the estimate (launch: overhead of starting the item); call: "
    + "hardly longer than a call of an empty kernel", "words"],
];


export class RunTable {
  /** @param store @param redraw shows the table anew; it gets the loop that was folded */
  constructor(store, redraw) {
    this.store = store;
    this.redraw = redraw;
    this.opened = new Set();
  }

  /** The section; `items` are those that were measured. */
  draw(items) {
    const { schedule } = this.store.model;
    this.sum = items.reduce((sum, it) => sum + it.measured, 0);
    const rows = runRows(schedule, items, this.opened);
    const left = rows.slice(MOST_ROWS);
    return h("section", { class: "run-section" },
      h("div", { class: `figures run-table${rows.some((it) => it.iterations) ? " with-loops" : ""}`,
        tabindex: "0", role: "region", "aria-label": "Items by time" },
      h("table", {},
        h("thead", {}, h("tr", {}, ...HEADS.map(([name, title, kind]) =>
          h("th", { scope: "col", title, class: kind }, name)))),
        h("tbody", {}, ...rows.slice(0, MOST_ROWS).map((it) => (it.iterations ? this.loop(it)
          : this.item(it)))))),
      left.length > 0 && h("p", { class: "more" }, this.rest(left)));
  }

  rest(left) {
    const sum = left.reduce((total, it) => total + it.measured, 0);
    return `and ${counted(left.length, "shorter item")} of ${nanoseconds(sum)} in all, not listed`;
  }

  item(item) {
    const { run, position } = item;
    const name = `${position} ${this.store.model.schedule.nameOf(item)}`;
    const isIteration = this.opened.has(this.store.model.schedule.loopOf.get(position));
    return this.row(item, `${nanoseconds(run.low)} … ${nanoseconds(run.high)}`, {
      class: isIteration ? "run-row iteration" : "run-row",
      "data-entity": item.e, "data-position": position,
    }, h("span", { class: "run-fold" }), button(name, () => {}, { class: "entity-link", title: name,
      "aria-label": run.critical ? `${name}, critical by time` : null }));
  }

  /** The iterations of a loop in one row, with a button that lists them below. */
  loop(row) {
    const { schedule } = this.store.model;
    const isOpen = this.opened.has(row.loop);
    const first = schedule.items[row.position];
    const name = `${first.op} ${first.name} × ${count(row.iterations.length)}`;
    const toggle = () => {
      if (!this.opened.delete(row.loop)) this.opened.add(row.loop);
      this.redraw(row.loop);
    };
    return this.row(row, `${nanoseconds(row.measured / row.iterations.length)} an iteration`, {
      class: "run-row", "data-loop": row.loop, title: schedule.loops[row.loop].label,
    }, h("span", { class: "run-fold" }, button(isOpen ? "▾" : "▸", toggle, {
      class: "fold-button", "aria-expanded": String(isOpen),
      "aria-label": `${isOpen ? "Hide" : "List"} the iterations of ${name}` })),
    h("span", { class: "run-loop" }, `↻ ${name}`));
  }

  row(row, spread, attributes, ...name) {
    const { run, measured } = row;
    return h(
      "tr", attributes,
      h("td", { class: "words run-name" },
        h("span", { class: "item-sign", "aria-hidden": "true" }, run.critical ? "◆" : ""), ...name),
      h("td", {}, nanoseconds(measured)), h("td", {}, spread),
      shareCell(measured / Math.max(this.sum, 1e-9)),
      h("td", {}, nanoseconds(row.ns)), h("td", {}, ratioOf(row)),
      h("td", {}, rateOf(row.read + row.written, measured)),
      h("td", {}, rateOf(row.flops, measured)), h("td", { class: "words" }, run.bound || "–"));
  }
}

// Under the lanes: the time of the marked stretch, by kernel or by line.

import { button, count, counted, h, nanoseconds } from "../../kit/dom.js";
import { keepFocus } from "../../kit/focus.js";
import { kernelKey, sumsOf } from "./sums.js";

const MOST_ROWS = 200; // of the table: a choice
const WAYS = [["kernel", "by kernel"], ["line", "by source line"]];
const HEADS = {
  time: ["time", (sum) => sum.time], items: ["items", (sum) => sum.items.length],
  each: ["longest", (sum) => sum.longest],
};
const SHARED = "An item that comes from several lines counts with all of its time at each.";

export class SumsPanel {
  /** @param store @param view the timeline: `stretch`, `timeOf`, and what changes them */
  constructor(store, view) {
    this.store = store;
    this.view = view;
    this.way = "kernel";
    this.order = "time";
    this.linesOf = new Map();
    this.root = h("section", { class: "sums", "aria-label": "Sums of the stretch marked",
      hidden: true, onclick: (event) => event.stopPropagation() });
  }

  show() {
    const { stretch } = this.view;
    this.root.hidden = !stretch;
    if (!stretch) return;
    keepFocus(this.root, () => this.root.replaceChildren(...this.parts(stretch)));
  }

  parts(stretch) {
    const { items } = this.store.model.schedule;
    const keysOf = this.way === "kernel" ? kernelKey : (item) => this.lines(item);
    const timeOf = (item) => this.view.timeOf(item);
    const { sums, whole, count: number } = sumsOf(items, timeOf, stretch, keysOf);
    const { from, to } = stretch;
    const words = `${nanoseconds(to - from)} from ${nanoseconds(from)} on: ${
      counted(number, "item")}, ${nanoseconds(whole)} of work`;
    return [
      h("div", { class: "sums-head" },
        h("strong", { role: "status" }, words),
        h("div", { class: "segmented", role: "group", "aria-label": "Sums" },
          ...WAYS.map(([way, label]) => button(label, () => this.choose(way), {
            "aria-pressed": String(way === this.way) }))),
        button("Zoom to it", () => this.view.zoomToStretch()),
        button("✕", () => this.view.clearStretch(), { "aria-label": "Unmark the stretch" })),
      this.table(sums),
    ];
  }

  choose(way) {
    this.way = way;
    this.show();
  }

  sort(order) {
    this.order = order;
    this.show();
  }

  /** The lines of the program that an item comes from. */
  lines({ e }) {
    if (!this.linesOf.has(e)) this.linesOf.set(e, this.store.model.origins(e).map(String));
    return this.linesOf.get(e);
  }

  table(sums) {
    const timeOf = (item) => this.view.timeOf(item);
    for (const sum of sums) {
      const { start, finish } = timeOf(sum.items[0]);
      sum.longest = finish - start;
    }
    const value = HEADS[this.order][1];
    const rows = [...sums].sort((a, b) => value(b) - value(a));
    const left = rows.length - MOST_ROWS;
    return h("div", { class: "figures sums-table", tabindex: "0", role: "region",
      "aria-label": `Sums by ${this.way === "kernel" ? "kernel" : "source line"}` },
      h("table", {},
        h("thead", {}, h("tr", {},
          h("th", { scope: "col", class: "words" }, this.way === "kernel" ? "kernel" : "line"),
          ...Object.entries(HEADS).map((row) => this.head(...row)),
          h("th", { scope: "col", title: "of the time of all items in the stretch" }, "share"))),
        h("tbody", {}, ...rows.slice(0, MOST_ROWS).map((sum) => this.row(sum)))),
      left > 0 && h("p", { class: "more" }, `and ${counted(left, "more row")} not listed`),
      this.way === "line" && h("p", { class: "more" }, SHARED));
  }

  head(order, [words]) {
    const isChosen = order === this.order;
    return h("th", { scope: "col", "aria-sort": isChosen ? "descending" : null },
      button(isChosen ? `${words} ▾` : words, () => this.sort(order), {
        class: "entity-link", "aria-label": `Sort by ${words}` }));
  }

  row(sum) {
    const [words, entity] = this.way === "kernel" ? [sum.key, sum.items[0].e] : this.line(sum.key);
    return h("tr", { class: "sums-row" },
      h("th", { scope: "row" }, entity < 0 ? words
        : button(words, () => this.store.select(entity), { class: "entity-link", title: words })),
      h("td", {}, nanoseconds(sum.time)), h("td", {}, count(sum.items.length)),
      h("td", {}, nanoseconds(sum.longest)),
      h("td", {}, `${Number((100 * sum.share).toPrecision(3))} %`));
  }

  /** A line's words and its entity. */
  line(key) {
    const { model } = this.store;
    const entity = key ? model.entity(`source:${key}`) : -1;
    const text = model.lineOf.get(entity)?.text.trim() ?? "";
    return [key ? `${key}  ${text}` : "no line of the program", entity];
  }
}

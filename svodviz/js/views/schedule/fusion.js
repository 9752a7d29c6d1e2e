// Items that could be one kernel, taken or not and why, and how values were fused into kernels.

import { changeWords } from "../../data/schedule.js";
import { button, count, counted, h } from "../../kit/dom.js";

const MOST_ROWS = 400; // of one table: a choice
const WORDS = "words";
const UNITS = / (ns|µs|ms|s|bytes)(?!\w)/g; // stay on the line of their number
const OPPORTUNITIES = [
  ["verdict", "what the compiler did", WORDS],
  ["item", "as the schedule names it", WORDS],
  ["and item, or value", "the item to fuse it with, or the value fused into it", WORDS],
  ["type", "the last operation of the first item", WORDS],
  ["time change", "one kernel minus the kernels that it replaces, by the cost model: − is saved, + "
    + "is extra, such as recomputation; in brackets the share of the program's estimated time"],
  ["bytes not moved", "that two kernels would write and read again"],
  ["reason", "the reason, with the numbers that decided", WORDS],
];
const CHOICES = [["verdict", "what the compiler did", WORDS], ["value", "of the graph", WORDS],
  ["reason", "the reason, with the numbers that decided", WORDS]];

export class FusionView {
  constructor(store) {
    this.store = store;
    this.schedule = store.model.schedule;
    this.found = new Set();
    this.root = h("div", {
      class: "fusion-view", tabindex: "0", role: "group", "aria-label": "Fusions",
      onclick: (event) => this.click(event),
      onmouseover: (event) => store.hover(this.entityAt(event)),
      onmouseleave: () => store.hover(-1),
    });
  }

  entityAt(event) {
    const row = event.target.closest?.("[data-entity]");
    return row ? Number(row.dataset.entity) : -1;
  }

  click(event) {
    const entity = this.entityAt(event);
    if (entity >= 0 && !event.target.closest("button")) this.store.select(entity);
  }

  show() {
    if (!this.root.firstChild) this.root.append(...this.tables());
    this.light();
  }

  tables() {
    const { fusions } = this.schedule;
    const choices = this.store.model.decisions.filter(([, kind]) => kind === "fuse");
    return [
      h("h3", {}, "Items that could be one kernel"),
      !fusions && h("p", { class: "hint" }, "This schedule has no list of fusion opportunities."),
      fusions && !fusions.length && h("p", { class: "hint" }, "No two items could be one kernel."),
      fusions?.length && this.table(OPPORTUNITIES,
        [...fusions].sort((a, b) => b.score - a.score), (it) => this.opportunity(it)),
      choices.length && h("h3", {}, "Values fused into kernels"),
      choices.length && this.table(CHOICES, choices, (it) => this.choice(it)),
    ].filter(Boolean);
  }

  table(head, rows, rowOf) {
    const left = rows.length - MOST_ROWS;
    return h("div", { class: "figures fusion-table", tabindex: "0", role: "region",
      "aria-label": "Fusions" },
      h("table", {},
        h("thead", {}, h("tr", {}, ...head.map(([name, title, kind]) =>
          h("th", { scope: "col", title, class: kind }, name)))),
        h("tbody", {}, ...rows.slice(0, MOST_ROWS).map(rowOf))),
      left > 0 && h("p", { class: "more" }, `and ${counted(left, "more row")} not listed`));
  }

  opportunity(it) {
    return h(
      "tr", { class: "fusion-row", "data-entity": it.e },
      verdict(it.taken),
      h("td", { class: WORDS }, this.item(it.from),
        it.times > 1 && `\u00a0×\u00a0${count(it.times)}`),
      h("td", { class: "words value" }, it.value ? `computes ${it.value}` : this.item(it.to)),
      h("td", { class: WORDS }, it.type), h("td", { class: "figure" }, changeWords(it)),
      h("td", { class: "figure" }, `${count(it.saved)} bytes`),
      h("td", { class: "words why" }, it.reason.replace(UNITS, "\u00a0$1")),
    );
  }

  item(position) {
    const item = this.schedule.items[position];
    const name = `${position} ${this.schedule.nameOf(item)}`;
    const select = () => this.store.select(item.e);
    return button(name, select, { class: "entity-link", title: name });
  }

  choice([subject, , taken, reason]) {
    const { model } = this.store;
    return h(
      "tr", { class: "fusion-row", "data-entity": subject },
      verdict(taken),
      h("td", { class: "words value" }, model.caption(subject)),
      h("td", { class: "words why" }, reason),
    );
  }

  light() {
    for (const row of this.root.querySelectorAll(".fusion-row")) {
      const entity = Number(row.dataset.entity);
      row.classList.toggle("selected", entity === this.store.selected);
      row.classList.toggle("found", this.found.has(row));
    }
  }

  search(text) {
    const wanted = text.toLowerCase();
    const hits = [...this.root.querySelectorAll(".fusion-row")].filter((row) =>
      wanted && row.textContent.toLowerCase().includes(wanted));
    this.found = new Set(hits);
    this.light();
    return hits;
  }

  visit(row) {
    this.store.select(Number(row.dataset.entity));
    row.scrollIntoView({ block: "nearest" });
  }

  status() {
    const found = this.schedule.fusions || [];
    const total = (rows, of) => rows.reduce((sum, it) => sum + it.times * of(it), 0);
    const taken = total(found.filter((it) => it.taken), () => 1);
    const better = total(found.filter((it) => !it.taken && it.score > 0), () => 1);
    const all = total(found, () => 1);
    const counts = all === 1 ? "1 fusion opportunity" : `${count(all)} fusion opportunities`;
    return `${counts}, ${taken} taken, ${all - taken} not taken: ${better} of these would save `
      + "time by the estimates";
  }
}

function verdict(taken) {
  return h("td", { class: `words verdict ${taken ? "taken" : "refused"}` },
    taken ? "✓ taken" : "✗ not taken");
}

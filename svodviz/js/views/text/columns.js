// Text: one stage, or any three side by side whose lines find each other.

import { COLUMNS } from "../../data/store.js";
import { h } from "../../kit/dom.js";
import { TextPane } from "./textpane.js";

/** The printed form of the chosen stage. */
export class TextView {
  constructor(store) {
    this.store = store;
    this.pane = new TextPane(store);
    this.note = h("p", { class: "note", hidden: true });
    this.root = h("div", { class: "text-view" }, this.note, this.pane.root);
  }

  show() {
    const { store, pane } = this;
    const { missing } = store.stage;
    this.note.hidden = !missing;
    this.note.textContent = missing ? `This stage could not be made. ${missing}` : "";
    const isNew = pane.id !== store.state.stage;
    pane.show(store.state.stage);
    pane.revealSelection();
    const isMoved = this.unit !== store.state.unit && !(isNew && !store.state.unit);
    if (store.selected < 0 && isMoved) this.scrollToUnit();
    this.unit = store.state.unit;
  }

  scrollToUnit() {
    const index = this.pane.rows.findIndex((row) => row.unit === this.store.state.unit);
    if (index >= 0) this.pane.root.scrollTop = index * 19;
  }

  search(text) {
    return this.pane.search(text);
  }

  visit(index) {
    this.pane.scrollTo(index);
    this.store.select(this.pane.rows[index].entity);
  }

  status() {
    const rows = this.pane.rows.filter((row) => !row.heading);
    const linked = rows.filter((row) => this.store.model.isLinked(row.entity)).length;
    const reasons = [...new Set(rows.map((row) => row.alone).filter(Boolean))];
    const others = reasons.length ? `; the others: ${reasons.join("; ")}` : "";
    return `${rows.length} lines, ${linked} linked to other stages${others}`;
  }
}

/** Three texts side by side: the lines of one thing are lit in all of them. */
export class ColumnsView {
  constructor(store) {
    this.store = store;
    this.columns = Array.from({ length: COLUMNS }, (_, position) => this.column(position));
    this.root = h("div", { class: "columns-view" }, ...this.columns.map((it) => it.root));
  }

  column(position) {
    const { store } = this;
    const pane = new TextPane(store);
    const choice = h("select", {
      class: "column-choice", "aria-label": `Text of column ${position + 1}`,
      onchange: () => {
        const columns = [...store.state.columns];
        columns[position] = choice.value;
        store.set({ columns });
      },
    });
    for (const stage of store.model.stages) {
      if (store.model.text(stage.id).length) {
        choice.append(h("option", { value: stage.id }, stage.label));
      }
    }
    return { pane, choice, root: h("section", { class: "column" }, choice, pane.root) };
  }

  show() {
    const { columns } = this.store.state;
    this.columns.forEach(({ pane, choice }, position) => {
      choice.value = columns[position];
      pane.show(columns[position]);
      pane.revealSelection();
    });
  }

  search(text) {
    return this.columns.flatMap(({ pane }) => pane.search(text).map((index) => ({ pane, index })));
  }

  visit({ pane, index }) {
    pane.scrollTo(index);
    this.store.select(pane.rows[index].entity);
  }

  status() {
    return "Hover or select a line: what it comes from and what it became is lit in every column.";
  }
}

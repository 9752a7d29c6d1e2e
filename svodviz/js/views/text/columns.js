// Text: one stage, or several side by side with linked lines.

import { MOST_COLUMNS, withColumn } from "../../data/room.js";
import { button, h } from "../../kit/dom.js";
import { columnEdge, tellEdge } from "./columnedge.js";
import { Editing } from "./editing.js";
import { TextPane } from "./textpane.js";

/** The printed form of the chosen stage. */
export class TextView {
  constructor(store) {
    this.store = store;
    this.pane = new TextPane(store);
    this.editing = new Editing(store, this.pane);
    this.note = h("p", { class: "note", hidden: true });
    this.root = h("div", { class: "text-view" }, this.note, this.editing.head, this.pane.root,
      this.editing.root);
  }

  show() {
    const { store, pane } = this;
    const { missing } = store.stage;
    this.note.hidden = !missing;
    this.note.textContent = missing ? `This stage was not compiled. ${missing}` : "";
    const isNew = pane.id !== store.state.stage;
    pane.show(store.state.stage);
    this.editing.show(store.state.stage === "source");
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

/** Texts side by side, any number of them: related lines are highlighted in all. */
export class ColumnsView {
  constructor(store) {
    this.store = store;
    /** @type {ReturnType<ColumnsView["column"]>[]} */
    this.columns = [];
    this.adder = button("+", () => this.add(), { class: "column-add", "aria-label": "Add a column",
      title: "Add a column" });
    this.root = h("div", { class: "columns-view" }, this.adder);
  }

  column(position) {
    const { store } = this;
    const pane = new TextPane(store);
    const number = position + 1;
    const choice = h("select", {
      class: "column-choice", "aria-label": `Text of column ${number}`,
      onchange: () => store.set({ columns: store.state.columns.with(position, choice.value) }),
    });
    const close = button("×", () => store.set(withColumn(store.state, position)), {
      class: "column-close", "aria-label": `Close column ${number}`, title: "Close this column",
    });
    const edge = columnEdge(this, position);
    const editing = new Editing(store, pane);
    return { pane, choice, close, edge, editing, root: h("section", { class: "column" },
      h("div", { class: "column-head" }, choice, close), editing.head, pane.root, editing.root,
      edge) };
  }

  /** Opens its columns at the places that they had in another revision. */
  resume(places) {
    this.resumed = places;
  }

  /** One more column, with the first text that none shows yet. */
  add() {
    const { state } = this.store;
    const ids = this.withText().map((stage) => stage.id);
    const next = ids.find((id) => !state.columns.includes(id)) ?? ids[0];
    this.store.set(withColumn(state, state.columns.length, next));
    this.columns.at(-1).choice.focus();
  }

  withText() {
    const { model } = this.store;
    return model.stages.filter((stage) => model.text(stage.id).length);
  }

  show() {
    const { columns, shares } = this.store.state;
    while (this.columns.length < columns.length) {
      this.columns.push(this.column(this.columns.length));
      this.columns.at(-1).pane.resume(this.resumed?.[this.columns.length - 1]);
      this.adder.before(this.columns.at(-1).root);
    }
    this.columns.splice(columns.length).forEach(({ pane, editing, root }) => {
      pane.close();
      editing.close();
      root.remove();
    });
    this.adder.disabled = columns.length >= MOST_COLUMNS;
    const options = this.withText();
    const source = columns.indexOf("source"); // one editor is enough
    this.columns.forEach(({ pane, choice, close, edge, editing, root }, position) => {
      offer(choice, options);
      choice.value = columns[position];
      close.hidden = columns.length < 2;
      edge.hidden = position === columns.length - 1;
      root.style.flexGrow = String(shares[position] ?? 1);
      pane.show(columns[position]);
      editing.show(position === source);
      pane.revealSelection();
    });
    this.columns.forEach(({ edge }, position) => tellEdge(edge, this.widths(), position));
  }

  /** The widths of the columns in pixels. */
  widths() {
    return this.columns.map(({ root }) => root.offsetWidth);
  }

  draw() {
    this.columns.forEach(({ pane }) => pane.draw());
  }

  search(text) {
    return this.columns.flatMap(({ pane }) => pane.search(text).map((index) => ({ pane, index })));
  }

  visit({ pane, index }) {
    pane.scrollTo(index);
    this.store.select(pane.rows[index].entity);
  }

  status() {
    return "Hover or select a line: related lines are highlighted in every column.";
  }
}

/** Puts the stages into a select; one that has them already is left alone. */
function offer(choice, stages) {
  if (choice.options.length === stages.length) return;
  choice.replaceChildren(...stages.map(({ id, label }) => h("option", { value: id }, label)));
}

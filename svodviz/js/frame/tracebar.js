// The bar of a followed module, above every view: its lines or nodes of the stage on screen.

import { moduleOf, tracedRows } from "../data/modules.js";
import { button, count, h } from "../kit/dom.js";

const TEXTS = new Set(["text", "columns"]);

export class TraceBar {
  constructor(store) {
    this.store = store;
    this.name = button("", () => store.set({ stage: "modules", view: "modules" }), {
      class: "trace-name entity-link", title: "Show it among the modules",
    });
    this.words = h("span", { class: "trace-words", role: "status" });
    this.only = button("Only these", () => store.set({ filtered: !store.state.filtered }), {
      title: "Hides the lines of other modules",
    });
    this.end = button("×", () => store.set({ selected: "", filtered: false }), {
      "aria-label": "Stop following it", title: "Stop following it",
    });
    this.root = h("div", { class: "trace-bar", hidden: true }, "Following", this.name, this.words,
      this.only, this.end);
    store.subscribe(() => this.update());
    this.update();
  }

  update() {
    const { model, state, selected, stage } = this.store;
    const module = moduleOf(model, selected);
    this.root.hidden = module < 0 || state.view === "modules";
    if (this.root.hidden) return;
    const row = model.modules.rows[module];
    this.name.textContent = row.path || row.name;
    this.only.hidden = !TEXTS.has(state.view);
    this.only.setAttribute("aria-pressed", String(state.filtered));
    this.words.textContent = this.told(stage, module);
  }

  told(stage, module) {
    const { model, state } = this.store;
    if (state.view === "columns") return "its lines are highlighted in every column";
    if (stage.later) return model.waiting;
    if (stage.asked || stage.id === "passes") return "its nodes are highlighted";
    const lines = model.text(stage.id).filter((it) => !it.heading).length;
    const own = tracedRows(model, stage.id, module).filter((it) => !it.heading).length;
    return own ? `${count(own)} of ${count(lines)} lines of this stage belong to it`
      : "no line of this stage belongs to it";
  }
}

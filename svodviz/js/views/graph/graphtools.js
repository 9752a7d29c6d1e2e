// The controls of the graph: folding, cost overlay, filters.

import { foldingFor, foldingsOf } from "../../data/graph/groupings.js";
import { overlaysOf } from "../../data/graph/overlay.js";
import { button, h, icon } from "../../kit/dom.js";

export class GraphTools {
  /** @param store @param view the graph: `scene`, `program`, `picture`, `toggleFold` … */
  constructor(store, view) {
    this.store = store;
    this.view = view;
    this.folding = h("select", {
      "aria-label": "Fold the graph by",
      onchange: () => store.set({ folding: this.folding.value, open: [] }),
    });
    this.overlay = h("select", {
      "aria-label": "Cost laid over the graph",
      onchange: () => store.set({ overlay: this.overlay.value }),
    });
    this.fold = button("Unfold", () => view.toggleFold(), { title: "Fold or unfold (Enter)" });
    this.only = button("Only neighbours", () => view.toggleOnly(), {
      title: "Only the selection and its neighbours (s)",
    });
    this.across = button("", () => store.set({ across: !store.state.across }), {
      class: "across", "aria-label": "From left to right", title: "From left to right, or down",
    });
    this.across.append(icon("M2 8h11M9 4l4 4-4 4"));
    this.root = h("div", { class: "graph-tools", role: "group", "aria-label": "Graph" },
      this.folding, this.fold, this.only, this.overlay, this.across);
  }

  show() {
    const { store, view } = this;
    const { model, state } = store;
    const isPass = state.stage === "passes";
    const foldings = view.picture ? foldingsOf(model, view.scene, view.program) : [];
    this.root.hidden = !view.picture;
    this.across.setAttribute("aria-pressed", String(state.across));
    if (this.root.hidden) return;
    const suits = foldingFor(model, view.scene, view.program, "");
    const words = new Map(foldings);
    options(this.folding, state.folding, [
      ["", suits ? `folded by ${words.get(suits)}` : "not folded"],
      ...(suits || state.folding === "none" ? [["none", "not folded"]] : []),
      ...foldings.filter(([id]) => id !== suits || state.folding === id)
        .map(([id, name]) => [id, `folded by ${name}`]),
    ]);
    this.folding.hidden = foldings.length === 0;
    const overlays = overlaysOf(model).filter(([id]) =>
      id !== "measured" || id === state.overlay || store.measured.isOffered);
    options(this.overlay, state.overlay,
      [["", "no costs"], ...overlays.map(([id, words]) => [id, words])]);
    this.overlay.hidden = isPass || overlays.length === 0;
    this.only.hidden = isPass;
    this.showButtons();
  }

  showButtons() {
    const { store, view } = this;
    const { only, selected } = store.state;
    const found = view.picture.byEntity.get(store.selected);
    this.fold.hidden = !view.folding;
    this.fold.disabled = !found?.group;
    this.fold.textContent = view.opened?.includes(found?.group) ? "Fold" : "Unfold";
    const isMore = found && !only.includes(selected);
    this.only.disabled = !isMore && !only.length;
    this.only.textContent = !only.length ? "Only neighbours"
      : isMore ? "More neighbours" : "Show all";
  }
}

/** Puts options [value, words] into a select; leaves one alone that has them already. */
function options(select, value, rows) {
  const key = JSON.stringify(rows);
  if (select.dataset.rows !== key) {
    select.dataset.rows = key;
    select.replaceChildren(...rows.map(([id, words]) => h("option", { value: id }, words)));
  }
  select.value = rows.some(([id]) => id === value) ? value : "";
}

// The graphs of one stage side by side: marks for what differs, one selection in both.

import { FOLD_ABOVE } from "../data/graph/folding.js";
import { counted, h } from "../kit/dom.js";
import { GraphView } from "../views/graph/graph.js";
import { nextOf, SIDES } from "./difference.js";

const MARK_WORDS = { added: "only in b", removed: "only in a", changed: "differs" };
const FACTS = [["op", "op"], ["name", "name"], ["argument", "arg"], ["dtype", "dtype"],
  ["shape", "shape"]];

export class GraphsTab {
  constructor(comparison, fullPage) {
    this.comparison = comparison;
    const look = { fullPage, onStatus: () => {}, markWords: MARK_WORDS };
    this.views = comparison.stores.map((store) => new GraphView(store, look));
    this.facts = h("div", { class: "compare-facts" });
    this.root = h("div", { class: "compare-graphs" },
      ...this.views.map((view, at) => h("section", { class: `compare-side side-${SIDES[at]}`,
        "aria-label": comparison.wire.names[at] }, h("span", { class: "side-name" }, SIDES[at]),
      view.root)), this.facts);
    comparison.stores.forEach((store, at) => {
      // The difference is shown, not the call that it is in.
      const scenes = store.model.stages.flatMap((it) => it.units.map((unit) => unit.scene));
      const isSmall = scenes.every((it) => !it || it.nodes.length <= FOLD_ABOVE);
      if (isSmall) store.set({ folding: "none" });
      store.subscribe(() => this.chosen(at));
    });
  }

  /** A click in one graph: its partner is selected in the other. */
  chosen(at) {
    if (this.isShowing) return;
    const { selected } = this.comparison.stores[at].state;
    this.comparison.set({ selected: selected ? `${SIDES[at]} ${selected}` : "" });
  }

  show() {
    this.isShowing = true;
    const { comparison } = this;
    const { stage, selected } = comparison.state;
    const found = comparison.sideOf(selected);
    // First what takes room below, so that the graphs are fitted into what is left.
    this.facts.replaceChildren(...this.rows(found));
    comparison.stores.forEach((store, at) => {
      const unit = comparison.pair[SIDES[at]];
      const view = store.model.stageById.get(stage).units[Math.max(0, unit)]?.scene
        ? "graph" : "text";
      const entity = this.entityIn(at, found);
      store.set({ stage, view, selected: entity < 0 ? "" : store.model.entities[entity] });
      store.set({ unit: Math.max(0, unit) });
      if (unit < 0) this.views[at].showNothing({ note: "This part is only in the other one." });
      else this.views[at].show();
    });
    this.isShowing = false;
  }

  /** The selected entity, or its partner on this side; -1 where there is none. */
  entityIn(at, found) {
    if (!found) return -1;
    return found[0] === at ? found[1] : this.comparison.partners[found[0]].get(found[1]) ?? -1;
  }

  /** Everything known of the selected node on both sides. */
  rows(found) {
    if (!found) return [legend(), h("p", { class: "hint" },
      "Select a node: its partner is selected in the other graph.")];
    const nodes = SIDES.map((_, at) => this.nodeOf(at, this.entityIn(at, found)));
    const rows = FACTS.filter(([, key]) => nodes.some((node) => node?.[key]));
    return [legend(), h("table", {},
      h("thead", {}, h("tr", {}, h("th", {}), ...SIDES.map((side, at) =>
        h("th", { scope: "col" }, nodes[at] ? side : `${side}: not there`)))),
      h("tbody", {}, ...rows.map(([words, key]) => h("tr", {
        class: nodes[0] && nodes[1] && nodes[0][key] !== nodes[1][key] ? "differs" : null },
      h("th", { scope: "row" }, words),
      ...nodes.map((node) => h("td", {}, node?.[key] || "–"))))))];
  }

  nodeOf(at, entity) {
    const places = this.comparison.models[at].nodesOf.get(entity) || [];
    return places.find((it) => it.stage === this.comparison.state.stage)?.row;
  }

  draw() {
    this.views.forEach((view) => view.draw());
  }

  /** Positions in b's drawing order of what differs, those only in a after them. */
  differences() {
    return this.views.flatMap((view, at) => (view.picture?.nodes || [])
      .filter((it) => it.mark && (at === 1 || it.mark === "removed"))
      .map((it) => `${SIDES[at]} ${this.comparison.models[at].entities[it.row.e]}`));
  }

  step(by) {
    const all = this.differences();
    const at = all.indexOf(this.comparison.state.selected);
    const next = nextOf([...all.keys()], at, by);
    if (next >= 0) this.comparison.set({ selected: all[next] });
  }

  status() {
    const { pair } = this.comparison;
    const changed = pair.partners.filter(([, , differs]) => differs).length;
    const [a, b] = pair.only.map((it) => it.length);
    const alike = pair.partners.length - changed;
    return `${counted(alike, "node")} the same, ${changed} ~ differ, ${a} − only in a, ${
      b} + only in b`;
  }
}

function legend() {
  return h("p", { class: "compare-legend" },
    ...[["removed", "−", "only in a"], ["added", "+", "only in b"],
      ["changed", "~", "differs, or reads another node"]].map(([mark, sign, words]) =>
      h("span", { class: "legend-entry", "data-mark": mark },
        h("span", { class: "mark-sign", "aria-hidden": "true" }, sign), words)));
}

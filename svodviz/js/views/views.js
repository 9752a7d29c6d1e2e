// The class of each view; what views there are, and where they are offered, says views.py.

import { h } from "../kit/dom.js";
import { GraphView } from "./graph/graph.js";
import { LlvmPassesView } from "./machine/llvmpasses.js";
import { MachineView } from "./machine/machineview.js";
import { PlaygroundView } from "./playground/playground.js";
import { ModulesView } from "./modules/modules.js";
import { RunView } from "./run/run.js";
import { FusionView } from "./schedule/fusion.js";
import { MemoryView } from "./schedule/memory.js";
import { TimelineView } from "./schedule/timeline.js";
import { ColumnsView, TextView } from "./text/columns.js";

/** Stands for the views of a stage that has not arrived yet: says what it waits for. */
class WaitingView {
  constructor(store) {
    this.store = store;
    this.root = h("p", { class: "empty waiting", role: "status" });
  }

  show() {
    this.root.textContent = this.store.model.waiting;
  }

  status() {
    return "";
  }

  search() {
    return [];
  }

  visit() {}
}

/**
 * A view has `root`, `show()`, `status()`, `search(text)`, `visit(hit)`; and, where they mean
 * something, `draw()`, `fit()`, `light()` and `present()`.
 */
const CLASSES = {
  modules: ModulesView,
  run: RunView,
  timeline: TimelineView,
  memory: MemoryView,
  fusion: FusionView,
  llvm_passes: LlvmPassesView,
  machine: MachineView,
  graph: GraphView,
  text: TextView,
  columns: ColumnsView,
  playground: PlaygroundView,
  waiting: WaitingView,
};

/** The id of the view that shows a state: columns show of themselves what has not arrived. */
export function viewOf(store) {
  return store.stage.later && store.state.view !== "columns" ? "waiting" : store.state.view;
}

/** One of each, by id. */
export function makeViews(store, look) {
  const made = Object.entries(CLASSES).map(([id, View]) => [id, new View(store, look)]);
  return Object.fromEntries(made);
}

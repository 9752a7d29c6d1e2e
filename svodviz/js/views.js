// The class of each view; what views there are, and where they are offered, says views.py.

import { ColumnsView, TextView } from "./columns.js";
import { FusionView } from "./fusion.js";
import { GraphView } from "./graph.js";
import { LlvmPassesView } from "./llvmpasses.js";
import { MachineView } from "./machineview.js";
import { MemoryView } from "./memory.js";
import { PlaygroundView } from "./playground.js";
import { RunView } from "./run.js";
import { TimelineView } from "./timeline.js";
import { WaitingView } from "./waiting.js";

/**
 * A view has `root`, `show()`, `status()`, `search(text)`, `visit(hit)`; and, where they mean
 * something, `draw()`, `fit()`, `light()` and `present()`.
 */
const CLASSES = {
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

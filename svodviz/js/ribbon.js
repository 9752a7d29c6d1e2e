// The stages in order, each with its size and time; the chosen one is marked.

import { button, count, counted, duration, h } from "./dom.js";
import { keyOfStage } from "./keys.js";

export class Ribbon {
  constructor(store) {
    this.store = store;
    this.buttons = new Map();
    this.root = h("nav", { class: "ribbon", "aria-label": "Stages" });
    store.model.stages.forEach((stage) => this.root.append(this.entry(stage)));
    store.subscribe(() => this.update());
    this.update();
  }

  entry(stage) {
    const size = this.store.model.size(stage.id);
    const isEmpty = !size.nodes && !size.lines && !(stage.asked && stage.units.length);
    const key = keyOfStage(this.store.model, stage);
    const node = button("", () => this.store.set({ stage: stage.id }), {
      class: "stage",
      disabled: isEmpty,
      "data-stage": stage.id,
      title: stage.missing || (key ? `${stage.label} (key ${key})` : stage.label),
    });
    node.append(
      h("span", { class: "stage-label" }, stage.label),
      h("span", { class: "stage-size" }, isEmpty ? this.reason(stage) : this.measure(stage, size)),
    );
    this.buttons.set(stage.id, node);
    return node;
  }

  reason(stage) {
    return stage.missing ? "missing" : "none";
  }

  measure(stage, size) {
    if (stage.asked) return "on demand";
    const time = stage.id === "passes"
      ? this.store.model.passes.reduce((sum, it) => sum + it.seconds, 0)
      : stage.seconds;
    const words = {
      passes: size.nodes === 1 ? "1 pass" : `${count(size.nodes)} passes`,
      schedule: counted(size.nodes, "item"),
      kernels: counted(size.nodes, "node"),
      graph: counted(size.nodes, "node"),
    };
    const text = words[stage.id] || counted(size.lines, "line");
    return time > 0 ? `${text} · ${duration(time)}` : text;
  }

  update() {
    const { stage } = this.store.state;
    for (const [id, node] of this.buttons) {
      node.setAttribute("aria-current", id === stage ? "page" : "false");
    }
  }
}

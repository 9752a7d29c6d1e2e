// The stages in order, each with its size and time; the chosen one is marked.

import { checkMark, checkWords } from "./checks.js";
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
    const check = this.store.model.checks?.stages[stage.id];
    const node = button("", () => this.store.set({ stage: stage.id }), {
      class: "stage",
      disabled: isEmpty,
      "data-stage": stage.id,
    });
    const words = h("span", { class: "stage-size" });
    const measure = () => {
      words.textContent = isEmpty ? this.reason(stage) : this.measure(stage, size);
      node.title = stage.missing || `${stage.label}${key ? ` (key ${key})` : ""}: `
        + `${words.textContent}${checkWords(check)}`;
    };
    measure();
    node.append(
      h("span", { class: "stage-head" },
        h("span", { class: "stage-label" }, stage.label), (!isEmpty && checkMark(check)) || ""),
      words);
    if (stage.id === "run") this.store.measured.onChange(measure);
    this.buttons.set(stage.id, node);
    return node;
  }

  reason(stage) {
    return stage.missing ? "missing" : "none";
  }

  measure(stage, size) {
    if (stage.id === "run") return this.run();
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

  /** How long one run takes, if that was measured. */
  run() {
    const { measured } = this.store;
    if (!measured.isKnown) return measured.state === "asking" ? "running …" : "on demand";
    const { items } = this.store.model.schedule;
    const sum = items.reduce((total, it) => total + (it.measured ?? 0), 0);
    return `${counted(items.filter((it) => it.run).length, "item")} · ${duration(sum * 1e-9)}`;
  }

  update() {
    const { stage } = this.store.state;
    for (const [id, node] of this.buttons) {
      node.setAttribute("aria-current", id === stage ? "page" : "false");
    }
  }
}

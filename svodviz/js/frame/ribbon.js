// The stages in order, each with its size and time; the chosen one is marked.

import { button, count, counted, duration, h, nanoseconds } from "../kit/dom.js";
import { checkMark, checkWords } from "./checks.js";
import { keyOfStage } from "./keys.js";

export class Ribbon {
  constructor(store) {
    this.store = store;
    this.buttons = new Map();
    this.measures = [];
    this.edition = store.model.edition;
    this.root = h("nav", { class: "ribbon", "aria-label": "Stages" });
    store.model.stages.forEach((stage) => this.root.append(this.entry(stage)));
    store.subscribe(() => this.update());
    this.update();
  }

  entry(stage) {
    const key = keyOfStage(this.store.model, stage);
    const check = this.store.model.checks?.stages[stage.id];
    const node = button("", () => this.store.set({ stage: stage.id }), {
      class: "stage",
      "data-stage": stage.id,
    });
    const words = h("span", { class: "stage-size" });
    const measure = () => {
      const isEmpty = this.isEmpty(stage);
      node.disabled = isEmpty || node.hidden;
      const parts = isEmpty ? [this.reason(stage)] : this.measure(stage);
      words.replaceChildren(...parts.map((text) => h("span", {}, text)));
      node.title = stage.missing || `${stage.label}${key ? ` (key ${key})` : ""}: `
        + `${parts.join(" · ")}${checkWords(check)}`;
    };
    measure();
    const mark = node.disabled ? null : checkMark(check);
    node.append(h("span", { class: "stage-head" },
      h("span", { class: "stage-label" }, stage.label), mark), words);
    if (stage.id === "run") this.store.measured.onChange(measure);
    this.buttons.set(stage.id, node);
    this.measures.push(measure);
    return node;
  }

  /** Exported pages offer what is made on demand only where it was recorded. */
  isOffered(stage) {
    const { measured, requests } = this.store;
    if (stage.id === "run") return measured.isOffered || !stage.units.length;
    return !stage.asked || requests.offers(stage.id);
  }

  isEmpty(stage) {
    const size = this.store.model.size(stage.id);
    return !size.nodes && !size.lines && !((stage.asked || stage.later) && stage.units.length);
  }

  reason(stage) {
    return stage.missing ? "missing" : "none";
  }

  /** Its size, and how long the compiler took to make it: not what it takes to run. */
  measure(stage) {
    const { model } = this.store;
    const size = model.size(stage.id);
    if (stage.id === "run") return this.run();
    if (stage.asked) return ["on demand"];
    if (stage.later) return [model.isComing ? "being made …" : "not made"];
    const time = stage.id === "passes"
      ? model.passes.reduce((sum, it) => sum + it.seconds, 0)
      : stage.seconds;
    const words = {
      passes: size.nodes === 1 ? "1 pass" : `${count(size.nodes)} passes`,
      schedule: counted(size.nodes, "item"),
      kernels: counted(size.nodes, "node"),
      graph: counted(size.nodes, "node"),
    };
    const text = words[stage.id] || counted(size.lines, "line");
    return time > 0 ? [text, `made in ${duration(time)}`] : [text];
  }

  /** How long the items of one run take together, if that was measured. */
  run() {
    const { measured } = this.store;
    if (!measured.isKnown) return [measured.state === "asking" ? "running …" : "on demand"];
    const { items } = this.store.model.schedule;
    const sum = items.reduce((total, it) => total + (it.measured ?? 0), 0);
    return [counted(items.filter((it) => it.run).length, "item"),
      `${nanoseconds(sum)} in all`];
  }

  update() {
    const { model, state: { stage } } = this.store;
    if (this.edition !== model.edition) this.measures.forEach((measure) => measure());
    this.edition = model.edition;
    for (const [id, node] of this.buttons) {
      node.setAttribute("aria-current", id === stage ? "page" : "false");
      const row = model.stageById.get(id);
      node.hidden = id !== stage && !this.isOffered(row);
      node.disabled = node.hidden || this.isEmpty(row);
    }
  }
}

// The stages in order, each with its size and time; the chosen one is marked. Times are the
// compiler's, of making a stage, and say so; that of the last stage is the program's, of running.

import { button, count, counted, duration, h, nanoseconds } from "../kit/dom.js";
import { rove } from "../kit/roving.js";
import { checkMark, checkWords } from "./checks.js";
import { keyOfStage } from "./keys.js";

const COMPILER = "compiler";
const PROGRAM = "program";

export class Ribbon {
  constructor(store) {
    this.store = store;
    this.buttons = new Map();
    this.measures = [];
    this.revision = store.model.revision;
    this.root = h("nav", { class: "ribbon", "aria-label": "Stages" });
    store.model.stages.forEach((stage) => this.root.append(this.entry(stage)));
    rove(this.root);
    this.root.addEventListener("scroll", () => this.tellCut());
    new ResizeObserver(() => this.reveal()).observe(this.root);
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
      words.replaceChildren(...parts.map((text, place) =>
        h("span", { class: place ? "stage-time" : null }, text)));
      node.title = stage.missing || `${stage.label}${key ? ` (key ${key})` : ""}: `
        + `${parts.join(" · ")}${checkWords(check)}${this.whose(stage, parts)}`;
    };
    measure();
    const mark = node.disabled ? null : checkMark(check);
    node.append(h("span", { class: "stage-head" },
      h("span", { class: "stage-label" }, stage.label), mark, this.changed(stage)), words);
    if (stage.id === "run") this.store.measured.onChange(measure);
    this.buttons.set(stage.id, node);
    this.measures.push(measure);
    return node;
  }

  /** A sign where the stage differs from that of the revision before. */
  changed(stage) {
    const { count: lines, units } = this.store.revisions?.changes[stage.id] ?? {};
    if (!lines && !units?.length) return null;
    const words = lines ? `${counted(lines, "line")} changed` : "its graph changed";
    const label = { title: words, "aria-label": words };
    return h("span", { class: "stage-changed", role: "img", ...label }, "~");
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
    if (stage.later) return [model.isComing ? "compiling …" : "not compiled"];
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
    return time > 0 ? [text, `${COMPILER} ${duration(time)}`] : [text];
  }

  /** The sentence that says which times are shown. */
  whose(stage, parts) {
    const time = parts[1] ?? "";
    if (time.startsWith(COMPILER)) return "\nThe time is compile time of this stage.";
    if (!time.startsWith(PROGRAM)) return "";
    return "\nThe time is run time, measured: the sum of all items of one run.";
  }

  /** The time of all items of one run, if it was measured. */
  run() {
    const { measured } = this.store;
    if (!measured.isKnown) return [measured.state === "asking" ? "running …" : "on demand"];
    const { items } = this.store.model.schedule;
    const sum = items.reduce((total, it) => total + (it.measured ?? 0), 0);
    return [counted(items.filter((it) => it.run).length, "item"),
      `${PROGRAM} ${nanoseconds(sum)}`];
  }

  update() {
    const { model, state: { stage } } = this.store;
    if (this.revision !== model.revision) this.measures.forEach((measure) => measure());
    this.revision = model.revision;
    for (const [id, node] of this.buttons) {
      node.setAttribute("aria-current", id === stage ? "page" : "false");
      const row = model.stageById.get(id);
      node.hidden = id !== stage && !this.isOffered(row);
      node.disabled = node.hidden || this.isEmpty(row);
    }
    this.reveal();
  }

  /** Scrolls to the chosen stage where the row is longer than the explorer is wide. */
  reveal() {
    const { offsetLeft, offsetWidth } = this.buttons.get(this.store.state.stage);
    const { scrollLeft, clientWidth } = this.root;
    const isSeen = offsetLeft >= scrollLeft && offsetLeft + offsetWidth <= scrollLeft + clientWidth;
    if (!isSeen) this.root.scrollLeft = offsetLeft - (clientWidth - offsetWidth) / 2;
    this.tellCut();
  }

  /** Lets the row fade where it goes on. */
  tellCut() {
    const { scrollLeft, scrollWidth, clientWidth } = this.root;
    this.root.toggleAttribute("data-more-before", scrollLeft > 1);
    this.root.toggleAttribute("data-more-behind", scrollLeft + clientWidth < scrollWidth - 1);
  }
}

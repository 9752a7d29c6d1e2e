// The passes in order with their match counts, and the slider over the rewrites of the chosen one.

import { isTraced } from "../data/graph/passpicture.js";
import { button, counted, duration, h } from "../kit/dom.js";
import { rove } from "../kit/roving.js";
import { checkMark, checkWords, ticksOf } from "./checks.js";

const UNTRACED = "rewrites not recorded: compile(…, Options(trace=True)) records them";

export class Passes {
  constructor(store) {
    this.store = store;
    this.rows = [];
    this.list = h("ol", { class: "pass-list", "aria-label": "Passes" });
    this.filter = h("input", {
      type: "search", class: "filter", placeholder: "Filter passes",
      "aria-label": "Filter passes", oninput: () => this.sift(),
    });
    this.onlyChanged = h("input", { type: "checkbox", onchange: () => this.sift() });
    this.stepper = h("div", { class: "stepper" });
    this.toggle = button("Passes", () => {}, { class: "panel-toggle", "aria-expanded": "true" });
    this.head = h("div", { class: "passes-head" },
      h("h3", {}, this.toggle),
      h("label", { class: "only" }, this.onlyChanged, "changed only"));
    this.root = h("aside", { class: "passes", "aria-label": "Passes" },
      this.head, this.filter, this.list, this.stepper);
    this.fillList();
    this.buildStepper();
    rove(this.head);
    rove(this.list, "y");
    store.subscribe(() => this.update());
    this.update();
  }

  fillList() {
    let [level, place] = [null, null];
    this.store.model.passes.forEach((record, pass) => {
      const words = record.stage === "graph" ? "tensor level" : "machine level";
      if (words !== level) this.list.append(h("li", { class: "pass-level" }, words));
      level = words;
      const short = this.store.model.shortOf(record.kernel);
      const title = record.kernel ? `${record.stage} · ${short}` : record.stage;
      if (title !== place) this.list.append(h("li", { class: "pass-group" }, title));
      place = title;
      this.list.append(this.row(record, pass));
    });
    this.nothing = h("li", { class: "empty", hidden: this.rows.length > 0 },
      this.rows.length ? "No pass is called so, or none that changed something."
        : "No passes were run.");
    this.list.append(this.nothing);
  }

  row(record, pass) {
    const isKnown = isTraced(record);
    const check = this.store.model.checks?.passes[pass];
    const label = `${record.name}: ${record.changed ? "changed" : "unchanged"}, `
      + (isKnown ? counted(record.rewrites.length, "rewrite") : UNTRACED) + checkWords(check);
    const node = button("", () => this.store.set({ stage: "passes", pass, view: "graph" }), {
      class: `pass${record.changed ? " changed" : ""}${check ? " checked" : ""}`,
      "data-pass": pass,
      "aria-label": label,
      title: `${record.because} (the pass took ${duration(record.seconds)})`,
    });
    node.append(
      h("span", { class: "pass-mark", "aria-hidden": "true" }, record.changed ? "●" : "○"),
      h("span", { class: "pass-name" }, record.name),
      h("span", { class: "pass-count", title: isKnown ? null : UNTRACED },
        isKnown ? String(record.rewrites.length) : "not recorded"),
      checkMark(check) ?? "",
    );
    const item = h("li", {}, node);
    this.rows.push({ record, node, item });
    return item;
  }

  sift() {
    const text = this.filter.value.toLowerCase();
    for (const { record, item } of this.rows) {
      const kernel = this.store.model.shortOf(record.kernel);
      const words = `${record.name} ${record.stage} ${kernel}`.toLowerCase();
      const isNamed = words.includes(text);
      item.hidden = !isNamed || (this.onlyChanged.checked && !record.changed);
    }
    const shown = new Set(this.rows.filter(({ item }) => !item.hidden).map(({ item }) => item));
    this.nothing.hidden = shown.size > 0;
    this.hideTitles(".pass-group", ".pass-group, .pass-level", shown);
    this.hideTitles(".pass-level", ".pass-level", shown);
  }

  /** Hides titles of what is hidden: each holds up to the next that matches `end`. */
  hideTitles(titles, end, shown) {
    for (const title of this.list.querySelectorAll(titles)) {
      let item = title.nextElementSibling;
      while (item && !item.matches(end) && !shown.has(item)) item = item.nextElementSibling;
      title.hidden = !shown.has(item);
    }
  }

  buildStepper() {
    const { store } = this;
    this.previous = button("‹", () => store.moveStep(-1), { "aria-label": "Previous rewrite" });
    this.next = button("›", () => store.moveStep(1), { "aria-label": "Next rewrite" });
    this.whole = button("whole pass", () => store.set({ stage: "passes", step: -1 }), {
      class: "whole", title: "Compare the graphs before and after the pass",
    });
    this.slider = h("input", {
      type: "range", min: 0, step: 1, class: "slider", "aria-label": "Rewrite",
      oninput: () => store.set({ stage: "passes", step: Number(this.slider.value) }),
    });
    this.position = h("span", { class: "position", "aria-live": "polite" });
    this.ticks = h("div", { class: "check-ticks", "aria-hidden": "true" });
    this.stepper.append(
      h("div", { class: "step-row" }, this.previous, this.slider, this.next),
      this.ticks,
      h("div", { class: "step-row" }, this.position, this.whole),
    );
    rove(this.stepper);
  }

  update() {
    const { store } = this;
    const { pass, step, stage } = store.state;
    this.rows.forEach(({ node }, index) => {
      const isChosen = index === pass && stage === "passes";
      node.setAttribute("aria-current", isChosen ? "true" : "false");
      if (isChosen) node.scrollIntoView?.({ block: "nearest" });
    });
    this.stepper.hidden = stage !== "passes" || !store.pass;
    if (!this.stepper.hidden) this.updateStepper(step);
  }

  updateStepper(step) {
    const { steps } = this.store;
    const shown = step < 0 ? steps : step;
    this.slider.max = steps;
    this.slider.value = shown;
    this.slider.disabled = !steps;
    this.previous.disabled = !steps || step === 0;
    this.next.disabled = !steps || step === steps;
    this.whole.setAttribute("aria-pressed", String(step < 0));
    this.position.textContent = this.words(step, steps);
    const checks = this.store.model.checks?.steps[this.store.state.pass];
    this.ticks.replaceChildren(...ticksOf(checks?.slice(0, steps), shown));
  }

  words(step, steps) {
    if (!isTraced(this.store.pass)) return UNTRACED;
    if (!steps) return "no rewrites";
    if (step < 0) return `${counted(steps, "rewrite")} in all`;
    return step ? `after ${step} of ${steps}` : `before 1 of ${steps}`;
  }
}

// The card of a step: which rule acted and what it is in algebra and in code, what it matched, what
// it took away and put there; of a whole pass, why it stands where it does. First in the inspector.

import { isTold, matchedPart } from "../inspector/matched.js";
import { ruleCode } from "../inspector/whynot.js";
import { button, counted, h } from "../kit/dom.js";
import { checkLine, firstWrong } from "./checks.js";

export class StepCard {
  constructor(store) {
    this.store = store;
    this.root = h("section", { class: "rule-card", "aria-label": "This step", hidden: true });
    store.subscribe(() => this.update());
    this.update();
  }

  update() {
    const { store } = this;
    const { stage, pass, step } = store.state;
    this.root.hidden = stage !== "passes" || !store.pass;
    const key = this.root.hidden ? "" : `${pass} ${step} ${store.model.revision}`;
    if (key === this.key) return;
    this.key = key;
    if (this.root.hidden) return;
    this.root.replaceChildren(...this.lines(store.pass, step));
    this.root.parentElement?.scrollTo({ top: 0 });
  }

  lines(record, step) {
    const title = step > 0 ? `${record.name}, rewrite ${step} of ${this.store.steps}` : record.name;
    const because = record.because && h("p", { class: "because" }, `Why here: ${record.because}`);
    const left = record.left_out && h("p", { class: "note" },
      `The last ${counted(record.left_out, "rewrite")} of this pass were not recorded as steps.`);
    const own = step > 0 ? this.rewrite(record, step) : [...factLines(record),
      ...this.choices(record)]; // a step names its own
    return [h("h4", {}, title), this.check(step), ...(step > 0 ? [...own, because]
      : [because, ...own]), left].filter(Boolean);
  }

  rewrite(record, step) {
    const [rule, before, after] = record.rewrites[step - 1];
    const [name, algebra, source, code] = this.store.model.rules[rule];
    return [
      h("p", { class: "rule-name" }, name),
      h("p", { class: "algebra" }, algebra),
      h("p", { class: "rule-nodes" },
        this.link(before, "−"), h("span", { "aria-hidden": "true" }, " → "), this.link(after, "+")),
      isTold(record, code) && matchedPart(this.store, this.store.state.pass, step),
      ruleCode(code),
      h("p", { class: "rule-source" }, source),
    ];
  }

  /** True if the values on screen passed their check: of a rewrite, else of the whole pass. */
  check(step) {
    const { model, state } = this.store;
    if (!model.checks || step === 0) return null;
    const steps = model.checks.steps[state.pass];
    if (step > 0) return checkLine(steps[step - 1]);
    const first = firstWrong(steps);
    const [ok, words] = model.checks.passes[state.pass] ?? [];
    return ok === undefined ? null : checkLine([ok, first ? `${words} (${first})` : words]);
  }

  /** The choices for the kernel that this pass makes true. */
  choices(record) {
    const { model } = this.store;
    const rows = record.stage === "loops" ? model.kernelByName.get(record.kernel)?.choices : null;
    return (rows || []).filter(([name]) => name === record.name)
      .map(([, text]) => h("p", { class: "algebra" }, text));
  }

  link(entity, sign) {
    return button(`${sign} ${this.store.model.caption(entity)}`, () => this.store.select(entity), {
      class: "entity-link",
    });
  }
}

/** The facts that a pass relies on, and those that hold after it: a paragraph of each. */
function factLines(record) {
  const said = [["Requires", record.needs], ["Guarantees", record.gives]];
  return said.filter(([, facts]) => facts.length)
    .map(([words, facts]) => h("p", { class: "because" }, `${words}: ${facts.join("; ")}`));
}

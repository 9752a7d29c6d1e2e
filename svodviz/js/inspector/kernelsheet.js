// The inspector's section on one kernel: how its loops were transformed, and what LLVM did to it.

import { ratioOf, timesOf } from "../data/measured.js";
import { button, bytes, counted, h, nanoseconds } from "../kit/dom.js";
import { decisionRow, numbersTable } from "./reasons.js";

/** Stages whose parts are kernels, one part for each. */
const BY_KERNEL = new Set(["loops", "lowered", "llvm", "optimized", "asm"]);

/** The kernel that is on screen: that of the part, or of the chosen pass; undefined for none. */
export function kernelOnScreen({ model, state, pass }) {
  if (BY_KERNEL.has(state.stage)) return model.kernels[state.unit || 0];
  return state.stage === "passes" && pass?.kernel ? model.kernelByName.get(pass.kernel) : undefined;
}

/** The kernel that an entity of a stage belongs to: its number is the entity's second part. */
export function kernelOf(model, entity) {
  const [stage, number] = model.entities[entity].split(":");
  return BY_KERNEL.has(stage) ? model.kernels[Number(number)] : undefined;
}

/** The sections of a kernel's row; none where the kernel is not known. `item` has its own times. */
export function kernelSections(inspector, row, item = null) {
  if (!row) return [];
  return [transformations(inspector, row), machineCode(inspector, row),
    times(inspector, row, item)].filter(Boolean);
}

/** The times of all items that run the kernel together: estimated and, where known, measured. */
function times(inspector, { name }, item) {
  const { model, measured } = inspector.store;
  const sum = measured.isPossible && timesOf(model.schedule, name);
  if (!sum || (item && sum.count === 1)) return null;
  const facts = [["runs it", counted(sum.count, "item")]];
  if (sum.measured) facts.push(["share", `${Number((100 * sum.share).toPrecision(2))} % of all`]);
  return inspector.section(
    `Time of ${name}`,
    h("p", { class: "measured-words" }, `estimated ${nanoseconds(sum.ns)}`
      + (sum.measured ? `, measured ${nanoseconds(sum.measured)} (${ratioOf(sum)})` : "")),
    inspector.facts(facts),
    !sum.measured && h("p", { class: "hint" }, measured.isKnown
      ? "The time did not suffice to measure all of them." : measured.words),
  );
}

function machineCode(inspector, row) {
  const facts = [
    ["LLVM", row.level], ["because", row.because],
    ["tasks", row.tasks > 1 ? `${row.tasks}, which may run at once` : "1: one thread runs it"],
    ["scratch", row.scratch ? `${bytes(row.scratch)} for each task` : ""],
  ].filter(([, value]) => value);
  return inspector.section(`How ${row.short ?? row.name} runs`, inspector.facts(facts),
    numbersTable(row.numbers));
}

function transformations(inspector, row) {
  const { model } = inspector.store;
  const refused = (row.refused || []).map(([name, reason, numbers]) =>
    decisionRow([row.e, name, false, reason, numbers]));
  if (!row.choices.length) {
    return inspector.section(`Loops of ${row.short ?? row.name}`,
      h("p", { class: "hint" }, "Left as they are: no choice was made for this kernel."),
      ...refused);
  }
  return inspector.section(
    `Loops of ${row.short ?? row.name}: ${row.choices.length} choices`,
    ...groups(row.choices).map(([reason, choices]) => h(
      "div", { class: "choices" },
      ...choices.map(([name, text]) => choice(inspector, model, row.name, name, text)),
      h("p", { class: "reason-words" }, reason || "as asked"),
      numbersTable(choices[0][3]),
    )),
    ...refused,
    h("details", { class: "as-text" },
      h("summary", {}, "As text, for Options(loops=…)"),
      h("pre", { class: "block", tabindex: "0" }, program(row))),
  );
}

/** A choice; where its pass was run, a click leads there. */
function choice({ store }, model, kernel, name, text) {
  const pass = model.passes.findIndex((it) => it.kernel === kernel && it.name === name);
  if (pass < 0) return h("p", { class: "choice" }, text);
  const go = () => store.set({ stage: "passes", pass, step: -1, view: "graph" });
  return button(text, go, { class: "entity-link choice", title: `show pass ${name}` });
}

/** Choices that follow each other for one reason, together. */
function groups(choices) {
  const found = [];
  for (const each of choices) {
    const last = found[found.length - 1];
    if (last && last[0] === each[2]) last[1].push(each);
    else found.push([each[2], [each]]);
  }
  return found;
}

/** The program that makes the same choices. */
export function program(row) {
  const lines = row.choices.map(([, text]) => `    ${text}`);
  return ["compile(x, Options(loops={", `  "${row.name}": """`, ...lines, '  """,', "}))"]
    .join("\n");
}

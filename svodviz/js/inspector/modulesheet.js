// The inspector's sections on a module: where it is at every stage, and the kernels that do its
// work, each with a way to its instructions.

import { isInside, moduleOf, ofRoof, tracedRows, workOf } from "../data/modules.js";
import { button, bytes, count, counted, h, nanoseconds } from "../kit/dom.js";
import { percent } from "../kit/words.js";

const LISTED = 12; // kernels: a choice
const NAMED = 3; // other modules of a kernel by name, of more the number: a choice

/** The sections of a module; null for what is none. */
export function moduleSections(inspector, entity) {
  const { model } = inspector.store;
  const module = moduleOf(model, entity);
  if (module < 0) return null;
  const row = model.modules.rows[module];
  return [
    h("div", { class: "inspector-head", "data-kind": "control" },
      h("h3", {}, row.path || row.name), h("p", { class: "entity" }, row.kind || "module")),
    takes(inspector, row, module),
    kernels(inspector, row, module),
    stages(inspector, module),
    passes(inspector, row),
  ].filter(Boolean);
}

/** The time of an item, and whether all items were measured. */
function timing(model) {
  const items = model.schedule?.items ?? [];
  const isMeasured = items.length > 0 && items.every((it) => it.run);
  return { isMeasured, timeOf: isMeasured ? (it) => it.run.ns : (it) => it.ns };
}

function takes(inspector, row, module) {
  const { model } = inspector.store;
  const { isMeasured, timeOf } = timing(model);
  const works = workOf(model, timeOf);
  const work = works[module];
  const code = model.codes?.[module];
  const facts = [
    [isMeasured ? "measured" : "estimated", `${nanoseconds(work.ns)}, ${
      percent(work.ns / Math.max(works[0].ns, 1e-9))} of the program`],
    ["of its roofline", work.ns ? percent(ofRoof(work)) : ""],
    ["moved", work.moved >= 1 ? bytes(Math.round(work.moved)) : ""],
    ["operations", work.flops >= 1 ? count(Math.round(work.flops)) : ""],
    ["instructions", code ? `${count(code[0])}${of(code[1], code[0])}` : "still compiling"],
    ["of assembly", code ? `${count(code[2])}${of(code[3], code[2])}` : ""],
    ["machine code", code ? bytes(code[4]) : ""],
  ];
  return inspector.facts(facts.filter(([, words]) => words));
}

/** The number of lines that are of other modules too. */
function of(shared, all) {
  if (!shared) return "";
  return shared === all ? ", all shared with others" : `, ${count(shared)} shared with others`;
}

function kernels(inspector, row, module) {
  const { store } = inspector;
  const { model } = store;
  const { timeOf } = timing(model);
  const found = row.kernels.map(([name, items, shares, others]) => ({
    name, items, others,
    time: items.reduce((sum, it, at) => sum + shares[at] * timeOf(model.schedule.items[it]), 0),
    part: shares.reduce((sum, it) => sum + it, 0) / shares.length,
  })).sort((a, b) => b.time - a.time);
  const left = found.length - LISTED;
  if (!found.length) {
    return inspector.section("Kernels", h("p", { class: "hint" },
      "None: passes folded all of it away, or it only says where elements are."));
  }
  return inspector.section(`In ${counted(found.length, "kernel")}`,
    h("ul", { class: "module-kernels" },
      ...found.slice(0, LISTED).map((it) => kernel(store, it, module))),
    left > 0 && h("p", { class: "more" }, `and ${counted(left, "kernel")} more`));
}

function kernel(store, { name, items, others, time, part }, module) {
  const { model } = store;
  const unit = model.kernels.findIndex((it) => it.name === name);
  const { rows } = model.modules;
  const names = [...new Set(others.map((it) => outermost(rows, it, module)))]
    .map((it) => rows[it].path || rows[it].name);
  const also = names.length > NAMED ? `${names.length} other modules` : names.join(", ");
  const go = () => store.set({ stage: "asm", view: "machine", unit });
  const words = [nanoseconds(time), items.length > 1 && `${count(items.length)} runs`,
    part < 0.995 && `${percent(part)} of it`, also && `shared with ${also}`];
  return h("li", {},
    button(`${model.shortOf(name)} → instructions`, go, { class: "entity-link",
      title: "Machine code, with this module highlighted" }),
    h("span", { class: "time-why" }, words.filter(Boolean).join(", ")));
}

/** The outermost module that holds another and not this one. */
function outermost(rows, other, module) {
  let at = other;
  while (rows[at].parent >= 0 && !isInside(rows, module, rows[at].parent)) at = rows[at].parent;
  return at;
}

/** Every stage with how many of its lines came of the module, one click each. */
function stages(inspector, module) {
  const { store } = inspector;
  const { model } = store;
  const rows = model.stages
    .filter((stage) => !["modules", "passes"].includes(stage.id) && !stage.asked)
    .map((stage) => {
      const traced = tracedRows(model, stage.id, module);
      const lines = traced.filter((it) => !it.heading);
      // The kernel with most of it is the one to open.
      const most = commonest(lines.map((it) => it.unit));
      const show = () => store.set({ stage: stage.id, unit: most });
      const words = stage.later ? "still compiling" : counted(lines.length, "line");
      return button(`${stage.label}: ${words}`, show, { class: "entity-link way",
        disabled: !stage.later && !lines.length });
    });
  const columns = ["modules", "graph", "loops", "asm"];
  const beside = () => store.set({ view: "columns", columns });
  return inspector.section("Through every stage", inspector.links(rows),
    button("Modules, graph, loops and assembly side by side", beside, {
      class: "entity-link way" }));
}

/** @param {number[]} units */
function commonest(units) {
  const counts = new Map();
  units.forEach((it) => counts.set(it, (counts.get(it) ?? 0) + 1));
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

function passes(inspector, { nodes, alive, shared }) {
  const names = inspector.store.model.modules.passes;
  const facts = [["as written", count(nodes)],
    ...names.map((name, at) => [`after ${name}`, count(alive[at])]),
    ["shared with others", shared ? count(shared) : "none"]];
  return inspector.section("Its nodes", inspector.facts(facts));
}

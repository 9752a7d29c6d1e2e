// The inspector's sections on items, buffers and fusion opportunities of the schedule.

import { rateOf, ratioOf } from "../data/measured.js";
import { changeWords } from "../data/schedule.js";
import { bytes, count, h, nanoseconds } from "../kit/dom.js";
import { kernelSections } from "./kernelsheet.js";
import { numbersTable } from "./reasons.js";

const LISTED = 24;
const COUNTED = "Of flops a division counts 4, an exponential 12. Bytes are those of whole "
  + "buffers, of which a kernel may read a part.";

/** The kind and the sections of an entity of the schedule; null for any other entity. */
export function scheduleSections(inspector, entity) {
  const { schedule } = inspector.store.model;
  if (!schedule) return null;
  const [row, made, found] = [schedule.itemOf, schedule.bufferOf, schedule.fusionOf]
    .map((rows) => rows.get(entity));
  if (row) return { kind: row.op, sections: item(inspector, schedule, row) };
  if (made) return { kind: "buffer", sections: buffer(inspector, schedule, made) };
  return found ? { kind: "kernel", sections: fusion(inspector, schedule, found) } : null;
}

/** By what a variable of an item has its value: where it counts, by the loop. */
function originOf(schedule, row, name) {
  const items = schedule.loops[schedule.loopOf.get(row.position)]?.items ?? [];
  const values = items.map((it) => new Map(schedule.items[it].fixed).get(name));
  return new Set(values).size > 1 ? "bound by the loop" : "offset of the part that it reads";
}

function item(inspector, schedule, row) {
  const facts = [
    ["operation", row.op],
    ["lane", schedule.lanes[row.lane]],
    ...row.facts,
    ...row.fixed.map(([name, value]) => [name, `${value}, ${originOf(schedule, row, name)}`]),
  ];
  const loop = schedule.loopOf.get(row.position);
  if (loop !== undefined) facts.push(["loop", schedule.loops[loop].label]);
  const cost = [
    ["flops", count(row.flops)],
    ["read", `${count(row.read)} bytes`],
    ["written", `${count(row.written)} bytes`],
    ["estimated", `${nanoseconds(row.ns)}${row.bound ? `, bound by ${row.bound}` : ""}`],
    ["earliest start", nanoseconds(row.start)],
    ["latest start", nanoseconds(row.late)],
    ["slack", slackWords(schedule, row, row, "estimated")],
  ];
  const args = row.args.map(([number, side]) => inspector.link(
    schedule.buffers[number].e, side || "–"));
  return [
    inspector.facts(facts),
    args.length > 0 && inspector.section("Arguments", inspector.links(args)),
    inspector.section("Cost", inspector.facts(cost),
      row.op === "kernel" && h("p", { class: "hint" }, COUNTED)),
    measured(inspector, row),
    ...kernelSections(inspector, row.op === "kernel" && kernelNamed(inspector, row.name), row),
    edges(inspector, schedule, "Waits for", schedule.before[row.position], "from"),
    edges(inspector, schedule, "Others wait for it", schedule.behind[row.position], "to"),
    fusions(inspector, schedule, row),
  ].filter(Boolean);
}

/** The measured time and the estimate; or why it was not measured. */
function measured(inspector, row) {
  const { measured: known } = inspector.store;
  if (!known.isPossible) return null;
  const { run } = row;
  if (!run) {
    const words = known.isKnown ? "not measured: the time limit was reached" : known.words;
    return inspector.section("Measured", h("p", { class: "hint" }, words));
  }
  const rates = [[rateOf(row.read + row.written, run.ns), "GB/s"], [rateOf(row.flops, run.ns),
    "GFLOP/s"]].filter(([rate]) => rate).map((it) => it.join(" "));
  return inspector.section(
    "Measured",
    h("p", { class: "measured-words" },
      `estimated ${nanoseconds(row.ns)}, measured ${nanoseconds(run.ns)} (${ratioOf(row)})`),
    inspector.facts([
      ["quartiles", `${nanoseconds(run.low)} … ${nanoseconds(run.high)}, ${run.rounds} rounds`],
      ["rates", rates.join(", ") || "–"],
      ["bound by", run.bound || "–"],
      ["slack by time", slackWords(inspector.store.model.schedule, row, run, "measured")],
    ]),
  );
}

/** The slack of an item; for a critical one, its critical path. */
function slackWords(schedule, item, { critical, slack }, by) {
  return critical ? `none: ◆ ${schedule.criticalWords(item, by)}` : nanoseconds(slack);
}

function kernelNamed(inspector, name) {
  return inspector.store.model.kernelByName.get(name);
}

/** Dependencies with the kind and the reason of each. */
function edges(inspector, schedule, title, list, end) {
  if (!list.length) return null;
  const shown = list.slice(0, LISTED);
  const left = list.length - shown.length;
  return inspector.section(title, ...shown.map((edge) => h(
    "div", { class: "reason" },
    inspector.link(schedule.items[edge[end]].e),
    h("p", { class: "reason-words" }, schedule.reasonOf(edge), edge.critical ? " · critical" : ""),
  )), left > 0 && h("p", { class: "more" }, `and ${count(left)} more not listed`));
}

function fusions(inspector, schedule, row) {
  const found = (schedule.fusions || []).filter((it) =>
    it.from === row.position || it.to === row.position).slice(0, LISTED);
  if (!found.length) return null;
  return inspector.section("Fusion opportunities", ...found.map((it) => h(
    "div", { class: "reason" },
    inspector.link(it.e),
    h("p", { class: "reason-words" }, schedule.verdict(it)),
    numbersTable(it.numbers),
  )));
}

function buffer(inspector, schedule, row) {
  const { memory, items } = schedule;
  const life = memory.lives.find(([number]) => number === row.number);
  const facts = [
    ["dtype", row.dtype], ["shape", row.shape], ["size", `${count(row.bytes)} bytes`],
    ["device", row.device],
    ["origin", row.made ? "computed" : "input"],
    life && ["needed", `items ${life[1]} … ${life[2]}`],
  ].filter(Boolean);
  const users = (side) => items.filter((it) =>
    it.args.some(([number, sides]) => number === row.number && sides.split(" ").includes(side)));
  const list = (title, found) => found.length > 0 && inspector.section(
    title, inspector.links(found.slice(0, LISTED).map((it) => inspector.link(it.e))),
    found.length > LISTED && h("p", { class: "more" },
      `and ${count(found.length - LISTED)} more not listed`));
  return [
    inspector.facts(facts),
    plan(inspector, schedule, row),
    list("Written by", users("out")),
    list("Read by", users("in")),
  ].filter(Boolean);
}

/** The place that the planner gave a buffer, and the reason. */
function plan(inspector, schedule, { number }) {
  const { places } = schedule.memory.plan || { places: [] };
  const place = places.find((it) => it.buffer === number);
  if (!place) return null;
  const facts = [
    ["address", place.offset === null ? "outside the arena" : count(place.offset)],
    ["takes", bytes(place.size)],
    ["levels", `${place.first} … ${place.last}`],
    ["reason", place.reason],
  ];
  const before = place.after.map((it) =>
    inspector.link(schedule.buffers[places[it].buffer].e, "after"));
  return inspector.section("Memory plan", inspector.facts(facts), numbersTable(place.numbers),
    inspector.links(before));
}

function fusion(inspector, schedule, row) {
  const facts = [
    ["type", row.type], ["time change", changeWords(row)],
    ["not moved", `${count(row.saved)} bytes`],
  ];
  const ends = [row.from, row.to].map((it) => inspector.link(schedule.items[it].e));
  return [
    h("p", { class: `fusion-verdict ${row.taken ? "taken" : "refused"}` }, schedule.verdict(row)),
    inspector.facts(facts),
    numbersTable(row.numbers),
    inspector.section("Items", inspector.links(ends)),
  ];
}

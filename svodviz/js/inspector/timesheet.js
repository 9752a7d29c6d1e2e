// Hot lines of a program, the most expensive first, each with its bottleneck.

import { lineTimes } from "../data/graph/linetimes.js";
import { button, counted, h, nanoseconds } from "../kit/dom.js";
import { percent } from "../kit/words.js";

const LISTED = 5; // lines: a choice
const BOUND = {
  launch: "launch overhead",
  computing: "computing",
  latency: "latency: results that wait for one another",
};

/** The section; null where nothing is known of any item's time. */
export function timeSection(inspector) {
  const { model } = inspector.store;
  const items = model.schedule?.items ?? [];
  const isMeasured = items.length > 0 && items.every((it) => it.run);
  const rows = lineTimes(model, isMeasured ? (it) => it.run.ns : (it) => it.ns);
  if (!rows.length) return null;
  const whole = rows.reduce((sum, it) => sum + it.time, 0);
  const rest = rows.slice(LISTED);
  const section = inspector.section(
    `${isMeasured ? "Measured" : "Estimated"} time by line: ${nanoseconds(whole)}`,
    h("ol", { class: "line-times" },
      ...rows.slice(0, LISTED).map((row) => lineTime(inspector.store, row))),
    rest.length > 0 && h("p", { class: "more" }, `and ${
      percent(rest.reduce((sum, it) => sum + it.share, 0))} in ${
      counted(rest.length, "more line")}`));
  section.classList.add("time-section");
  return section;
}

/** One line with its share, and the kernel that most of it is spent in with what bounds that. */
function lineTime(store, { entity, time, back, share, item }) {
  const { model } = store;
  const [, number] = entity < 0 ? [] : model.entities[entity].split(":");
  const text = model.lineOf.get(entity)?.text.trim();
  const show = () => store.set({ stage: "source", selected: model.entities[entity] });
  const showItem = () => store.set({ stage: "schedule", view: "timeline",
    selected: model.entities[item.e] });
  return h("li", { style: `--share: ${100 * share}%` },
    h("span", { class: "time-share" }, percent(share)),
    entity < 0 ? h("span", { class: "time-line" }, "no line of the program")
      : button(`${number}  ${text}`, show, { class: "entity-link time-line", title: text }),
    button(item.title ?? item.name, showItem, { class: "entity-link time-kernel",
      title: "The kernel that takes most of it, on the timeline" }),
    h("span", { class: "time-why" },
      [nanoseconds(time), back > 0 && `${percent(back / time)} of it in the backward pass`,
        item.bound && `bound by ${BOUND[item.bound] ?? item.bound}`]
        .filter(Boolean).join(", ")));
}

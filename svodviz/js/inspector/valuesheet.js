// The value of the selection, or of what it comes from where it has none of its own.

import { h } from "../kit/dom.js";
import { bars, picture } from "../kit/valuepicture.js";
import { percent } from "../kit/words.js";

const WITH_VALUES = ["graph", "kernels"]; // stages of which Python knows each node's value
const asked = new WeakMap(); // what Python was asked for already, by model

/**
 * The nearest value on the way up: machine code has none of its own, the instruction it comes
 * from has. Pure.
 * @param {number} entity
 * @param {number[][]} parents
 * @param {(entity: number) => boolean} has
 * @returns {number} -1 where no way leads to a value
 */
export function nearestValue(entity, parents, has) {
  const seen = new Set([entity]);
  for (const each of seen) {
    if (has(each)) return each;
    parents[each].forEach((parent) => seen.add(parent));
  }
  return -1;
}

/** The reason why entities inside a kernel have no values, if known; else nothing. */
function unseenWords(model, entity) {
  const [stage, number] = model.entities[entity].split(":");
  if (stage !== "loops" && stage !== "lowered") return "";
  const row = model.unseen.find(([of, kernel]) => (!of || of === stage)
    && (kernel < 0 || kernel === Number(number)));
  return row ? `Not computed: ${row[2]}.` : "";
}

/** The section of the inspector; null where nothing is known. It fills itself where it can. */
export function valueSection(inspector, entity) {
  const { model, requests } = inspector.store;
  const wanted = nearestValue(entity, model.parents, (it) => model.values[it] !== undefined
    || WITH_VALUES.includes(model.stageOf(it)));
  const known = asked.get(model) ?? asked.set(model, new Set()).get(model);
  const isKnown = wanted < 0 || model.values[wanted] !== undefined || known.has(wanted);
  if (isKnown || requests.obstacle) return knownSection(inspector, entity);
  const part = h("div", {}, knownSection(inspector, entity));
  known.add(wanted);
  requests.ask("value", { entity: model.entities[wanted] }).then((value) => {
    if (!value) return;
    model.values[wanted] = value;
    part.replaceChildren(knownSection(inspector, entity));
  }, () => known.delete(wanted));
  return part;
}

function knownSection(inspector, entity) {
  const { model } = inspector.store;
  const from = nearestValue(entity, model.parents, (it) => model.values[it] !== undefined);
  const unseen = from === entity ? "" : unseenWords(model, entity);
  if (from < 0) {
    return unseen ? inspector.section("Value", h("p", { class: "note" }, unseen)) : null;
  }
  const value = model.values[from];
  const odd = [["zeros", value.zeros], ["NaN", value.nan], ["infinite", value.inf]]
    .filter(([, number]) => number);
  const facts = [
    ...["min", "max", "mean"].filter((name) => name in value).map((name) => [name, value[name]]),
    ...odd.map(([name, number]) => [name, share(number, value.size)]),
    ["first", value.first.join("  ") + (value.size > value.first.length ? "  …" : "")],
    !value.shape && ["computed", `${value.size.toLocaleString("en")} elements, one iteration ` +
      "after the other, on the inputs given"],
  ].filter(Boolean);
  return inspector.section(
    "Value",
    unseen && h("p", { class: "note" }, unseen),
    from !== entity && h("p", { class: "hint" }, "The value it comes from:"),
    from !== entity && inspector.links([inspector.link(from)]),
    value.picture && picture(value),
    value.bars && bars(value),
    inspector.facts(facts),
    nanSection(inspector, from, value),
  );
}

/** A count, the total, and their ratio. */
function share(number, size) {
  const [part, whole] = [number, size].map((it) => it.toLocaleString("en"));
  return `${part} of ${whole}, ${percent(number / size)}`;
}

/** From a value with NaN, the path to the node where NaN first occurs. */
function nanSection(inspector, entity, value) {
  const began = value.began && inspector.store.model.entity(value.began);
  if (!value.began || began === undefined || began < 0) return null;
  if (began === entity) {
    return h("p", { class: "note" }, "NaN begins here: nothing that it is computed from has one.");
  }
  return h("div", {}, h("p", { class: "hint" }, "Its NaN began at:"),
    inspector.links([inspector.link(began)]));
}

// Decisions with the numbers behind them: a sentence, and a small table of the numbers compared.

import { counted, h } from "../kit/dom.js";

const SIGNS = { "<": "less than", "=": "equal to", ">": "more than" };

/**
 * The numbers that were looked at, a row each; null where there are none.
 * @param {[string, string, string, string, string][]} [rows] name, value, sign, limit, its name
 */
export function numbersTable(rows) {
  if (!rows?.length) return null;
  return h("table", { class: "looked-at" },
    h("caption", { class: "unseen" }, "Numbers compared"),
    h("tbody", {}, ...rows.map(([name, value, sign, limit, against]) => h(
      "tr", {},
      h("th", { scope: "row" }, name),
      h("td", {}, h("b", {}, value), ...(sign ? comparison(sign, limit, against) : []))))));
}

function comparison(sign, limit, against) {
  return [" ", h("span", { class: "sign", role: "img", "aria-label": SIGNS[sign] }, sign), " ",
    limit, " ", h("span", { class: "against" }, `(${against})`)];
}

/** A verdict with its sentence, its numbers, and what it is about. */
export function decisionRow([, kind, taken, reason, numbers], about = null) {
  return h("div", { class: "decision" },
    h("p", {},
      h("span", { class: `verdict ${taken ? "taken" : "refused"}` },
        taken ? "✓ " : "✗ ", kind),
      " ", reason),
    numbersTable(numbers), about);
}

/**
 * The decisions about an entity: its own first, then those on what it is elsewhere, what left no
 * choice last. Pure.
 * @param {any} model
 * @param {number} entity
 */
export function decisionsOf(model, entity) {
  const related = model.related(entity);
  // Decisions on a kernel's loops are shown with the kernel.
  const all = model.decisions.filter(([it]) => !model.kernelBodies.has(it));
  const plain = [...related].flatMap((it) => model.plainOf.get(it) || []);
  const isOwn = (row) => row[0] === entity;
  const near = (row) => !isOwn(row) && related.has(row[0]);
  return [...all.filter(isOwn), ...plain.filter(isOwn), ...all.filter(near), ...plain.filter(near)];
}

/** The section of the inspector; null where nothing was decided. */
export function decisionSection(inspector, entity, listed) {
  const rows = decisionsOf(inspector.store.model, entity);
  if (!rows.length) return null;
  const left = rows.length - listed;
  return inspector.section("Decisions",
    ...rows.slice(0, listed).map((row) =>
      decisionRow(row, row[0] === entity ? null : inspector.link(row[0]))),
    left > 0 && h("p", { class: "more" }, `and ${counted(left, "more decision")} not listed`));
}

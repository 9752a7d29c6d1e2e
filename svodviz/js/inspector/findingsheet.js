// What the program could do better: the first thing the inspector says of it.

import { button, count, counted, h, nanoseconds } from "../kit/dom.js";
import { percent } from "../kit/words.js";
import { numbersTable } from "./reasons.js";

const OPEN = 1; // shown in full, so that what follows is in view; others unfold: a choice

/** The section of a program's findings; null where it was made without looking for any. */
export function findingSection(inspector) {
  const { findings, schedule } = inspector.store.model;
  if (!findings?.looked_for.length) return null;
  const { rows } = findings;
  const whole = schedule?.items.reduce((sum, it) => sum + it.cost, 0) ?? 0;
  const section = inspector.section(
    rows.length ? `Findings: ${counted(rows.length, "thing")} to do better` : "No findings",
    rows.length > 0 && h("ol", { class: "findings" }, ...rows.map((row, place) =>
      finding(inspector, row, place, whole))),
    lookedFor(findings.looked_for));
  section.classList.add("finding-section");
  return section;
}

function finding(inspector, row, place, whole) {
  return h("li", {}, h("details", { class: "finding", open: place < OPEN },
    h("summary", {}, h("b", {}, row.rule), ` · ${gainWords(row, whole)}`),
    lineOf(inspector, row),
    h("p", {}, row.words),
    numbersTable(row.numbers),
    h("p", { class: "instead" }, h("b", {}, "Instead: "), row.instead),
    showButton(inspector, row)));
}

/** "about 29 µs less, 39 % of the estimated time"; compiling is no part of that time. */
function gainWords({ rule, gain }, whole) {
  const time = `about ${nanoseconds(gain)} less`;
  if (rule === "recompiled" || !whole) return `${time} at each call`;
  return `${time}, ${percent(gain / whole)} of the estimated time`;
}

/** The line of the program; a button where it can be shown. */
function lineOf({ store }, { place, text, line }) {
  if (!place) return null;
  const words = [h("span", { class: "finding-place" }, place), " ", h("code", {}, text)];
  if (line < 0) return h("p", { class: "finding-line" }, ...words);
  const show = () => store.set({ stage: "source", selected: store.model.entities[line] });
  const node = button("", show, { class: "entity-link finding-line", title: "show the line" });
  node.append(...words);
  return node;
}

/** A button that shows what was found, in the view that shows it best. */
function showButton({ store }, { rule, e, stage, view }) {
  if (e < 0) return null;
  const { model } = store;
  const label = `${model.stageById.get(stage)?.label} · ${model.viewById.get(view)?.label}`;
  const show = () => store.set({ stage, view, selected: model.entities[e] });
  return button(`Show it: ${label}`, show, {
    class: "finding-show", "aria-label": `Show it: ${label}, of ${rule}`,
  });
}

function lookedFor(words) {
  return h("details", { class: "looked-for" },
    h("summary", {}, `What was looked for (${count(words.length - 1)} rules)`),
    h("ul", {}, ...words.map((it) => h("li", {}, it))));
}

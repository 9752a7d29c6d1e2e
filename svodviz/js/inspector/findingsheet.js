// Findings (possible improvements): first in the inspector of a program.

import { button, count, counted, h } from "../kit/dom.js";
import { numbersTable } from "./reasons.js";

const OPEN = 1; // shown in full, so that what follows is in view; others unfold: a choice

/** The section of a program's findings; null where it was made without looking for any. */
export function findingSection(inspector) {
  const { model, measured } = inspector.store;
  const findings = measured.answer?.findings ?? model.findings;
  if (!findings?.looked_for.length) return null;
  const { rows } = findings;
  const section = inspector.section(
    rows.length ? `Findings: ${counted(rows.length, "possible improvement")}` : "No findings",
    rows.length > 0 && h("ol", { class: "findings" }, ...rows.map((row, place) =>
      finding(inspector, row, place))),
    lookedFor(findings.looked_for));
  section.classList.add("finding-section");
  return section;
}

function finding(inspector, row, place) {
  return h("li", {}, h("details", { class: "finding", open: place < OPEN },
    h("summary", {}, h("b", {}, row.rule), ` · ${row.brings}`),
    lineOf(inspector, row),
    h("p", {}, row.words),
    numbersTable(row.numbers),
    h("p", { class: "instead" }, h("b", {}, "Instead: "), row.instead),
    showButton(inspector, row)));
}

/** The line of the program; a button where it can be shown. */
function lineOf({ store }, { place, text, line }) {
  if (!place) return null;
  const words = [h("span", { class: "finding-place" }, place), " ", h("code", {}, text)];
  if (!store.model.numbers.has(line)) return h("p", { class: "finding-line" }, ...words);
  const show = () => store.set({ stage: "source", selected: line });
  const node = button("", show, { class: "entity-link finding-line", title: "show the line" });
  node.append(...words);
  return node;
}

/** A button that shows what was found, in the view that shows it best. */
function showButton({ store }, { rule, subject, stage, view }) {
  const { model } = store;
  if (!model.numbers.has(subject)) return null;
  const label = `${model.stageById.get(stage)?.label} · ${model.viewById.get(view)?.label}`;
  const show = () => store.set({ stage, view, selected: subject });
  return button(`Show it: ${label}`, show, {
    class: "finding-show", "aria-label": `Show it: ${label}, of ${rule}`,
  });
}

function lookedFor(words) {
  return h("details", { class: "looked-for" },
    h("summary", {}, `Rules checked (${count(words.length - 1)})`),
    h("ul", {}, ...words.map((it) => h("li", {}, it))));
}

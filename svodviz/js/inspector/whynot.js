// In the inspector: why a rule does not match the selected node. Python is asked (see whynot.py).

import { button, h } from "../kit/dom.js";
import { nearestValue } from "./valuesheet.js";

const chosen = new WeakMap(); // the rule last asked about, by store

/**
 * The section; none for what no set of rules is about. What is no node of a program that rules
 * rewrite, such as an instruction, is asked about as the node that it comes from.
 */
export function whyNotSection(inspector, selected) {
  const { store } = inspector;
  const { model } = store;
  if (store.requests.isExported) return null; // nobody would answer
  const booksOf = (it) => model.rulebook.filter(([stage]) => stage === model.stageOf(it));
  const entity = nearestValue(selected, model.parents, (it) => booksOf(it).length > 0);
  if (entity < 0) return null;
  const books = booksOf(entity);
  const about = inspector.placeOf(entity)?.row;
  const fitting = books.flatMap(([, , rules, targets]) =>
    rules.filter((_, index) => looksAt(targets[index], about)));
  const picker = h("select", { class: "rule-choice", "aria-label": "Rule" },
    ...(fitting.length && about ? [group([, `look at ${about.op}`, fitting])] : []),
    ...books.map(([stage, pass, rules]) =>
      group([stage, pass, rules.filter((it) => !fitting.includes(it))])));
  const rules = [...picker.options].map((it) => it.value);
  const last = chosen.get(store);
  picker.value = rules.includes(last) ? last : firstOf(store, books, fitting);
  const answer = h("div", { class: "why-not", "aria-live": "polite" });
  const ask = () => {
    chosen.set(store, picker.value);
    question(store, model.entities[entity], picker.value, answer);
  };
  const ready = button("Why not?", ask, { class: "ask", title: "The first condition that failed" });
  return inspector.section("Why does a rule not match here?",
    entity !== selected && h("p", { class: "hint" }, "Asked about its origin:"),
    entity !== selected && inspector.links([inspector.link(entity)]),
    h("div", { class: "why-row" }, picker, ready), answer);
}

function group([, pass, rules]) {
  return h("optgroup", { label: pass },
    ...rules.map((rule) => h("option", { value: rule }, rule)));
}

/** True if a rule with these targets tries to match a node. */
function looksAt(targets, row) {
  const words = row ? [...row.op.split(" "), row.kind, "any operation"] : [];
  return targets.some((it) => words.includes(it));
}

/** The first rule of the pass on screen, else of those that look at the node, else of the last. */
function firstOf(store, books, fitting) {
  const name = store.state.stage === "passes" ? store.pass?.name : "";
  const here = books.find(([, pass]) => pass === name);
  return here?.[2].find((it) => fitting.includes(it)) || fitting[0]
    || (here || books[books.length - 1])[2][0];
}

async function question(store, entity, rule, answer) {
  answer.replaceChildren(h("p", { class: "hint" }, "asking…"));
  try {
    answer.replaceChildren(...lines(await store.requests.ask("why not", { rule, entity })));
  } catch (error) {
    answer.replaceChildren(h("p", { class: "note" }, error.message), h("p", { class: "hint" },
      "A rule is run again to see why it does not match: that takes Python."));
  }
}

function lines({ matches, words, condition, place, values }) {
  const [verdict, sign] = matches ? ["taken", "✓"] : ["refused", "✗"];
  return [
    h("p", { class: `verdict ${verdict}` }, `${sign} ${words}`),
    condition && h("pre", { class: "block", tabindex: "0" }, condition),
    place && h("p", { class: "rule-source" }, place),
    values.length > 0 && h("dl", { class: "facts" },
      ...values.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  ].filter(Boolean);
}

/** The code of a rule, to unfold; null where it is not known. */
export function ruleCode(code) {
  if (!code?.length) return null;
  return h("details", { class: "rule-code" },
    h("summary", {}, "Its code"), h("pre", { class: "block", tabindex: "0" }, code.join("\n")));
}

// In the inspector: why a rule does not match the selected node. Python is asked (see whynot.py).

import { button, h } from "./dom.js";

const chosen = new WeakMap(); // the rule last asked about, by store

/** The section; none for what no set of rules is about. */
export function whyNotSection(inspector, entity) {
  const { store } = inspector;
  const { model } = store;
  const books = model.rulebook.filter(([stage]) => stage === model.stageOf(entity));
  if (!books.length) return null;
  const picker = h("select", { class: "rule-choice", "aria-label": "Rule" }, ...books.map(group));
  picker.value = chosen.get(store) ?? firstOf(store, books);
  const answer = h("div", { class: "why-not", "aria-live": "polite" });
  const ask = () => {
    chosen.set(store, picker.value);
    question(store, model.entities[entity], picker.value, answer);
  };
  const ready = button("Why not?", ask, { class: "ask", title: "The first condition that failed" });
  return inspector.section("Why does a rule not match here?",
    h("div", { class: "why-row" }, picker, ready), answer);
}

function group([, pass, rules]) {
  return h("optgroup", { label: pass },
    ...rules.map((rule) => h("option", { value: rule }, rule)));
}

/** The first rule of the pass on screen, else of the last set. */
function firstOf(store, books) {
  const name = store.state.stage === "passes" ? store.pass?.name : "";
  const here = books.find(([, pass]) => pass === name);
  return (here || books[books.length - 1])[2][0];
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

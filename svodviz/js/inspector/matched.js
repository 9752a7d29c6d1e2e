// The names that a rewrite's rule bound, and its time. Python knows (see matched.py).

import { h, nanoseconds } from "../kit/dom.js";

/**
 * True if a rewrite is by a rule, false if by a choice about loops. Pure.
 * @param {{stage: string}} pass
 * @param {string[] | string | undefined} code the rule as it is written
 */
export function isTold(pass, code) {
  return Boolean(code?.length) || pass.stage === "loops";
}

/**
 * A part of a page that fills itself once the answer is there; empty for what is no rule.
 * @param {any} store
 * @param {number} pass
 * @param {number} step the number of the rewrite, from 1
 */
export function matchedPart(store, pass, step) {
  const part = h("div", { class: "matched" });
  store.requests.ask("matched", { pass, step }).then(
    (answer) => part.replaceChildren(...lines(answer)),
    (error) => part.replaceChildren(h("p", { class: "hint" },
      `What the rule matched was not recorded. ${error.message}`)));
  return part;
}

function lines({ bindings, ns }) {
  if (!bindings.length) return [];
  return [
    h("p", { class: "hint" }, ns ? `It matched, in ${nanoseconds(ns)}:` : "It acted on:"),
    h("dl", { class: "facts" },
      ...bindings.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  ];
}

// Marks of what was run and compared: ✓ right, ✗ wrong, – not executable. See checks.py.

import { h } from "../kit/dom.js";

const NAMES = new Map([[true, "right"], [false, "wrong"], [null, "unknown"]]);
export const SIGNS = new Map([[true, "✓"], [false, "✗"], [null, "–"]]);
const MOST_TICKS = 48;

/** The mark of a check ([ok, words]); null where nothing was checked. */
export function checkMark(check) {
  if (!check) return null;
  const [ok, words] = check;
  const name = NAMES.get(ok);
  return h("span", { class: `check ${name}`, role: "img", "aria-label": words, title: words },
    SIGNS.get(ok));
}

/** The outcome of a check, as the end of a label; "" where nothing was checked. */
export function checkWords(check) {
  return check ? `, ${SIGNS.get(check[0])} ${check[1]}` : "";
}

/** A line with a check's sign and words. */
export function checkLine(check) {
  if (!check) return null;
  const [ok, words] = check;
  return h("p", { class: `check-line ${NAMES.get(ok)}` }, `${SIGNS.get(ok)} ${words}`);
}

/** A sign under the slider for each rewrite; none where there are too many to tell apart. */
export function ticksOf(steps, chosen) {
  if (!steps?.some(Boolean) || steps.length > MOST_TICKS) return [];
  return [null, ...steps].map((check, step) => h("span", {
    class: `check-tick ${check ? NAMES.get(check[0]) : ""}${step === chosen ? " chosen" : ""}`,
    title: check ? `after rewrite ${step}: ${check[1]}` : null,
  }, check ? SIGNS.get(check[0]) : "·"));
}

/** The place of the first wrong rewrite, in words. */
export function firstWrong(steps) {
  const at = (steps || []).findIndex((check) => check?.[0] === false);
  return at < 0 ? "" : `✗ from rewrite ${at + 1} on`;
}

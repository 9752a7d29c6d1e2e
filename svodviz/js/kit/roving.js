// One stop of the Tab key for a region of many controls; arrows lead from one to the next in it.

import { activeIn } from "./focus.js";

// An element that scrolls stays a stop too, as its keys scroll it.
const ITEMS = "button, select, summary, a[href], input[type=checkbox]";
const WATCHED = { childList: true, subtree: true, attributes: true,
  attributeFilter: ["hidden", "disabled", "aria-current", "aria-pressed"] };
const STEPS = {
  x: { ArrowRight: 1, ArrowLeft: -1 },
  y: { ArrowDown: 1, ArrowUp: -1 },
};
const CHOSEN = "[aria-current=page], [aria-current=true], [aria-pressed=true]";

/**
 * Makes a region one stop. Who came by the pointer keeps the arrows that the explorer has outside:
 * one who has just clicked a pass wants to step through it. Fields that take arrows themselves stay
 * stops of their own.
 * @param {HTMLElement} region
 * @param {"x" | "y"} axis along which its controls stand
 */
export function rove(region, axis = "x") {
  let isByPointer = false;
  const items = () => /** @type {HTMLElement[]} */ ([...region.querySelectorAll(ITEMS)])
    .filter((it) => !it.matches(":disabled, [hidden]")
      && (!region.isConnected || it.checkVisibility?.() !== false));
  const stop = (/** @type {HTMLElement[]} */ all, /** @type {HTMLElement | undefined} */ at) => {
    for (const it of all) it.tabIndex = it === at ? 0 : -1;
  };
  const settle = () => {
    const all = items();
    const kept = all.find((it) => it === activeIn(region))
      ?? all.find((it) => it.matches(CHOSEN)) ?? all.find((it) => it.tabIndex === 0) ?? all[0];
    stop(all, kept);
  };
  region.addEventListener("pointerdown", () => { isByPointer = true; }, true);
  region.addEventListener("focusin", ({ target }) => {
    const all = items();
    const at = all.find((it) => it === target);
    if (at) stop(all, at);
  });
  region.addEventListener("focusout", ({ relatedTarget }) => {
    if (!region.contains(/** @type {Node} */ (relatedTarget))) isByPointer = false;
  });
  region.addEventListener("keydown", (event) => {
    const all = items();
    const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
    const to = isByPointer || at < 0 ? -1 : place(event, axis, at, all.length);
    if (to < 0) return;
    event.preventDefault();
    event.stopPropagation();
    all[to].focus();
  });
  new MutationObserver(settle).observe(region, WATCHED);
  settle();
}

/**
 * The control that a key leads to from the one at `at`; -1 for other keys.
 * @param {KeyboardEvent} event @param {"x" | "y"} axis @param {number} at @param {number} length
 */
function place({ key, ctrlKey, metaKey, altKey }, axis, at, length) {
  if (ctrlKey || metaKey || altKey) return -1;
  if (key === "Home") return 0;
  if (key === "End") return length - 1;
  /** @type {Record<string, number>} */
  const steps = STEPS[axis];
  return steps[key] ? (at + steps[key] + length) % length : -1;
}

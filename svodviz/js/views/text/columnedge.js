// The line between two columns, which resizes both.

import { h } from "../../kit/dom.js";
import { followPress } from "../../kit/pointer.js";

const STEP = 16; // pixels for a press of an arrow key
const LEAST = 80; // pixels of a column

/**
 * The line at the right of a column.
 * @param {{store: any, widths: () => number[], columns: {root: HTMLElement}[]}} view
 * @param {number} position
 */
export function columnEdge(view, position) {
  return h("div", {
    class: "column-edge", role: "separator", tabindex: "0", "aria-orientation": "vertical",
    "aria-label": `Width of column ${position + 1}`,
    title: "Drag, or use the arrow keys; double-click: equal widths",
    ondblclick: () => view.store.set({ shares: [] }),
    onkeydown: (event) => step(event, view, position),
    onpointerdown: (event) => follow(event, view, position),
  });
}

/** Says to screen readers where the line stands. */
export function tellEdge(edge, widths, position) {
  const both = widths[position] + (widths[position + 1] ?? 0);
  edge.setAttribute("aria-valuemin", LEAST);
  edge.setAttribute("aria-valuemax", Math.max(LEAST, both - LEAST));
  edge.setAttribute("aria-valuenow", widths[position]);
}

/** Widths with the line at the right of a column moved; both sides stay wide enough. Pure. */
export function movedEdge(widths, position, by) {
  const [left, right] = [widths[position], widths[position + 1]];
  const moved = Math.max(LEAST - left, Math.min(right - LEAST, by));
  return widths.with(position, left + moved).with(position + 1, right - moved);
}

function step(event, view, position) {
  const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  view.store.set({ shares: movedEdge(view.widths(), position, by) });
}

function follow(event, view, position) {
  const widths = view.widths();
  let shares = null;
  const move = ({ clientX }) => {
    shares = movedEdge(widths, position, clientX - event.clientX);
    view.columns.forEach(({ root }, at) => { root.style.flexGrow = String(shares[at]); });
  };
  followPress(event, move, () => {
    if (shares) view.store.set({ shares });
  });
}

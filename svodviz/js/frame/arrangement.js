// The arrangement of panels: by the width of the explorer, by the view, and as the reader
// chose. Pure.

/** Widths up to which the inspector is a drawer below, and the passes stand above the centre. */
export const BELOW = 980;
export const STACKED = 600;
// The width from which the passes are shown next to other views.
const ROOMY = 1180;
// Views that steps of passes can be seen from; columns and tables want the width for themselves.
const WITH_PASSES = ["graph", "text"];
// Views that want the width, so that the inspector waits at the side until it is asked for.
const WIDE_VIEWS = ["columns", "playground", "llvm_passes"];
const WIDE = 1300;

/**
 * @param {number} width of the explorer, in pixels
 * @param {Pick<import("../data/wire.js").State, "stage" | "view" | "panels">} state
 * @returns {{passes: "open" | "closed" | "absent", inspector: "open" | "closed",
 *   isBelow: boolean, isStacked: boolean}}
 */
export function arrangement(width, { stage, view, panels }) {
  const isUseful = WITH_PASSES.includes(view) && (stage === "passes" || width > ROOMY);
  const suitsInspector = width > WIDE || !WIDE_VIEWS.includes(view);
  return {
    passes: !isUseful ? "absent" : panels.passes ?? true ? "open" : "closed",
    inspector: panels.inspector ?? suitsInspector ? "open" : "closed",
    isBelow: width <= BELOW,
    isStacked: width <= STACKED,
  };
}

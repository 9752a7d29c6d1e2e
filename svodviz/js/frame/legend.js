// The meaning of the colours, outlines and signs of the present picture.

import { h, s } from "../kit/dom.js";
import { outline } from "../kit/geometry.js";

const MARKS = {
  added: ["+", "added"],
  removed: ["−", "removed"],
  changed: ["~", "changed"],
  replaced: ["⇢", "replaced by"],
  critical: ["◆", "critical: no slack"],
  back: ["↺", "backward pass"],
  slack: ["", "slack"],
  path: ["◆", "critical: the run waited for it"],
  waits: ["", "waits"],
  estimated: ["", "estimated"],
  measured: ["", "measured"],
};

/**
 * Legend entries for what is in `present`: kinds of nodes, of edges, origins ([kind, words]) and
 * marks; none where it is undefined.
 */
export function legendOf(model, present) {
  if (!present) return [];
  const edges = model.edges.filter(([kind]) => present.edges?.has(kind));
  const kinds = model.legend.filter(([kind]) => present.kinds.has(kind));
  const marks = Object.entries(MARKS).filter(([mark]) => present.marks.has(mark));
  return [
    ...kinds.map((row) => kindEntry(...row)),
    ...(present.origins || []).map(([kind, words]) =>
      h("span", { class: "legend-entry", "data-kind": kind },
        h("span", { class: "swatch", "aria-hidden": "true" }), words)),
    ...edges.map(([kind, , words]) => h("span", { class: "legend-entry" },
      s("svg", { width: 34, height: 14, "aria-hidden": "true" },
        s("path", { class: `legend-edge ${kind}`, d: "M1 7H33", "data-edge": kind })),
      words)),
    ...marks.map(([mark, [sign, words]]) => h("span", { class: "legend-entry", "data-mark": mark },
      h("span", { class: "mark-sign", "aria-hidden": "true" }, sign), words)),
  ];
}

function kindEntry(kind, shape, words, glyph) {
  return h("span", { class: "legend-entry", "data-kind": kind },
    s("svg", { width: 20, height: 14, "aria-hidden": "true" },
      s("path", { class: "outline", d: outline(shape, 18, 12), transform: "translate(1 1)" }),
      shape === "double" && s("path", { class: "inner", d: "M4.5 4.5H15.5V9.5H4.5z" })),
    glyph ? `${glyph} ${words}` : words);
}

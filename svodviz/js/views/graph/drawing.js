// Nodes, edges and frames of the graph as SVG; from far away, all of it as boxes on a canvas.

import { BACK, backWords } from "../../data/graph/twins.js";
import { s } from "../../kit/dom.js";
import { inner, outline } from "../../kit/geometry.js";

const BESIDE = 7; // pixels between edges that lead from one node to the same other one
const SIGNS = { added: "+", removed: "−", changed: "~" };
const MARK_WORDS = { added: "added", removed: "removed", changed: "changed" };

/** A node of a picture: its outline, words, marks (named by `markWords`), and the cost over it. */
export function nodeElement(it, model, cost, markWords = MARK_WORDS) {
  const { row, mark } = it;
  const shape = row.fold ? "stack" : model.shapes.get(row.kind) || "box";
  const words = [...row.label, row.fold && backWords(it.members), markWords[mark], cost?.text,
    it.hidden ? `${it.hidden} neighbours not shown` : ""].filter(Boolean).join("\n");
  const classes = ["node", mark, row.critical ? "critical" : "", row.fold ? "folded" : "",
    row.back ? "back" : ""]
    .filter(Boolean).join(" ");
  const sign = (mark && `${SIGNS[mark]}${it.rewrites ?? ""}`)
    || (row.critical ? "◆" : "") || (row.back ? "↺" : "") || (it.hidden ? `+${it.hidden}` : "");
  const made = s(
    "g",
    {
      class: classes, transform: `translate(${it.x} ${it.y})`, "data-kind": row.kind,
      "data-entity": row.e, "data-mark": mark, role: "img", "aria-label": words,
    },
    s("title", {}, row.fold
      ? words : [fullWords(row, markWords[mark]), cost?.text].filter(Boolean).join("\n")),
    s("path", { class: "outline", d: outline(shape, row.w, row.h) }),
    shape === "double" && s("path", { class: "inner", d: inner(row.w, row.h) }),
    ...labels(row),
    ...(cost ? costBar(cost, row) : []),
    ...(sign ? badge(sign, row.w) : []),
  );
  made.node = it;
  return made;
}

/** The cost of a node: a bar along its lower edge, and the number under it. */
function costBar({ share, text }, row) {
  return [
    s("rect", { class: "cost-track", y: row.h + 1, width: row.w, height: 4 }),
    s("rect", { class: "cost-bar", y: row.h + 1, width: Math.max(1, row.w * share), height: 4 }),
    s("text", { class: "cost", x: row.w, y: row.h + 15 }, text),
  ];
}

/** Everything that is known of a node in words; a search looks there. */
export function fullWords(row, marked = "") {
  return [row.op, row.name, row.arg, (row.dtype || "") + (row.shape || ""), marked,
    ...(row.text || [])].filter(Boolean).join("\n");
}

function labels(row) {
  if (row.text) {
    return row.label.map((line, i) =>
      s("text", { class: i ? "block-line" : "block-title", x: 12, y: 17 + 16 * i }, line));
  }
  const middle = row.w / 2;
  const top = (row.h - 16 * row.label.length) / 2 + 12;
  return row.label.map((line, i) =>
    s("text", { class: i ? "detail" : "title", x: middle, y: top + 15.5 * i }, line));
}

/** A sign above the upper right corner, so that a state never rests on colour alone. */
function badge(sign, x) {
  const width = 2 + 8 * Math.max(2, sign.length);
  return [
    s("rect", { class: "badge", x: x - width, y: -18, width, height: 16, rx: 8 }),
    s("text", { class: "sign", x: x - width / 2, y: -10 }, sign),
  ];
}

/** An edge; those of other kinds between the same two nodes stand next to it. */
export function edgeCurve(edge, words, isAcross = false) {
  const beside = (edge.beside ?? 0) * BESIDE;
  const isLink = edge.kind === "fusion";
  const curve = s("path", {
    class: ["edge", isLink && "fusion", edge.isLoose && "loose", edge.mark].filter(Boolean)
      .join(" "),
    "data-edge": edge.kind, d: isLink ? edge.arrow.line : edge.arrow.d,
    transform: beside ? `translate(${isAcross ? `0 ${beside}` : `${beside} 0`})` : null,
    "stroke-width": edge.count > 1 ? Math.min(6, 1.2 + Math.log2(edge.count)) : null,
  }, (words || edge.count > 1) && s("title", {}, words || `${edge.count} edges`));
  curve.edge = edge;
  return curve;
}

/** The operand that an edge is. */
export function number(edge) {
  const [x, y] = edge.arrow.number;
  return s("text", { class: "operand", x, y }, String(edge.operand));
}

/** The frame around the nodes of one group. */
export function groupFrame([label, x, y, width, height]) {
  return s("g", { class: label.includes(`${BACK}: `) ? "group back" : "group" },
    s("rect", { x, y, width, height, rx: 6 }), s("title", {}, label));
}

/** The title of a group, over the arrows that lead into its frame. */
export function groupLabel([label, x, y, width]) {
  const most = Math.max(2, Math.floor((width - 14) / 6.4));
  const words = label.length > most ? `${label.slice(0, most - 1)}…` : label;
  return s("g", { class: "group" },
    s("title", {}, label), s("text", { x: x + 8, y: y + 13 }, words));
}

/**
 * A graph from far away: boxes without words.
 * @param {HTMLCanvasElement} canvas @param {Array[]} groups frames: [label, x, y, width, height]
 * @param {Object[]} nodes of a picture @param {{x: number, y: number, scale: number}} camera
 * @param {[number, number]} size in pixels
 */
export function drawOverview(canvas, groups, nodes, { x, y, scale }, [width, height]) {
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  pen.setTransform(scale, 0, 0, scale, x, y);
  const dot = 1.5 / scale;
  pen.fillStyle = style.getPropertyValue("--rule");
  groups.forEach(([, left, top, wide, high]) => pen.fillRect(left, top, wide, high));
  for (const { row, box } of nodes) {
    pen.fillStyle = style.getPropertyValue(`--${row.kind}-border`) || "#888";
    pen.fillRect(box[0], box[1], Math.max(row.w, dot), Math.max(row.h, dot));
  }
}

// A drawn graph, or a part of it, as text for other programs: DOT, Mermaid, networkx's JSON. Pure.

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").NodeRow} NodeRow
 * @typedef {import("../wire.js").Scene} Scene
 * @typedef {import("./drawn.js").Picture} Picture
 * @typedef {import("./drawn.js").PictureNode} PictureNode
 *
 * @typedef {{"id": string, label: string[], facts: Record<string, any>}} WrittenNode
 * @typedef {{from: string, to: string, operand: number, kind: string}} WrittenEdge
 * @typedef {{name: string, nodes: WrittenNode[], edges: WrittenEdge[]}} Written
 */

/**
 * Boxes of a picture with the edges between them.
 * @param {string} name @param {Model} model @param {Picture} picture
 * @param {Iterable<PictureNode>} chosen
 * @returns {Written}
 */
export function writtenOf(name, model, picture, chosen = picture.nodes) {
  const there = new Set(chosen);
  const ids = new Map([...there].map((it) => [it, idOf(model, it.row)]));
  const id = (/** @type {PictureNode} */ it) => ids.get(it) ?? "";
  return {
    name,
    nodes: [...there].map((it) => nodeOf(id(it), it.row, it.members.length)),
    edges: picture.edges.filter(({ from, to }) => there.has(from) && there.has(to))
      .map(({ from, to, operand, kind }) => ({ from: id(from), to: id(to), operand, kind })),
  };
}

/**
 * The nodes that are folded into a box, with the edges between them.
 * @param {string} name @param {Model} model @param {Scene} scene @param {PictureNode} box
 * @returns {Written}
 */
export function insideOf(name, model, scene, box) {
  const inside = new Set(box.members.map((row) => row.e));
  const id = (/** @type {number} */ node) => idOf(model, scene.nodes[node]);
  const isIn = (/** @type {number} */ node) => inside.has(scene.nodes[node].e);
  return {
    name,
    nodes: box.members.map((row) => nodeOf(idOf(model, row), row, 1)),
    edges: scene.edges.filter(([from, to]) => isIn(from) && isIn(to))
      .map(([from, to, operand, kind]) => ({ from: id(from), to: id(to), operand, kind })),
  };
}

/** @param {Model} model @param {NodeRow} row */
const idOf = (model, row) => (row.fold ? `group ${row.fold}` : model.entities[row.e]);

/**
 * @param {string} id @param {NodeRow} row @param {number} count how many nodes it stands for
 * @returns {WrittenNode}
 */
function nodeOf(id, row, count) {
  const { op, kind, name, arg, dtype, shape, device, text } = row;
  const all = { op, kind, name, argument: arg, dtype, shape, device, text: text?.join("\n"),
    nodes: row.fold ? count : undefined };
  const facts = Object.fromEntries(Object.entries(all).filter(([, it]) => it !== undefined));
  return { id, label: row.label, facts };
}

/**
 * For `networkx.node_link_graph`; between two nodes there may be several edges.
 * @param {Written} graph
 */
export function nodeLinkOf({ name, nodes, edges }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  /** @param {string} pair */
  const next = (pair) => {
    const key = counts.get(pair) ?? 0;
    counts.set(pair, key + 1);
    return key;
  };
  return `${JSON.stringify({
    directed: true, multigraph: true, graph: { name },
    nodes: nodes.map(({ id, facts }) => ({ id, ...facts })),
    edges: edges.map(({ from, to, operand, kind }) =>
      ({ source: from, target: to, key: next(`${from}\n${to}`), operand, kind })),
  }, null, 1)}\n`;
}

/**
 * A text in the quotes of DOT, in which labels have escapes and entities of their own.
 * @param {string} text
 */
const quoted = (text) => `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"')
  .replace(/&/g, "&amp;")}"`;

/** @param {Written} graph */
export function dotOf({ name, nodes, edges }) {
  const lines = nodes.map(({ id, label, facts }) => {
    // Lines of code begin at the left, under each other; those of a label are centred.
    const end = facts.text === undefined ? "\\n" : "\\l";
    const inner = label.map((it) => quoted(it).slice(1, -1)).join(end);
    return `  ${quoted(id)} [label="${inner}${end === "\\l" ? end : ""}"];`;
  });
  const arrows = edges.map(({ from, to, operand }) => `  ${quoted(from)} -> ${quoted(to)}${
    operand >= 0 ? ` [headlabel="${operand}"]` : ""};`);
  return `digraph ${quoted(name)} {\n  node [shape=box, fontname=monospace];\n${
    [...lines, ...arrows].join("\n")}\n}\n`;
}

/** @param {string} text in the quotes of Mermaid: every sign that could end them, or be markup */
const entities = (text) => text.replace(/[^\p{L}\p{N} .,:=+*/()[\]_%×→-]/gu,
  (sign) => `#${sign.codePointAt(0)};`);

/** @param {Written} graph */
export function mermaidOf({ nodes, edges }) {
  const number = new Map(nodes.map(({ id }, at) => [id, `n${at}`]));
  const boxes = nodes.map(({ id, label }) =>
    `  ${number.get(id)}["${label.map(entities).join("<br>")}"]`);
  const arrows = edges.map(({ from, to, operand }) =>
    `  ${number.get(from)} -->${operand >= 0 ? `|${operand}|` : ""} ${number.get(to)}`);
  return `flowchart TD\n${[...boxes, ...arrows].join("\n")}\n`;
}

// The picture that the graph view draws for a state: the scene of a stage, whole or in part. Pure.

import { union } from "../../kit/geometry.js";
import { markOf } from "../changes.js";
import { arrowIn, layoutIn, placesIn } from "../model.js";
import { arrange } from "./arrange.js";
import { hiddenBeside } from "./folding.js";
import { edgesOf, isTooLarge, layOutParts, partAt } from "./parts.js";

/**
 * @typedef {import("../wire.js").Scene} Scene
 * @typedef {import("../wire.js").NodeRow} NodeRow
 * @typedef {import("../../kit/geometry.js").Box} Box
 * @typedef {import("./drawn.js").Beside} Beside
 * @typedef {import("./drawn.js").Drawn} Drawn
 * @typedef {import("./drawn.js").Frame} Frame
 * @typedef {import("./drawn.js").Look} Look
 * @typedef {import("./drawn.js").Picture} Picture
 * @typedef {import("./drawn.js").PictureEdge} PictureEdge
 * @typedef {import("./drawn.js").PictureNode} PictureNode
 * @typedef {import("./drawn.js").Shown} Shown
 */

export const OWN = "the page";
export const KEPT = 8; // pictures of one scene that are kept: a choice

/**
 * The picture of a unit of a stage, or null where it has no drawn graph.
 * @param {Scene | null} scene what the unit draws
 * @param {string} key
 * @param {Look} look
 */
export function stagePicture(scene, key, look = {}) {
  if (!scene) return null;
  const { keys, groups, open = [], only } = look;
  if (!keys && !groups && !only && !look.across && !isTooLarge(scene)) {
    scene.picture ??= wholePicture(scene, key);
    return scene.picture;
  }
  scene.pictures ??= new Map();
  const kept = JSON.stringify([only ? [...only] : null, only ? "" : look.by, open, look.across]);
  const known = scene.pictures.get(kept);
  if (known) return known;
  const [oldest] = scene.pictures.keys();
  if (scene.pictures.size >= KEPT) scene.pictures.delete(oldest);
  const made = partPicture(scene, `${key} ${kept}`, look);
  scene.pictures.set(kept, made);
  return made;
}

/** @param {Scene} scene @param {string} key */
function wholePicture(scene, key) {
  layOut(scene);
  return build(key, scene, 0, {
    nodes: scene.nodes.keys(),
    edges: scene.edges.keys(),
    row: (node) => scene.nodes[node],
    mark: (node) => scene.marks?.get(node) ?? "",
    edgeMark: () => "",
  });
}

/**
 * Gives a scene the layout of all its nodes that it came without.
 * @param {Scene} scene
 */
export function layOut(scene) {
  scene.layouts[0] ??= placed(scene, [...scene.nodes.keys()], [...scene.edges.keys()]);
}

/**
 * A layout made in the page, in the form of those that come from Python (see scene.py).
 * @param {Scene} scene @param {number[]} nodes @param {number[]} edges
 * @param {Map<number, import("../wire.js").Point>} middles of entities, in another layout
 * @returns {import("../wire.js").Layout}
 */
export function placed(scene, nodes, edges, middles = new Map()) {
  const started = performance.now();
  const at = new Map(nodes.map((node, i) => [node, i]));
  const ends = edges.map((edge) => scene.edges[edge]);
  const labels = [...new Set(nodes.map((node) => scene.nodes[node].group ?? ""))].filter(Boolean);
  const made = arrange(
    nodes.map((node) => [scene.nodes[node].w, scene.nodes[node].h]),
    ends.map(([from, to]) => ({ from: at.get(from) ?? 0, to: at.get(to) ?? 0 })),
    nodes.map((node) => labels.indexOf(scene.nodes[node].group ?? "")),
    { near: middles.size ? nodes.map((node) => middles.get(scene.nodes[node].e)) : [] },
  );
  return {
    places: nodes.map((node, i) => [node, ...made.places[i]]),
    routes: edges.map((edge, i) => [edge, made.routes[i]]),
    groups: made.frames.map(({ frame, x, y, w, h }) => [labels[frame], x, y, w, h]),
    engine: OWN,
    seconds: (performance.now() - started) / 1000,
  };
}

/** @param {string} key @param {Scene} scene @param {number} layout @param {Shown} look */
export function build(key, scene, layout, look) {
  const places = placesIn(scene, layout);
  const nodes = [...look.nodes].map((node) => {
    const row = look.row(node);
    const [x, y] = /** @type {import("../wire.js").Point} */ (places.get(node));
    /** @type {PictureNode} */
    const made = { node, row, x, y, box: [x, y, x + row.w, y + row.h], mark: look.mark(node),
      members: [row], hidden: 0 };
    return made;
  });
  const known = new Map(nodes.map((it) => [it.node, it]));
  /** @param {number} node */
  const drawn = (node) => /** @type {PictureNode} */ (known.get(node));
  /** @type {Map<string, number>} */
  const between = new Map();
  const edges = [...look.edges].map((edge) => {
    const [from, to, operand, kind] = scene.edges[edge];
    const beside = between.get(`${from} ${to}`) ?? 0;
    between.set(`${from} ${to}`, beside + 1);
    return {
      beside, count: 1,
      from: drawn(from), to: drawn(to), operand, kind,
      arrow: arrowIn(scene, layout, edge), mark: look.edgeMark(edge),
    };
  });
  const { groups, engine, seconds } = layoutIn(scene, layout);
  return finished({ key, nodes, edges, groups, engine, seconds, all: nodes.length });
}

/**
 * @param {Drawn} picture
 * @returns {Picture}
 */
export function finished(picture) {
  return {
    ...picture,
    byEntity: nodesByEntity(picture.nodes),
    box: union([...picture.nodes.map((it) => it.box), ...picture.groups.map(frameBox)]),
    neighbours: neighbours(picture.edges),
  };
}

/**
 * @param {Frame} frame
 * @returns {Box}
 */
const frameBox = ([, x, y, w, h]) => [x, y, x + w, y + h];

/**
 * The node in which each entity is seen: its own, that of its group, or of its stretch.
 * @param {PictureNode[]} nodes
 */
function nodesByEntity(nodes) {
  /** @type {Map<number, PictureNode>} */
  const found = new Map();
  for (const node of nodes) {
    for (const row of node.members) {
      found.set(row.e, node);
      row.holds?.forEach((entity) => found.set(entity, node));
    }
  }
  return found;
}

/**
 * For each node the edges that lead to it and from it, in operand order.
 * @param {PictureEdge[]} edges
 */
function neighbours(edges) {
  /** @type {Map<PictureNode, Beside>} */
  const found = new Map();
  /** @param {PictureNode} node */
  const of = (node) => {
    const beside = found.get(node) ?? { inputs: [], users: [] };
    found.set(node, beside);
    return beside;
  };
  for (const edge of edges) {
    of(edge.to).inputs.push(edge);
    of(edge.from).users.push(edge);
  }
  for (const { inputs } of found.values()) inputs.sort((a, b) => a.operand - b.operand);
  return found;
}

/**
 * A picture of some nodes, or of groups as one node each.
 * @param {Scene} scene @param {string} key @param {Look} look
 */
function partPicture(scene, key, look) {
  const laid = layOutParts(scene, look);
  const { parts, boxes, links, shown } = laid;
  const hidden = shown ? hiddenBeside(shown, scene.edges) : null;
  const nodes = parts.map((part, i) => {
    const node = part.nodes[0];
    const mark = markOf(part.nodes, scene.marks);
    return { ...partAt(laid, i), node, row: laid.rows[i], box: boxes[i], mark,
      members: part.nodes.map((it) => scene.nodes[it]), hidden: hidden?.get(node) ?? 0 };
  });
  const edges = links.flatMap((link) => edgesOf(scene, link, parts, nodes));
  const { frames, seconds, cut } = laid;
  return finished({ key, nodes, edges, groups: frames, engine: OWN, seconds, cut,
    across: look.across,
    all: scene.nodes.length });
}

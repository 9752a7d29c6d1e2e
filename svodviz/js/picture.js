// What the graph view has to draw for a state: the scene of a stage, whole or in part. Pure.

import { arrange } from "./arrange.js";
import { hiddenBeside } from "./folding.js";
import { union } from "./geometry.js";
import { arrowIn, placesIn } from "./model.js";
import { edgesOf, layOutParts, partAt } from "./parts.js";

/**
 * @typedef {Object} Picture
 * @property {string} key names scene and layout: pictures of one key hold still
 * @property {Object[]} nodes {node, row, x, y, box, mark, members, hidden, rewrites}; mark is "",
 *   added, removed or changed; members are the rows it stands for, hidden its neighbours not shown,
 *   rewrites how many changed a folded group
 * @property {Object[]} edges {from, to, operand, kind, arrow, mark, count}
 * @property {Array[]} groups frames: [label, x, y, width, height]
 * @property {number} all how many nodes the program has here, drawn or not
 * @property {Map<number, Object>} byEntity the node in which each entity is seen
 * @property {Map<Object, {inputs: Object[], users: Object[]}>} neighbours
 */

export const OWN = "the page";
export const KEPT = 8; // pictures of one scene that are kept

/**
 * The picture of a unit of a stage, or null where it has no drawn graph.
 * @param {Object} scene what the unit draws
 * @param {string} key
 * @param {{by?: string, keys?: string[], open?: string[], only?: Set<number>,
 *   name?: (key: string) => string}} look  the way of folding, the key of each node's group, groups
 *   that are open, nodes whose neighbours are all shown, what a key is called
 */
export function stagePicture(scene, key, look = {}) {
  if (!scene) return null;
  const { keys, open = [], only } = look;
  if (!keys && !only) {
    scene.picture ??= wholePicture(scene, key);
    return scene.picture;
  }
  scene.pictures ??= new Map();
  const kept = JSON.stringify([only ? [...only] : null, only ? "" : look.by, open]);
  if (!scene.pictures.has(kept)) {
    if (scene.pictures.size >= KEPT) scene.pictures.delete(scene.pictures.keys().next().value);
    scene.pictures.set(kept, partPicture(scene, `${key} ${kept}`, look));
  }
  return scene.pictures.get(kept);
}

function wholePicture(scene, key) {
  scene.layouts[0] ??= placed(scene, [...scene.nodes.keys()], [...scene.edges.keys()]);
  return build(key, scene, 0, {
    nodes: scene.nodes.keys(),
    edges: scene.edges.keys(),
    row: (node) => scene.nodes[node],
    mark: (node) => scene.marks?.get(node) ?? "",
    edgeMark: () => "",
  });
}

/** A layout made in the page, in the form of those that come from Python (see scene.py). */
export function placed(scene, nodes, edges) {
  const started = performance.now();
  const at = new Map(nodes.map((node, i) => [node, i]));
  const ends = edges.map((edge) => scene.edges[edge]);
  const labels = [...new Set(nodes.map((node) => scene.nodes[node].group).filter(Boolean))];
  const made = arrange(
    nodes.map((node) => [scene.nodes[node].w, scene.nodes[node].h]),
    ends.map(([from, to]) => ({ from: at.get(from), to: at.get(to) })),
    nodes.map((node) => labels.indexOf(scene.nodes[node].group)),
  );
  return {
    places: nodes.map((node, i) => [node, ...made.places[i]]),
    routes: edges.map((edge, i) => [edge, made.routes[i]]),
    groups: made.frames.map(({ frame, x, y, w, h }) => [labels[frame], x, y, w, h]),
    engine: OWN,
    seconds: (performance.now() - started) / 1000,
  };
}

export function build(key, scene, layout, look) {
  const places = placesIn(scene, layout);
  const nodes = [...look.nodes].map((node) => {
    const row = look.row(node);
    const [x, y] = places.get(node);
    return { node, row, x, y, box: [x, y, x + row.w, y + row.h], mark: look.mark(node),
      members: [row], hidden: 0 };
  });
  const known = new Map(nodes.map((it) => [it.node, it]));
  const between = new Map();
  const edges = [...look.edges].map((edge) => {
    const [from, to, operand, kind] = scene.edges[edge];
    const beside = between.get(`${from} ${to}`) ?? 0;
    between.set(`${from} ${to}`, beside + 1);
    return {
      beside, count: 1,
      from: known.get(from), to: known.get(to), operand, kind,
      arrow: arrowIn(scene, layout, edge), mark: look.edgeMark(edge),
    };
  });
  const { groups, engine, seconds } = scene.layouts[layout];
  return finished({ key, nodes, edges, groups, engine, seconds, all: nodes.length });
}

export function finished(picture) {
  return {
    ...picture,
    byEntity: nodesByEntity(picture.nodes),
    box: union([...picture.nodes.map((it) => it.box),
      ...picture.groups.map(([, x, y, w, h]) => [x, y, x + w, y + h])]),
    neighbours: neighbours(picture.edges),
  };
}

/** The node in which each entity is seen: its own, that of its group, or of its stretch. */
function nodesByEntity(nodes) {
  const found = new Map();
  for (const node of nodes) {
    for (const row of node.members) {
      found.set(row.e, node);
      row.holds?.forEach((entity) => found.set(entity, node));
    }
  }
  return found;
}

/** For each node the edges that lead to it and from it, in operand order. */
function neighbours(edges) {
  const found = new Map();
  const of = (node) => {
    if (!found.has(node)) found.set(node, { inputs: [], users: [] });
    return found.get(node);
  };
  for (const edge of edges) {
    of(edge.to).inputs.push(edge);
    of(edge.from).users.push(edge);
  }
  for (const { inputs } of found.values()) inputs.sort((a, b) => a.operand - b.operand);
  return found;
}

/** A picture of some nodes, or of groups as one node each. */
function partPicture(scene, key, look) {
  const laid = layOutParts(scene, look);
  const { parts, boxes, links, shown } = laid;
  const hidden = shown ? hiddenBeside(shown, scene.edges) : new Map();
  const nodes = parts.map((part, i) => {
    const node = part.nodes[0];
    const mark = (part.nodes.length === 1 && scene.marks?.get(node)) || "";
    return { ...partAt(laid, i), node, row: laid.rows[i], box: boxes[i], mark,
      members: part.nodes.map((it) => scene.nodes[it]), hidden: hidden.get(node) ?? 0 };
  });
  const edges = links.flatMap((link) => edgesOf(scene, link, parts, nodes));
  const { frames, seconds } = laid;
  return finished({ key, nodes, edges, groups: frames, engine: OWN, seconds,
    all: scene.nodes.length });
}

// What the graph view has to draw for a state: a stage's scene, or a frame of a pass. Pure.

import { stepOf } from "./frames.js";
import { union } from "./geometry.js";
import { arrowIn, placesIn } from "./model.js";

/**
 * @typedef {Object} Picture
 * @property {string} key names scene and layout: pictures of one key hold still
 * @property {Object[]} nodes {node, row, x, y, box, mark}; mark is "", added, removed or changed
 * @property {Object[]} edges {from, to, operand, kind, arrow, mark}
 * @property {Map<number, Object>} byEntity
 */

/** The picture of a unit of a stage, or null where it has no drawn graph. */
export function stagePicture(stage, position) {
  const { scene } = stage.units[position] || {};
  if (!scene) return null;
  scene.picture ??= build(`${stage.id} ${position}`, scene, 0, {
    nodes: scene.nodes.keys(),
    edges: scene.edges.keys(),
    row: (node) => scene.nodes[node],
    mark: (node) => scene.marks?.get(node) ?? "",
    edgeMark: () => "",
  });
  return scene.picture;
}

/** The picture of one step of a pass. */
export function passPicture(model, pass, step) {
  const record = model.passes[pass];
  const film = model.films[record.film];
  const now = stepOf(film, record.shot, step);
  const mark = (node) => {
    if (now.added.has(node)) return "added";
    if (now.removed.has(node)) return "removed";
    return now.changed.has(node) ? "changed" : "";
  };
  return build(`film ${record.film} ${now.layout}`, film, now.layout, {
    nodes: [...now.frame.nodes, ...now.removed],
    edges: [...now.frame.edges, ...now.removedEdges],
    row: (node) => {
      const first = film.nodes[node];
      return { ...first, ...now.frame.rows.get(node), ...size(first) };
    },
    mark,
    edgeMark: (edge) =>
      (now.addedEdges.has(edge) ? "added" : now.removedEdges.has(edge) ? "removed" : ""),
  });
}

const size = (row) => ({ w: row.w, h: row.h });

function build(key, scene, layout, look) {
  const places = placesIn(scene, layout);
  const nodes = [...look.nodes].map((node) => {
    const row = look.row(node);
    const [x, y] = places.get(node);
    return { node, row, x, y, box: [x, y, x + row.w, y + row.h], mark: look.mark(node) };
  });
  const known = new Map(nodes.map((it) => [it.node, it]));
  const between = new Map();
  const edges = [...look.edges].map((edge) => {
    const [from, to, operand, kind] = scene.edges[edge];
    const beside = between.get(`${from} ${to}`) ?? 0;
    between.set(`${from} ${to}`, beside + 1);
    return {
      beside,
      from: known.get(from), to: known.get(to), operand, kind,
      arrow: arrowIn(scene, layout, edge), mark: look.edgeMark(edge),
    };
  });
  const { groups, engine, seconds } = scene.layouts[layout];
  return {
    key, nodes, edges, groups, engine, seconds,
    byEntity: new Map(nodes.map((it) => [it.row.e, it])),
    box: union(nodes.map((it) => it.box)),
    neighbours: neighbours(edges),
  };
}

/** For each entity the edges that lead to it and from it, in operand order. */
function neighbours(edges) {
  const found = new Map();
  const of = (entity) => {
    if (!found.has(entity)) found.set(entity, { inputs: [], users: [] });
    return found.get(entity);
  };
  for (const edge of edges) {
    of(edge.to.row.e).inputs.push(edge);
    of(edge.from.row.e).users.push(edge);
  }
  for (const { inputs } of found.values()) inputs.sort((a, b) => a.operand - b.operand);
  return found;
}

// What the graph view draws of a step of a pass: its frame, or groups of the frame's nodes. Pure.

import { counted } from "./dom.js";
import { stepOf, unionOf } from "./frames.js";
import { columnsIn, cut, edgesOf, inGroup, layOutParts, partAt } from "./parts.js";
import { build, finished, KEPT, OWN, placed } from "./picture.js";

const SIGNS = { added: "+", removed: "−", changed: "~" };
const ROOM = 32; // columns for what rewrites did in a group

/** All that is ever on screen in the passes that share a layout with one: what these fold by. */
export function filmScene(model, pass) {
  const { film, layout } = placeOf(model, pass);
  film.scenes ??= new Map();
  if (!film.scenes.has(layout)) film.scenes.set(layout, sceneOf(film, layout));
  return film.scenes.get(layout);
}

function placeOf(model, pass) {
  const record = model.passes[pass];
  const film = model.films[record.film];
  return { record, film, layout: film.passes[record.shot].layout };
}

function sceneOf(film, layout) {
  const { nodes, edges } = unionOf(film, layout);
  const nodeAt = new Map(nodes.map((node, i) => [node, i]));
  return {
    nodes: nodes.map((node) => film.nodes[node]),
    edges: edges.map((edge) => {
      const [from, to, ...rest] = film.edges[edge];
      return [nodeAt.get(from), nodeAt.get(to), ...rest];
    }),
    nodeAt, numbers: edges, edgeAt: new Map(edges.map((edge, i) => [edge, i])),
  };
}

/**
 * The picture of one step of a pass; that of the last step shown is kept.
 * @param {Object} model @param {number} pass @param {number} step see frames.js
 * @param {{by?: string, keys?: string[], open?: string[], name?: (key: string) => string}} look
 *   how it is folded, as in picture.js; `keys` are of the nodes of `filmScene`
 */
export function passPicture(model, pass, step, look = {}) {
  const { film } = placeOf(model, pass);
  const kept = JSON.stringify([pass, step, look.keys ? [look.by, look.open] : null]);
  if (film.last?.kept !== kept) film.last = { kept, picture: pictureOf(model, pass, step, look) };
  return film.last.picture;
}

function pictureOf(model, pass, step, look) {
  const { record, film, layout } = placeOf(model, pass);
  const now = stepOf(film, record.shot, step);
  const frame = {
    nodes: [...now.frame.nodes, ...now.removed],
    edges: [...now.frame.edges, ...now.removedEdges],
    row: (node) => {
      const [first, other] = [film.nodes[node], now.frame.rows.get(node)];
      return other ? { ...first, ...other, w: first.w, h: first.h } : first;
    },
    mark: (node) => (now.added.has(node) ? "added" : now.removed.has(node) ? "removed"
      : now.changed.has(node) ? "changed" : ""),
    edgeMark: (edge) =>
      (now.addedEdges.has(edge) ? "added" : now.removedEdges.has(edge) ? "removed" : ""),
  };
  const key = `film ${record.film} ${layout}`;
  if (look.keys) {
    const deltas = deltasOf(film.passes[record.shot].steps, step);
    return foldedPicture(filmScene(model, pass), frame, deltas, key, look);
  }
  if (!film.layouts[layout]) {
    const { nodes, edges } = unionOf(film, layout);
    film.layouts[layout] = placed(film, nodes, edges);
  }
  return build(key, film, layout, frame);
}

/** The rewrites that a step shows: all of the pass, none, or the one before it. */
const deltasOf = (steps, step) => (step < 0 ? steps : steps.slice(Math.max(0, step - 1), step));

function foldedPicture(scene, frame, deltas, key, look) {
  const kept = JSON.stringify([look.by, look.open]);
  const laid = partsKept(scene, kept, look);
  const { parts, rows, boxes } = laid;
  const partOf = (node) => laid.partOf[scene.nodeAt.get(node)];
  const members = parts.map(() => []);
  frame.nodes.forEach((node) => members[partOf(node)].push(node));
  const rewrites = rewritesOf(deltas, partOf);
  const nodes = parts.map((part, i) => {
    const found = members[i];
    if (!found.length) return null;
    const all = found.map((node) => frame.row(node));
    const shown = part.group < 0 ? { row: all[0], mark: frame.mark(found[0]) }
      : groupNode(rows[i], all, found.map((node) => frame.mark(node)), rewrites.get(i) ?? 0);
    return { ...partAt(laid, i), ...shown, node: found[0], box: boxes[i], members: all, hidden: 0 };
  });
  return finished({
    key: `${key} ${kept}`, nodes: nodes.filter(Boolean),
    edges: edgesShown(scene, laid, frame, nodes),
    groups: laid.frames.map(([label, ...box]) => [label.replace(/: \d+ nodes$/, ""), ...box]),
    engine: OWN, seconds: laid.seconds, all: frame.nodes.length,
  });
}

/** Where the groups of a scene stand: the same in all frames. */
function partsKept(scene, kept, look) {
  scene.laid ??= new Map();
  if (!scene.laid.has(kept)) {
    if (scene.laid.size >= KEPT) scene.laid.delete(scene.laid.keys().next().value);
    const laid = layOutParts(scene, { ...look, room: ROOM });
    laid.linkOf = new Int32Array(scene.edges.length).fill(-1);
    laid.links.forEach((link, i) => link.edges.forEach((edge) => { laid.linkOf[edge] = i; }));
    scene.laid.set(kept, laid);
  }
  return scene.laid.get(kept);
}

/** In how many of the rewrites something of each part came, went, or began to read differently. */
function rewritesOf(deltas, partOf) {
  const counts = new Map();
  for (const delta of deltas) {
    const nodes = [...(delta["n+"] ?? []), ...(delta["n-"] ?? []),
      ...(delta.set ?? []).map(([node]) => node)];
    for (const part of new Set(nodes.map(partOf))) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return counts;
}

/** A folded group in a frame: what is in it, and what the rewrites did there. */
function groupNode(row, members, marks, rewrites) {
  const counts = { added: 0, removed: 0, changed: 0 };
  marks.filter(Boolean).forEach((mark) => { counts[mark] += 1; });
  const there = members.filter((_, i) => marks[i] !== "removed");
  const columns = columnsIn(row.w);
  if (!rewrites && !marks.some(Boolean)) {
    return { row: { ...row, label: [row.label[0], inGroup(there, columns)] }, mark: "" };
  }
  const whole = ["added", "removed"].find((mark) => counts[mark] === members.length);
  const signs = Object.keys(SIGNS).filter((mark) => counts[mark])
    .map((mark) => `${SIGNS[mark]}${counts[mark]}`).join(" ");
  const words = `${counted(rewrites, "rewrite")}: ${signs || "nothing left of them"}`;
  const label = [row.label[0], cut(`${words} of ${counted(there.length, "node")}`, columns)];
  return { row: { ...row, label }, mark: whole ?? "changed", rewrites };
}

/** The links of which a frame has edges; one is marked where all its edges came, or went. */
function edgesShown(scene, laid, frame, nodes) {
  const found = laid.links.map(() => []);
  for (const edge of frame.edges) {
    const link = laid.linkOf[scene.edgeAt.get(edge)];
    if (link >= 0) found[link].push(scene.edgeAt.get(edge));
  }
  const markOf = (edges) => {
    const marks = new Set(edges.map((edge) => frame.edgeMark(scene.numbers[edge])));
    return marks.size === 1 ? [...marks][0] : "";
  };
  return laid.links.flatMap((link, i) => (found[i].length
    ? edgesOf(scene, { ...link, edges: found[i] }, laid.parts, nodes, markOf) : []));
}

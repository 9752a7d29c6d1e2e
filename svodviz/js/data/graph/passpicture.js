// The drawing of a step of a pass: its snapshot, or groups of the nodes of its snapshot. Pure.

import { counted } from "../../kit/words.js";
import { placesIn } from "../model.js";
import { stepOf, unionOf } from "./passreplay.js";
import { columnsIn, cut, edgesOf, inGroup, isTooLarge, layOutParts, partAt } from "./parts.js";
import { build, finished, KEPT, layOut, OWN, placed } from "./picture.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("./drawn.js").ReplayScene} ReplayScene
 * @typedef {import("./drawn.js").KeptParts} KeptParts
 * @typedef {import("./drawn.js").Look} Look
 * @typedef {import("./drawn.js").Picture} Picture
 * @typedef {import("./drawn.js").PictureNode} PictureNode
 * @typedef {import("./drawn.js").Shown} Shown
 * @typedef {import("../wire.js").Delta} Delta
 * @typedef {import("../wire.js").Replay} Replay
 * @typedef {import("../wire.js").NodeRow} NodeRow
 *
 * @typedef {Shown & {nodes: number[], edges: number[]}} Snapshot  in numbers of the replay
 */

/**
 * True if the rewrites of a pass are known: one that made a change without any was not traced.
 * @param {{changed: boolean, rewrites: any[]}} record
 */
export function isTraced(record) {
  return record.rewrites.length > 0 || !record.changed;
}

/** @type {Record<string, string>} */
const SIGNS = { added: "+", removed: "−", changed: "~" };
const ROOM = 32; // columns for what rewrites did in a group

/**
 * All that is ever on screen in the passes that share a layout with one: what these fold by.
 * @param {Model} model @param {number} pass
 * @returns {ReplayScene}
 */
export function replayScene(model, pass) {
  const { replay, layout } = placeOf(model, pass);
  replay.scenes ??= new Map();
  const scene = replay.scenes.get(layout) ?? sceneOf(replay, layout);
  replay.scenes.set(layout, scene);
  return scene;
}

/** @param {Model} model @param {number} pass */
function placeOf(model, pass) {
  const record = model.passes[pass];
  const replay = model.replays[record.replay];
  return { record, replay, layout: replay.passes[record.replay_pass].layout };
}

/**
 * @param {Replay} replay @param {number} layout
 * @returns {ReplayScene}
 */
function sceneOf(replay, layout) {
  const { nodes, edges } = unionOf(replay, layout);
  const nodeAt = new Map(nodes.map((node, i) => [node, i]));
  const at = (/** @type {number} */ node) => /** @type {number} */ (nodeAt.get(node));
  return {
    nodes: nodes.map((node) => replay.nodes[node]),
    edges: edges.map((edge) => {
      const [from, to, ...rest] = replay.edges[edge];
      return [at(from), at(to), ...rest];
    }),
    nodeAt, numbers: edges, edgeAt: new Map(edges.map((edge, i) => [edge, i])),
  };
}

/**
 * The picture of one step of a pass; that of the last step shown is kept.
 * @param {Model} model @param {number} pass @param {number} step see passreplay.js
 * @param {Look} look how it is folded; `keys` are of the nodes of `replayScene`
 * @returns {Picture}
 */
export function passPicture(model, pass, step, look = {}) {
  const { replay } = placeOf(model, pass);
  const kept = JSON.stringify([pass, step, look.by ? [look.by, look.open] : null, look.across]);
  if (replay.last?.kept !== kept) {
    replay.last = { kept, picture: pictureOf(model, pass, step, look) };
  }
  return replay.last.picture;
}

/**
 * @param {Model} model @param {number} pass @param {number} step @param {Look} look
 * @returns {Picture}
 */
function pictureOf(model, pass, step, look) {
  const { record, replay, layout } = placeOf(model, pass);
  const now = stepOf(replay, record.replay_pass, step);
  /** @type {Snapshot} */
  const snapshot = {
    nodes: [...now.snapshot.nodes, ...now.removed],
    edges: [...now.snapshot.edges, ...now.removedEdges],
    row: (node) => {
      const [first, other] = [replay.nodes[node], now.snapshot.rows.get(node)];
      return other ? { ...first, ...other, w: first.w, h: first.h } : first;
    },
    mark: (node) => (now.added.has(node) ? "added" : now.removed.has(node) ? "removed"
      : now.changed.has(node) ? "changed" : ""),
    edgeMark: (edge) =>
      (now.addedEdges.has(edge) ? "added" : now.removedEdges.has(edge) ? "removed" : ""),
  };
  const key = `replay ${record.replay} ${layout}`;
  if (look.keys || look.groups || look.across || isTooLarge(replayScene(model, pass))) {
    const deltas = deltasOf(replay.passes[record.replay_pass].steps, step);
    return foldedPicture(replayScene(model, pass), snapshot, deltas, key, look);
  }
  place(model, pass, replay, layout);
  return build(key, replay, layout, snapshot);
}

/**
 * Places all nodes that a replay shows in a layout: near their places in the drawing of the stage,
 * so that stepping starts from a familiar picture. Other nodes keep the places that Python sent.
 * @param {Model} model @param {number} pass @param {Replay} replay @param {number} layout
 */
function place(model, pass, replay, layout) {
  replay.placed ??= new Set();
  if (replay.placed.has(layout)) return;
  replay.placed.add(layout);
  const { nodes, edges } = unionOf(replay, layout);
  const middles = middlesFor(model, pass, nodes.map((node) => replay.nodes[node].e));
  if (replay.layouts[layout] && middles.size < nodes.length / 2) return;
  replay.layouts[layout] = placed(replay, nodes, edges, middles);
}

/**
 * The middles of entities in the drawing of the stage that has most of them.
 * @param {Model} model @param {number} pass @param {number[]} entities
 */
function middlesFor(model, pass, entities) {
  const { stage, kernel } = model.passes[pass];
  const wanted = new Set(entities);
  /** @type {Map<number, import("../wire.js").Point>} */
  let most = new Map();
  for (const { name, scene } of model.stageById.get(stage)?.units ?? []) {
    if (!scene || isTooLarge(scene) || (kernel && name !== kernel)) continue;
    layOut(scene);
    /** @type {typeof most} */
    const found = new Map();
    for (const [node, [x, y]] of placesIn(scene, 0)) {
      const { e, w, h } = scene.nodes[node];
      if (wanted.has(e)) found.set(e, [x + w / 2, y + h / 2]);
    }
    if (found.size > most.size) most = found;
  }
  return most;
}

/**
 * The rewrites that a step shows: all of the pass, none, or the one before it.
 * @param {Delta[]} steps @param {number} step
 */
const deltasOf = (steps, step) => (step < 0 ? steps : steps.slice(Math.max(0, step - 1), step));

/**
 * The positions in `replayScene` of the nodes that the rewrite of a step adds or removes; before
 * the first rewrite, of those that it will remove; none for a whole pass.
 * @param {Model} model @param {number} pass @param {number} step
 */
export function rewrittenNodes(model, pass, step) {
  const { record, replay } = placeOf(model, pass);
  const { nodeAt } = replayScene(model, pass);
  const { steps } = replay.passes[record.replay_pass];
  const delta = step < 0 ? undefined : steps[Math.max(0, step - 1)];
  const nodes = [...(step > 0 ? delta?.["n+"] ?? [] : []), ...(delta?.["n-"] ?? [])];
  return nodes.flatMap((node) => nodeAt.get(node) ?? []);
}

/**
 * @param {ReplayScene} scene @param {Snapshot} snapshot @param {Delta[]} deltas @param {string} key
 * @param {Look} look
 * @returns {Picture}
 */
function foldedPicture(scene, snapshot, deltas, key, look) {
  const kept = JSON.stringify([look.by, look.open, look.across]);
  const laid = partsKept(scene, kept, look);
  const { parts, rows, boxes } = laid;
  const partOf = (/** @type {number} */ node) =>
    laid.partOf[/** @type {number} */ (scene.nodeAt.get(node))];
  /** @type {number[][]} */
  const members = parts.map(() => []);
  snapshot.nodes.forEach((node) => members[partOf(node)]?.push(node)); // but for those left out
  const rewrites = rewritesOf(deltas, partOf);
  /** @type {PictureNode[]} */
  const nodes = []; // by part, with holes for those of which nothing is there
  parts.forEach((part, i) => {
    const found = members[i];
    if (!found.length) return;
    const all = found.map((node) => snapshot.row(node));
    const { w, h } = rows[i];
    const isEnd = all[0].op === "sink";
    const shown = part.nodes.length === 1
      ? { row: isEnd ? rows[i] : { ...all[0], w, h }, mark: snapshot.mark(found[0]) }
      : groupNode(rows[i], all, found.map((node) => snapshot.mark(node)), rewrites.get(i) ?? 0);
    nodes[i] = { ...partAt(laid, i), ...shown, node: found[0], box: boxes[i], members: all,
      hidden: 0 };
  });
  return finished({
    key: `${key} ${kept}`, nodes: Object.values(nodes),
    edges: edgesShown(scene, laid, snapshot, nodes),
    groups: laid.frames.map(([label, ...box]) => [label.replace(/: \d+ nodes$/, ""), ...box]),
    engine: OWN, seconds: laid.seconds, cut: laid.cut,
    across: look.across, all: snapshot.nodes.length,
  });
}

/**
 * The places of the groups of a scene: the same in all snapshots.
 * @param {ReplayScene} scene @param {string} kept @param {Look} look
 * @returns {KeptParts}
 */
function partsKept(scene, kept, look) {
  scene.laid ??= new Map();
  const known = scene.laid.get(kept);
  if (known) return known;
  const [oldest] = scene.laid.keys();
  if (scene.laid.size >= KEPT) scene.laid.delete(oldest);
  const laid = layOutParts(scene, { ...look, room: ROOM });
  const linkOf = new Int32Array(scene.edges.length).fill(-1);
  laid.links.forEach((link, i) => link.edges.forEach((edge) => { linkOf[edge] = i; }));
  const made = { ...laid, linkOf };
  scene.laid.set(kept, made);
  return made;
}

/**
 * In how many of the rewrites something of each part came, went, or began to read differently.
 * @param {Delta[]} deltas @param {(node: number) => number} partOf
 */
function rewritesOf(deltas, partOf) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const delta of deltas) {
    const nodes = [...(delta["n+"] ?? []), ...(delta["n-"] ?? []),
      ...(delta.set ?? []).map(([node]) => node)];
    for (const part of new Set(nodes.map(partOf))) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return counts;
}

/**
 * A folded group in a snapshot: what is in it, and what the rewrites did there.
 * @param {NodeRow} row @param {NodeRow[]} members @param {string[]} marks of the members
 * @param {number} rewrites
 * @returns {Pick<PictureNode, "row" | "mark" | "rewrites">}
 */
function groupNode(row, members, marks, rewrites) {
  /** @type {Record<string, number>} */
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

/**
 * The links of which a snapshot has edges; one is marked where all its edges came, or went.
 * @param {ReplayScene} scene @param {KeptParts} laid @param {Snapshot} snapshot
 * @param {PictureNode[]} nodes by part
 */
function edgesShown(scene, laid, snapshot, nodes) {
  /** @type {number[][]} */
  const found = laid.links.map(() => []);
  for (const edge of snapshot.edges) {
    const at = /** @type {number} */ (scene.edgeAt.get(edge));
    const link = laid.linkOf[at];
    if (link >= 0) found[link].push(at);
  }
  /** @param {number[]} edges */
  const markOf = (edges) => {
    const marks = new Set(edges.map((edge) => snapshot.edgeMark(scene.numbers[edge])));
    return marks.size === 1 ? [...marks][0] : "";
  };
  return laid.links.flatMap((link, i) => (found[i].length
    ? edgesOf(scene, { ...link, edges: found[i] }, laid.parts, nodes, markOf) : []));
}

// The groups of a graph that a query finds, and those around a node or a group. Pure.

import { matches } from "../query.js";
import { scopeWords } from "./scopes.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Graph} Graph
 * @typedef {import("./folding.js").Group} Group
 */

const MOST_NODES = 24; // nodes of a rewrite up to which the groups around them open: a choice
const MOST_BOXES = 200; // nodes in these groups alone, up to which they open: a choice

/**
 * The groups whose title matches, each with its last node, which stands for it where it is folded.
 * @param {Model} model @param {Graph} scene @param {Group[]} groups of its scopes
 * @param {import("../query.js").Term[]} terms
 * @returns {{entity: number, group: string}[]}
 */
export function groupHits(model, scene, groups, terms) {
  return groups.flatMap((group) => {
    const rows = group.nodes.map((it) => scene.nodes[it]);
    const { title, detail, kind } = scopeWords(model, group, rows);
    const { e } = rows[rows.length - 1];
    const isHit = matches(terms, { name: title, kind }, `${title} ${detail}`,
      () => model.linesOf(e));
    return isHit ? [{ entity: e, group: group.name }] : [];
  });
}

/**
 * The names of the groups around a node, the innermost first; for a group, of those around it.
 * @param {Group[]} groups @param {number} node @param {string} [name] of the group
 */
export function namesAround(groups, node, name) {
  const own = groups.findIndex((it) => it.name === name);
  let at = own >= 0 ? groups[own].parent ?? -1
    : groups.findLastIndex((it) => it.nodes.includes(node));
  const names = [];
  for (; at >= 0; at = groups[at].parent ?? -1) names.push(groups[at].name);
  return names;
}

/**
 * The names of the groups that have to be open so that some nodes are drawn one by one; none where
 * that would be more than can be taken in.
 * @param {Group[]} groups @param {number[]} nodes
 */
export function namesAroundAll(groups, nodes) {
  if (nodes.length > MOST_NODES) return [];
  const names = new Set(nodes.flatMap((node) => namesAround(groups, node)));
  const opened = groups.filter(({ name }) => names.has(name));
  const inner = groups.filter(({ parent = -1 }) => parent >= 0 && names.has(groups[parent].name));
  /** @param {Group[]} some */
  const sizeOf = (some) => some.reduce((sum, it) => sum + it.nodes.length, 0);
  const boxes = sizeOf(opened) - sizeOf(inner) + inner.length;
  return boxes > MOST_BOXES ? [] : [...names];
}

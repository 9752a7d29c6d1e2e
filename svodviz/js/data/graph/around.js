// The groups of a graph that a query finds, and those around a node or a group. Pure.

import { matches } from "../query.js";
import { scopeWords } from "./scopes.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Graph} Graph
 * @typedef {import("./folding.js").Group} Group
 */

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

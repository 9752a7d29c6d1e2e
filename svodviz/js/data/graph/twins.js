// Forward and backward pass of a program with gradients, as pairs of groups. Pure.

import { counted } from "../../kit/words.js";
import { inherited } from "./inherited.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").NodeRow} NodeRow
 * @typedef {import("./drawn.js").Picture} Picture
 * @typedef {import("./drawn.js").PictureNode} PictureNode
 * @typedef {import("./folding.js").Group} Group
 */

export const BACK = " ↺"; // ends the names of groups of the backward pass

/**
 * The name of the group of the other direction.
 * @param {string} name
 */
export const twinName = (name) =>
  (name.endsWith(BACK) ? name.slice(0, -BACK.length) : name + BACK);

/**
 * Names of open groups with those of the other direction, which another graph may have.
 * @param {string[]} names
 */
export const withTwins = (names) => [...new Set(names.flatMap((it) => [it, twinName(it)]))];

/**
 * True if a node belongs to the backward pass. A node that only a replay shows counts as the node
 * that it became, else as the node that it was made from.
 * @param {Model} model @param {NodeRow} row
 */
export function isBack(model, row) {
  model.backs ??= backsIn(model);
  if (!model.backs.size) return false;
  return model.backs.get(row.e) ?? inherited(model, row, model.backs) ?? false;
}

/**
 * For each node of the graph whether it is; nothing for a program without gradients.
 * @param {Model} model
 * @returns {Map<number, boolean>}
 */
function backsIn(model) {
  const units = model.stageById.get("graph")?.units ?? [];
  const rows = units.flatMap((unit) => unit.scene?.nodes ?? []);
  if (!rows.some((it) => it.back)) return new Map();
  return new Map(rows.map((it) => [it.e, Boolean(it.back)]));
}

/**
 * True if most of some nodes belong to the backward pass.
 * @param {NodeRow[]} rows
 */
export const isMostlyBack = (rows) => 2 * rows.filter((it) => it.back).length > rows.length;

/**
 * "6 of 13 nodes in the backward pass"; "" for none.
 * @param {NodeRow[]} rows
 */
export function backWords(rows) {
  const count = rows.filter((it) => it.back).length;
  if (!count) return "";
  const words = count === rows.length ? `all ${counted(count, "node")}`
    : `${count} of ${counted(rows.length, "node")}`;
  return `${words} in the backward pass`;
}

/**
 * The nodes of a picture that are the backward pass of a node or folded group, or the forward pass
 * of one: the group of the other direction if it is drawn as one, else all partners.
 * @param {Model} model @param {Picture} picture @param {PictureNode | undefined} node
 * @returns {Set<PictureNode>}
 */
export function partnersIn(model, picture, node) {
  if (!node) return new Set();
  const fold = node.row.fold;
  const twin = fold && picture.nodes.find((it) => it.row.fold === twinName(fold));
  if (twin) return new Set([twin]);
  const entities = node.members.flatMap((row) => model.partners.get(row.e) ?? []);
  const found = new Set(entities.flatMap((it) => picture.byEntity.get(it) ?? []));
  found.delete(node);
  return found;
}

/**
 * Groups in pairs: for each the positions of both directions, as far as there are two.
 * @param {Group[]} groups
 * @returns {number[][]}
 */
export function pairsOf(groups) {
  const at = new Map(groups.map(({ name }, i) => [name, i]));
  return groups.map(({ name }, i) => {
    const other = at.get(twinName(name));
    return other === undefined ? [i] : [i, other];
  });
}

// Properties of nodes of the graph, inherited by the nodes that passes made of them. Pure.

/** @typedef {import("../model.js").Model} Model */

/**
 * The commonest property of nodes that a node descends from, that descend from it, or that rewrites
 * made it of: of the first of these that know anything.
 * @template T
 * @param {Model} model @param {{e: number}} row @param {Map<number, T>} values by entity
 * @returns {T | undefined}
 */
export function inherited(model, row, values) {
  for (const near of [model.parents[row.e], model.successors(row.e), ancestors(model, row.e)]) {
    const known = [...near].flatMap((it) => {
      const value = values.get(it);
      return value === undefined || value === -1 ? [] : [value];
    });
    if (known.length) return commonest(known, known[0]);
  }
  return undefined;
}

/**
 * The value that comes most often, among equals the first.
 * @template T
 * @param {T[]} values @param {T} otherwise
 */
export function commonest(values, otherwise) {
  /** @type {Map<T, number>} */
  const counts = new Map();
  values.forEach((value) => counts.set(value, (counts.get(value) ?? 0) + 1));
  let [found, most] = [otherwise, 0];
  counts.forEach((number, value) => { if (number > most) [found, most] = [value, number]; });
  return found;
}

/**
 * The entities that an entity was made from, rewrite by rewrite.
 * @param {Model} model @param {number} entity
 */
function ancestors(model, entity) {
  const found = new Set([entity]);
  for (const it of found) {
    const rewrite = model.madeBy.get(it);
    if (rewrite) found.add(rewrite.before);
  }
  return found;
}

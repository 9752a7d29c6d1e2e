// The nodes of a scene that do the work of each item, and their shares. Pure.

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Scene} Scene
 * @typedef {[time: number, operations: number, read: number, written: number]} Weights
 * @typedef {Map<number, Weights>} Parts the part, 0 … 1, that each entity does
 */

const KINDS = [0, 1, 2, 3]; // of weights: time, operations, bytes read, bytes written

/**
 * The parts of every item's work that the nodes of a scene do: of one item they sum to 1, unless
 * nothing in the scene does any of it. Kept with the scene.
 * @param {Model} model @param {Scene} scene
 * @returns {Map<number, Parts>}
 */
export function partsOfWork(model, scene) {
  scene.work ??= workOf(model, scene);
  return scene.work;
}

/** @param {Model} model @param {Scene} scene */
function workOf(model, scene) {
  const present = new Set(scene.nodes.flatMap((row) => entitiesOf(row)));
  /** @type {Map<number, Parts>} */
  const found = new Map();
  if (!model.schedule) return found;
  const { items, shares } = model.schedule;
  for (const { items: positions, nodes } of shares) {
    const parts = shared(ownWeights(model, present, nodes));
    if (parts.size) positions.forEach((item) => found.set(item, parts));
  }
  items.forEach(({ e }, item) => {
    const calls = [e, ...model.parents[e]].filter((it) => present.has(it));
    if (calls.length) found.set(item, shared(new Map(calls.map((it) => [it, [1, 1, 1, 1]]))));
  });
  return found;
}

/**
 * The entities that a row stands for: its own, or those in a stretch of a large graph.
 * @param {import("../wire.js").NodeRow} row
 */
export const entitiesOf = (row) => row.holds ?? [row.e];

/**
 * The weights of the nodes that are there; what is not counts for what it was made from.
 * @param {Model} model @param {Set<number>} present
 * @param {import("../wire.js").SharedWork["nodes"]} rows
 */
function ownWeights(model, present, rows) {
  /** @type {Parts} */
  const found = new Map();
  for (const [entity, ...weights] of rows) {
    const owner = ownerOf(model, present, entity);
    if (owner < 0) continue;
    const known = found.get(owner) ?? [0, 0, 0, 0];
    found.set(owner, /** @type {Weights} */ (known.map((it, kind) => it + weights[kind])));
  }
  return found;
}

/**
 * The entity, or that from which rewrites made it, whichever is there; -1 where none is.
 * @param {Model} model @param {Set<number>} present @param {number} entity
 */
function ownerOf(model, present, entity) {
  const seen = new Set();
  let it = entity;
  while (!present.has(it)) {
    const made = model.madeBy.get(it);
    if (!made || seen.has(it)) return -1;
    seen.add(it);
    it = made.before;
  }
  return it;
}

/**
 * Weights as parts of their sums; where nothing has weights of a kind, those of time count.
 * @param {Parts} weights
 */
function shared(weights) {
  const rows = [...weights];
  const sums = KINDS.map((kind) => rows.reduce((sum, [, it]) => sum + it[kind], 0));
  const from = KINDS.map((kind) => (sums[kind] > 0 ? kind : 0));
  const isNone = !sums[0];
  return new Map(rows.map(([entity, it]) => [entity, /** @type {Weights} */ (
    from.map((kind) => (isNone && !sums[kind] ? 1 / rows.length : it[kind] / sums[kind])))]));
}

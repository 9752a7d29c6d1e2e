// By what a scene's nodes can be folded, and what overlays show of them: from the links. Pure.

import { FOLD_ABOVE, groupsOf, partsOf, stretchesOf, withLeaves } from "./folding.js";

/** What nodes can be grouped by: [id, words], the first that helps is taken where one must be. */
export const FOLDINGS = [
  ["module", "function of the program"], ["kernel", "kernel"], ["pass", "pass that made it"],
  ["depth", "depth"],
];

/** The keys of a scene's nodes under one way of folding; kept with the scene. */
export function keysOf(model, scene, stage, folding) {
  scene.keys ??= new Map();
  if (!scene.keys.has(folding)) {
    const make = { module: moduleKey, kernel: kernelKey, pass: passKey }[folding];
    scene.keys.set(folding, make
      ? withLeaves(scene.nodes.map((row) => make(model, row, stage)), scene.edges)
      : stretchesOf(scene.nodes.length, scene.edges));
  }
  return scene.keys.get(folding);
}

/** The ways of folding that make groups of a scene. */
export function foldingsOf(model, scene, stage) {
  if (!scene || scene.nodes.length < 4) return [];
  scene.foldings ??= FOLDINGS.filter(([id]) => {
    const keys = keysOf(model, scene, stage, id);
    const groups = groupsOf(keys, scene.edges);
    return groups.length > 1 || (groups.length === 1 && groups[0].nodes.length < keys.length);
  });
  return scene.foldings;
}

/**
 * How a scene is folded: as asked for; else large ones so that little enough is left to be read.
 * @param {string} wanted an id of FOLDINGS, "none", or "" for what suits
 */
export function foldingFor(model, scene, stage, wanted) {
  if (!scene || wanted === "none") return "";
  const foldings = foldingsOf(model, scene, stage).map(([id]) => id);
  if (wanted) return foldings.includes(wanted) ? wanted : "";
  if (scene.nodes.length <= FOLD_ABOVE) return "";
  scene.suits ??= foldings.find((id) => sizeOf(model, scene, stage, id) <= FOLD_ABOVE / 3)
    ?? foldings[foldings.length - 1] ?? "";
  return scene.suits;
}

/**
 * How a scene is drawn in a state: by what it is folded, the key of each node's group, the groups
 * that are open, and what a key is called.
 */
export function lookOf(model, scene, stage, { folding, open }) {
  const by = foldingFor(model, scene, stage, folding);
  return {
    by, open, keys: by ? keysOf(model, scene, stage, by) : undefined,
    name: by === "depth" ? (key) => key.replace(/^\d+: |, from.*$/g, "")
      : (key) => key.split("/").slice(-2).join(" / "),
  };
}

function sizeOf(model, scene, stage, folding) {
  const groups = groupsOf(keysOf(model, scene, stage, folding), scene.edges);
  return partsOf(scene.nodes.length, groups, new Set()).parts.length;
}

/**
 * "network/attention" of the tensor node that a node is, or comes from. What only a film shows has
 * that of what it became, else of what it was made from.
 */
function moduleKey(model, row) {
  if (row.module) return row.module;
  model.modules ??= modulesByEntity(model);
  return model.modules.get(row.e) ?? (commonest(model.parents[row.e], model.modules)
    || commonest(model.successors(row.e), model.modules)
    || commonest(ancestors(model, row.e), model.modules));
}

/** The value that most of the entities have; "" where none has one. */
function commonest(entities, values) {
  const counts = new Map();
  for (const entity of entities) {
    const found = values.get(entity);
    if (found) counts.set(found, (counts.get(found) ?? 0) + 1);
  }
  return [...counts].reduce((most, it) => (it[1] > most[1] ? it : most), ["", 0])[0];
}

/** What an entity was made from, rewrite by rewrite. */
function ancestors(model, entity) {
  const found = new Set([entity]);
  for (const it of found) {
    if (model.madeBy.has(it)) found.add(model.madeBy.get(it).before);
  }
  return found;
}

function modulesByEntity(model) {
  const graph = model.stageById.get("graph");
  const rows = graph.units.flatMap((unit) => unit.scene?.nodes ?? []);
  return new Map(rows.filter((row) => row.module).map((row) => [row.e, row.module]));
}

/**
 * The kernel that computes a tensor node: of one item, so that each call is a group. What several
 * compute, each for itself, belongs to none.
 */
function kernelKey(model, row, stage) {
  if (stage !== "graph") return row.kind === "call" || row.kind === "kernel" ? row.name ?? "" : "";
  const [item, ...more] = itemsOf(model, row.e);
  if (item === undefined || more.length) return "";
  return `${model.schedule.items[item].name} (item ${item})`;
}

function passKey(model, row) {
  const made = model.madeBy.get(row.e);
  return made ? `made by ${model.passes[made.pass].name}` : "as written";
}

/** The schedule items that compute an entity, or what it became; none for inputs and constants. */
export function itemsOf(model, entity) {
  model.itemsByEntity ??= itemsByEntity(model);
  const found = new Set(model.itemsByEntity.get(entity));
  if (found.size || !model.gaveWayIn.has(entity)) return found;
  for (const other of model.successors(entity)) {
    model.itemsByEntity.get(other)?.forEach((item) => found.add(item));
  }
  return found;
}

/** From each item up to its call, and from there to the tensor nodes it computes. */
function itemsByEntity(model) {
  const found = new Map();
  const note = (entity, item) => {
    if (!found.has(entity)) found.set(entity, new Set());
    found.get(entity).add(item);
  };
  model.schedule?.items.forEach(({ e }, item) => {
    note(e, item);
    for (const call of model.parents[e]) {
      note(call, item);
      model.parents[call].filter((it) => model.stageOf(it) === "graph")
        .forEach((node) => note(node, item));
    }
  });
  return found;
}

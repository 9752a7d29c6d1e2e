// The ways to fold a scene's nodes, and the costs that overlays show of them: from the links. Pure.

import { FOLD_ABOVE, groupsOf, partsOf, stretchesOf, withLeaves } from "./folding.js";
import { inherited } from "./inherited.js";
import { BUDGETS, openWithin, SCOPED, scopeGroups, scopeOf, scopeWords } from "./scopes.js";
import { withTwins } from "./twins.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Graph} Graph
 * @typedef {import("../wire.js").NodeRow} NodeRow
 * @typedef {import("./folding.js").Group} Group
 */

/**
 * The ways to group nodes: [id, words], the first that helps is taken where one must be.
 * @type {[string, string][]}
 */
export const FOLDINGS = [
  ["path", "modules and calls"], ["call", "operator"], ["repeat", "repetition"],
  ["line", "source line"], ["module", "function of the program"], ["kernel", "kernel"],
  ["pass", "pass that created it"], ["depth", "depth"],
];

/** @type {Record<string, (model: Model, row: NodeRow, stage: string) => string>} */
const KEYS = { line: lineKey, module: moduleKey, kernel: kernelKey, pass: passKey };

/**
 * The keys of a scene's nodes under one way of folding; kept with the scene.
 * @param {Model} model @param {Graph} scene @param {string} stage @param {string} folding
 */
export function keysOf(model, scene, stage, folding) {
  scene.keys ??= new Map();
  const make = KEYS[folding];
  const found = scene.keys.get(folding) ?? (make
    ? withLeaves(scene.nodes.map((row) => make(model, row, stage)), scene.edges)
    : stretchesOf(scene.nodes.length, scene.edges));
  scene.keys.set(folding, found);
  return found;
}

/**
 * The groups that one way of folding makes of a scene.
 * @param {Model} model @param {Graph} scene @param {string} stage @param {string} folding
 * @returns {Group[]}
 */
export function groupsBy(model, scene, stage, folding) {
  if (!(folding in SCOPED)) return groupsOf(keysOf(model, scene, stage, folding), scene.edges);
  if (stage !== "graph" || !model.scopes.length) return [];
  scene.scoped ??= new Map();
  const found = scene.scoped.get(folding) ?? scopeGroups(model, scene, folding);
  scene.scoped.set(folding, found);
  return found;
}

/**
 * The ways of folding that make groups of a scene.
 * @param {Model} model @param {Graph | null} scene @param {string} stage
 */
export function foldingsOf(model, scene, stage) {
  if (!scene || scene.nodes.length < 4) return [];
  scene.foldings ??= FOLDINGS.filter(([id]) => {
    const groups = groupsBy(model, scene, stage, id).filter((it) => it.nodes.length > 1);
    return groups.length > 1
      || (groups.length === 1 && groups[0].nodes.length < scene.nodes.length);
  });
  return scene.foldings;
}

/**
 * The folding of a scene: as asked for; else by operators, if they are known; else large ones so
 * that little enough is left to be read.
 * @param {Model} model @param {Graph | null} scene @param {string} stage
 * @param {string} wanted an id of FOLDINGS, "none", or "" for what suits
 */
export function foldingFor(model, scene, stage, wanted) {
  if (!scene || wanted === "none") return "";
  const foldings = foldingsOf(model, scene, stage).map(([id]) => id);
  if (wanted) return foldings.includes(wanted) ? wanted : "";
  if (foldings.includes("path")) return "path";
  if (scene.nodes.length <= FOLD_ABOVE) return "";
  scene.suits ??= foldings.find((id) => sizeOf(model, scene, stage, id) <= FOLD_ABOVE / 3)
    ?? foldings[foldings.length - 1] ?? "";
  return scene.suits;
}

/**
 * The drawing of a scene in a state: the folding, its groups or the key of each node's, the
 * groups that are open, and what a key is called.
 * @param {Model} model @param {Graph | null} scene @param {string} stage
 * @param {Pick<import("../wire.js").State, "folding" | "open">} state
 * @param {(look: import("./drawn.js").Look) => boolean} [isReadable] whether a look can be read
 * @returns {import("./drawn.js").Look}
 */
export function lookOf(model, scene, stage, { folding, open }, isReadable = () => true) {
  const by = foldingFor(model, scene, stage, folding);
  if (scene && by in SCOPED) {
    const groups = groupsBy(model, scene, stage, by);
    /** @type {import("./drawn.js").Look} */
    const look = { by, groups, open, words: (group, rows) => scopeWords(model, group, rows) };
    if (folding || open.length) return look;
    model.opened ??= withTwins(firstOpen(model, look, scene.nodes.length, isReadable));
    return { ...look, open: model.opened };
  }
  return {
    by, open, keys: scene && by ? keysOf(model, scene, stage, by) : undefined,
    name: by === "depth" ? (key) => key.replace(/^\d+: |, from.*$/g, "")
      : (key) => key.split("/").slice(-2).join(" / "),
  };
}

/**
 * The groups that are open so that much is seen, and all of it can be read; at least so little.
 * @param {Model} model @param {import("./drawn.js").Look} look @param {number} count of nodes
 * @param {(look: import("./drawn.js").Look) => boolean} isReadable
 */
export function firstOpen(model, look, count, isReadable) {
  /** @type {string[]} */
  let open = [];
  for (const most of BUDGETS) {
    open = openWithin(model, look.groups ?? [], count, most);
    if (isReadable({ ...look, open })) break;
  }
  return open;
}

/** @param {Model} model @param {Graph} scene @param {string} stage @param {string} folding */
function sizeOf(model, scene, stage, folding) {
  const groups = groupsOf(keysOf(model, scene, stage, folding), scene.edges);
  return partsOf(scene.nodes.length, groups, new Set()).parts.length;
}

/**
 * "network/attention" of the tensor node that a node is, or comes from. A node that only a replay
 * shows has the module of the node that it became, else of the node that it was made from.
 * @param {Model} model @param {NodeRow} row
 */
function moduleKey(model, row) {
  if (row.module) return row.module;
  model.functions ??= modulesByEntity(model);
  return model.functions.get(row.e) ?? inherited(model, row, model.functions) ?? "";
}

/**
 * The line of the call that made a node, or what it comes from.
 * @param {Model} model @param {NodeRow} row
 */
function lineKey(model, row) {
  const scope = scopeOf(model, row);
  const [line] = scope < 0 ? [] : model.scopes[scope][3];
  return line === undefined ? "" : `line ${model.lineOf.get(line)?.number ?? 0}`;
}

/**
 * @param {Model} model
 * @returns {Map<number, string>}
 */
function modulesByEntity(model) {
  const units = model.stageById.get("graph")?.units ?? [];
  const rows = units.flatMap((unit) => unit.scene?.nodes ?? []);
  return new Map(rows.flatMap((row) => (row.module ? [[row.e, row.module]] : [])));
}

/**
 * The kernel that computes a tensor node: of one item, so that each call is a group. What several
 * compute, each for itself, belongs to none.
 * @param {Model} model @param {NodeRow} row @param {string} stage
 */
function kernelKey(model, row, stage) {
  if (stage !== "graph") return row.kind === "call" || row.kind === "kernel" ? row.name ?? "" : "";
  const [item, ...more] = itemsOf(model, row.e);
  if (item === undefined || more.length) return "";
  return `${model.schedule?.items[item].name} (item ${item})`;
}

/** @param {Model} model @param {NodeRow} row */
function passKey(model, row) {
  const made = model.madeBy.get(row.e);
  return made ? `made by ${model.passes[made.pass].name}` : "as written";
}

/**
 * The schedule items that compute an entity, or what it became; none for inputs and constants.
 * @param {Model} model @param {number} entity
 */
export function itemsOf(model, entity) {
  model.itemsByEntity ??= itemsByEntity(model);
  const found = new Set(model.itemsByEntity.get(entity));
  if (found.size || !model.gaveWayIn.has(entity)) return found;
  for (const other of model.successors(entity)) {
    model.itemsByEntity.get(other)?.forEach((item) => found.add(item));
  }
  return found;
}

/**
 * From each item up to its call, and from there to the tensor nodes it computes.
 * @param {Model} model
 */
function itemsByEntity(model) {
  /** @type {Map<number, Set<number>>} */
  const found = new Map();
  /** @param {number} entity @param {number} item */
  const note = (entity, item) => {
    found.set(entity, (found.get(entity) ?? new Set()).add(item));
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

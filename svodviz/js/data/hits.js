// The things of a compilation that a query finds, in all stages: groups, kernels, nodes, … Pure.

import { counted } from "../kit/words.js";
import { foldingFor, groupsBy } from "./graph/groupings.js";
import { scopeWords } from "./graph/scopes.js";
import { matches, termsOf } from "./query.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("./wire.js").State} State
 *
 * @typedef {Object} Named a thing with a name
 * @property {string} kind an id of KINDS
 * @property {string} title
 * @property {string} detail
 * @property {string} stage the stage that shows it
 * @property {number} entity the entity that is selected; -1 leaves the selection as it is
 * @property {Partial<State>} [at] other parts of the state that shows it
 * @property {string} [group] of a group of the graph its name
 * @property {Record<string, string | undefined>} [fields] those of query.js
 * @property {string} [text] the text that a query matches, if it is not title and detail
 *
 * @typedef {{kind: string, label: string, hits: Named[], count: number}} Section
 */

/** Each kind with its heading, in the order of the list. @type {[string, string][]} */
export const KINDS = [
  ["module", "modules"], ["group", "groups of the graph"], ["kernel", "kernels"],
  ["input", "inputs and parameters"], ["node", "nodes of the graph"],
  ["item", "items of the schedule"], ["buffer", "buffers"], ["pass", "passes"],
  ["rule", "rewrite rules"], ["line", "lines of the program"], ["text", "printed lines"],
];
const MOST = 5; // hits of a kind that the list shows
const PRINTED = ["loops", "lowered", "llvm", "optimized", "asm"]; // stages searched line by line

/** @type {Record<string, (model: Model) => Named[]>} */
const FINDERS = { module: modules, group: groups, kernel: kernels, input: inputs, node: nodes,
  item: items, buffer: buffers, pass: passes, rule: rules, line: lines, text: printed };

/** @typedef {{revision: number, kinds: Map<string, Named[]>}} Kept what is named, by kind */
/** @type {WeakMap<Model, Kept>} */
const KEPT = new WeakMap();

/**
 * The hits of a query by kind, the best first, at most `most` of each; `count` is of all.
 * @param {Model} model @param {string} query @param {number} most
 * @returns {Section[]}
 */
export function sectionsOf(model, query, most = MOST) {
  const terms = termsOf(query);
  if (!terms.length) return [];
  const found = KINDS.map(([kind, label]) => {
    const hits = namedIn(model, kind).filter((it) => isHit(model, it, terms));
    return { kind, label, count: hits.length, hits: best(hits, terms).slice(0, most) };
  });
  return found.filter((it) => it.count);
}

/**
 * All things of a kind; kept until more of the compilation has arrived.
 * @param {Model} model @param {string} kind
 */
function namedIn(model, kind) {
  const before = KEPT.get(model);
  /** @type {Kept} */
  const named = before?.revision === model.revision ? before
    : { revision: model.revision, kinds: new Map() };
  KEPT.set(model, named);
  const found = named.kinds.get(kind) ?? FINDERS[kind](model);
  named.kinds.set(kind, found);
  return found;
}

/** @param {Model} model @param {Named} it @param {import("./query.js").Term[]} terms */
function isHit(model, it, terms) {
  const { title, detail, fields = { name: title, kind: it.kind }, text } = it;
  return matches(terms, fields, text ?? `${title} ${detail}`, () => model.linesOf(it.entity));
}

/**
 * Hits in order: the term as a whole title, at the start of one, within one, elsewhere.
 * @param {Named[]} hits @param {import("./query.js").Term[]} terms
 */
function best(hits, terms) {
  const [{ text }] = terms;
  /** @param {Named} it */
  const rank = ({ title }) => {
    const at = title.toLowerCase().indexOf(text);
    return at < 0 ? 3 : title.length === text.length ? 0 : Math.min(at, 1) + 1;
  };
  return hits.map((it) => /** @type {[number, Named]} */ ([rank(it), it]))
    .sort(([a], [b]) => a - b).map(([, it]) => it);
}

/** @param {Model} model @returns {Named[]} */
function modules(model) {
  return (model.modules?.rows ?? []).slice(1).map(({ e, path, kind }) =>
    ({ kind: "module", title: path, detail: kind, stage: "modules", entity: e }));
}

/** @param {Model} model */
const sceneOf = (model) => model.stageById.get("graph")?.units[0]?.scene ?? null;

/** @param {Model} model @returns {Named[]} */
function groups(model) {
  const scene = sceneOf(model);
  if (!scene || foldingFor(model, scene, "graph", "path") !== "path") return [];
  return groupsBy(model, scene, "graph", "path").map((group) => {
    const rows = group.nodes.map((it) => scene.nodes[it]);
    const { title, detail } = scopeWords(model, group, rows);
    return { kind: "group", title, detail, stage: "graph", entity: rows[rows.length - 1].e,
      at: { folding: "path", only: [] }, group: group.name };
  });
}

/** @param {Model} model @returns {Named[]} */
function kernels(model) {
  return (model.stageById.get("loops")?.units ?? []).map(({ name }, unit) => {
    const { short = name, title, e = -1 } = model.kernelByName.get(name) ?? {};
    return { kind: "kernel", title: short, detail: detailOf(title, short), stage: "loops",
      entity: e, text: `${title ?? short} ${name}`, at: { unit } };
  });
}

/** The rest of a title that begins with a short name. @param {string | undefined} title */
const detailOf = (title = "", short = "") =>
  (title.startsWith(short) ? title.slice(short.length).trim() : title);

/** @param {Model} model @param {(kind: string) => boolean} isWanted @param {string} kind */
function rowsOf(model, isWanted, kind) {
  return (sceneOf(model)?.nodes ?? []).filter((row) => isWanted(row.kind)).map((row) => {
    const [title, detail = ""] = row.label;
    return { kind, title, detail, stage: "graph", entity: row.e, at: { only: [] },
      fields: /** @type {any} */ (row), text: [...row.label, row.op, row.name, row.arg].join(" ") };
  });
}

/** @param {Model} model @returns {Named[]} */
function inputs(model) {
  return rowsOf(model, (kind) => kind === "buffer", "input");
}

/** @param {Model} model @returns {Named[]} */
function nodes(model) {
  return rowsOf(model, (kind) => kind !== "buffer", "node");
}

/** @param {Model} model @returns {Named[]} */
function items(model) {
  return (model.schedule?.items ?? []).map((it) => ({ kind: "item", entity: it.e,
    title: model.schedule?.nameOf(it) ?? it.name, detail: "", stage: "schedule" }));
}

/** @param {Model} model @returns {Named[]} */
function buffers(model) {
  return (model.schedule?.buffers ?? []).map(({ e, name, dtype, shape }) => ({ kind: "buffer",
    title: name, detail: `${dtype}${shape}`, stage: "schedule", entity: e,
    at: { view: "memory" } }));
}

/** @param {Model} model @returns {Named[]} */
function passes(model) {
  return model.passes.map(({ name, kernel, rewrites }, pass) => ({ kind: "pass", title: name,
    detail: [kernel && model.shortOf(kernel), counted(rewrites.length, "rewrite")].filter(Boolean)
      .join(", "),
    stage: "passes", entity: -1, at: { pass, step: -1, view: "graph" }, text: name }));
}

/** The rules that were applied, each at its first rewrite. @param {Model} model */
function rules(model) {
  /** @type {Map<string, {pass: number, step: number, count: number, algebra: string}>} */
  const found = new Map();
  model.passes.forEach((record, pass) => record.rewrites.forEach(([rule], index) => {
    const [name, algebra] = model.rules[rule];
    const known = found.get(name) ?? { pass, step: index + 1, count: 0, algebra };
    found.set(name, { ...known, count: known.count + 1 });
  }));
  return [...found].map(([title, { pass, step, count, algebra }]) => ({ kind: "rule", title,
    detail: [algebra, counted(count, "rewrite")].filter(Boolean).join(", "),
    stage: "passes", entity: -1, at: { pass, step, view: "graph" } }));
}

/** @param {Model} model @returns {Named[]} */
function lines(model) {
  return linesIn(model, "source", "line").filter((it) => it.title);
}

/** @param {Model} model @returns {Named[]} */
function printed(model) {
  return PRINTED.flatMap((stage) => linesIn(model, stage, "text"));
}

/** @param {Model} model @param {string} stage @param {string} kind @returns {Named[]} */
function linesIn(model, stage, kind) {
  const label = model.stageById.get(stage)?.label ?? stage;
  return model.text(stage).filter((row) => !row.heading && row.entity >= 0)
    .map(({ text, entity, number, unit }) => ({ kind, title: text.trim(), entity, stage,
      detail: kind === "line" ? `line ${number}` : `${label} ${number}`,
      at: { unit, view: "text" } }));
}

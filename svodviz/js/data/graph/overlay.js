// Costs on a graph: each kernel's cost, inside it by what each node does of its work, summed over
// groups. The parts of a kernel sum to its cost. Pure.

import { bytes, nanoseconds, percent } from "../../kit/words.js";
import { entitiesOf, partsOfWork } from "./shares.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Scene} Scene
 * @typedef {import("./drawn.js").Picture} Picture
 * @typedef {import("../schedule.js").Item} Item
 * @typedef {(item: Item) => number[]} Cost by kind of weight, see shares.js; [] where not known
 * @typedef {[string, string, Cost | null, (sum: number) => string]} Overlay
 */

/** @param {number} number */
const flops = (number) => `${scaled(number)} flop`;
/** @param {number} number */
const perByte = (number) => `${Number(number.toPrecision(3))} flop/B`;

/** @type {Record<string, string>} */
const INSIDE = {
  ns: "by the operations of each node", measured: "by the operations of each node",
  bytes: "by the bytes that each node reads and writes",
  flops: "by the operations of each node", intensity: "the same for all its nodes",
};

/**
 * Measures to lay over a graph: [id, words, cost of an item or null, how a sum is written].
 * @type {Overlay[]}
 */
export const OVERLAYS = [
  ["ns", "estimated time", (item) => [item.ns], nanoseconds],
  ["measured", "measured time", ({ measured }) => (measured == null ? [] : [measured]),
    nanoseconds],
  ["bytes", "bytes moved", (item) => [0, 0, item.read, item.written], (sum) => bytes(sum)],
  ["flops", "operations", (item) => [0, item.flops], flops],
  ["intensity", "operations per byte", null, perByte],
];

/** @param {number} number */
function scaled(number) {
  const units = ["", "k", "M", "G", "T"];
  let [size, unit] = [number, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${Number(size.toPrecision(3))} ${units[unit]}`.trimEnd();
}

/**
 * The overlays that a compilation has numbers for, or can be asked for.
 * @param {Model} model
 */
export function overlaysOf(model) {
  const items = model.schedule?.items ?? [];
  const canRun = Boolean(model.stageById.get("run")?.units.length);
  /** @param {Overlay} row */
  const isThere = ([id, , cost]) => !cost || items.some((item) => cost(item).length)
    || (id === "measured" && canRun);
  return items.length ? OVERLAYS.filter(isThere) : [];
}

/**
 * The cost of each node of a picture that has one: {value, share of the greatest, text}.
 * `missing` says why there are no numbers, where there are none yet.
 * @param {Model} model @param {Scene | null} scene @param {Picture} picture @param {string} id
 * @returns {{costs: Map<Object, {value: number, share: number, text: string}>, words: string}}
 */
export function overlayOn(model, scene, picture, id, missing = "not known") {
  const row = overlaysOf(model).find(([it]) => it === id);
  if (!row || !scene) return { costs: new Map(), words: "" };
  const [, words, cost, write] = row;
  if (cost && !model.schedule?.items.some((item) => cost(item).length)) {
    return { costs: new Map(), words: `${words}: ${missing}` };
  }
  const sums = sumsOf(model, scene, picture, id);
  const greatest = Math.max(...sums.values(), 0);
  const whole = [...sums.values()].reduce((sum, it) => sum + it, 0);
  const costs = new Map([...sums].filter(([, value]) => value > 0).map(([node, value]) => {
    const part = id === "intensity" ? "" : ` · ${percent(value / whole)}`;
    return [node, { value, share: value / greatest, text: `${write(value)}${part}` }];
  }));
  if (!costs.size) return { costs, words: `${words}: not known for the nodes of this graph` };
  const sum = id === "intensity" ? "" : `, ${write(whole)} in all`;
  const inside = `per kernel, and within a kernel ${INSIDE[id]}`;
  return { costs, words: `${words} ${inside}: full bar = ${write(greatest)}${sum}` };
}

/** @param {Model} model @param {Scene} scene @param {Picture} picture @param {string} id */
function sumsOf(model, scene, picture, id) {
  const cost = OVERLAYS.find(([it]) => it === id)?.[2];
  return cost ? sumOver(model, scene, picture, cost) : intensities(model, scene, picture);
}

/**
 * Every item's cost, in parts on those nodes of the scene that do its work, summed.
 * @param {Model} model @param {Scene} scene @param {Picture} picture @param {Cost} cost
 */
function sumOver(model, scene, picture, cost) {
  const costs = model.schedule?.items.map(cost) ?? [];
  /** @type {Map<number, number>} */
  const byEntity = new Map();
  for (const [item, parts] of partsOfWork(model, scene)) {
    for (const [entity, part] of parts) {
      const own = costs[item].reduce((sum, value, kind) => sum + value * part[kind], 0);
      byEntity.set(entity, (byEntity.get(entity) ?? 0) + own);
    }
  }
  return new Map(picture.nodes.map((node) => [node, node.members.flatMap(entitiesOf)
    .reduce((sum, entity) => sum + (byEntity.get(entity) ?? 0), 0)]));
}

/**
 * Operations per byte of the kernels that a node does work in: of all they do, since what a
 * kernel reads serves all its nodes.
 * @param {Model} model @param {Scene} scene @param {Picture} picture
 */
function intensities(model, scene, picture) {
  /** @type {Map<number, Set<number>>} */
  const byEntity = new Map();
  partsOfWork(model, scene).forEach((parts, item) => parts.forEach((_, entity) =>
    byEntity.set(entity, (byEntity.get(entity) ?? new Set()).add(item))));
  return new Map(picture.nodes.map((node) => {
    const found = new Set(node.members.flatMap(entitiesOf)
      .flatMap((entity) => [...byEntity.get(entity) ?? []]));
    const items = [...found].map((item) => /** @type {Item} */ (model.schedule?.items[item]));
    const [work, moved] = items.reduce(([flop, size], it) =>
      [flop + it.flops, size + it.read + it.written], [0, 0]);
    return [node, moved > 0 ? work / moved : 0];
  }));
}

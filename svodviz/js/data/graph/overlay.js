// Costs on a graph: each schedule item's cost shared by the nodes that do its work, summed over
// groups. Pure.

import { bytes, nanoseconds } from "../../kit/words.js";
import { itemsOf } from "./groupings.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Scene} Scene
 * @typedef {import("./drawn.js").Picture} Picture
 * @typedef {(item: import("../schedule.js").Item) => number | null} Cost
 * @typedef {[string, string, Cost | null, (sum: number) => string]} Overlay
 */

/** @param {number} number */
const flops = (number) => `${scaled(number)} flop`;
/** @param {number} number */
const perByte = (number) => `${Number(number.toPrecision(3))} flop/B`;

/**
 * Measures to lay over a graph: [id, words, value of an item or null, how a sum is written].
 * @type {Overlay[]}
 */
export const OVERLAYS = [
  ["ns", "estimated time", (item) => item.ns, nanoseconds],
  ["measured", "measured time", (item) => item.measured ?? null, nanoseconds],
  ["bytes", "bytes moved", (item) => item.read + item.written, (sum) => bytes(sum)],
  ["flops", "operations", (item) => item.flops, flops],
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
  const isThere = ([id, , value]) => !value || items.some((item) => value(item) !== null)
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
  const [, words, value, write] = row;
  if (value && !model.schedule?.items.some((item) => value(item) !== null)) {
    return { costs: new Map(), words: `${words}: ${missing}` };
  }
  const sums = sumsOf(model, scene, picture, id);
  const greatest = Math.max(...sums.values(), 0);
  const whole = [...sums.values()].reduce((sum, it) => sum + it, 0);
  const costs = new Map([...sums].filter(([, value]) => value > 0).map(([node, value]) => {
    const part = id === "intensity" ? "" : ` · ${percent(value / whole)}`;
    return [node, { value, share: value / greatest, text: `${write(value)}${part}` }];
  }));
  if (!costs.size) return { costs, words: `${words}: not known of this graph's nodes` };
  const sum = id === "intensity" ? "" : `, ${write(whole)} in all`;
  return { costs, words: `${words}: full bar = ${write(greatest)}${sum}` };
}

/** @param {number} share */
const percent = (share) => (share >= 0.0995 ? `${Math.round(share * 100)} %`
  : `${Number((share * 100).toPrecision(2))} %`);

/** @param {Model} model @param {Scene} scene @param {Picture} picture @param {string} id */
function sumsOf(model, scene, picture, id) {
  /** @param {Cost} value */
  const of = (value) => sumOver(model, scene, picture, value);
  const known = OVERLAYS.find(([it]) => it === id)?.[2];
  if (known) return of(known);
  const [work, moved] = [of((item) => item.flops), of((item) => item.read + item.written)];
  return new Map([...work].flatMap(([node, value]) => {
    const nbytes = moved.get(node) ?? 0;
    return nbytes > 0 ? [[node, value / nbytes]] : [];
  }));
}

/** Kinds that take no time by themselves: there before anything runs, or a place in memory. */
const AT_REST = new Set(["buffer", "const", "variable"]);
/** Kinds that only say where elements are found; they cost where nothing else is done. */
const IN_PLACE = new Set(["movement", "control", "order", "index"]);

/** @param {string} kind */
const effort = (kind) => (AT_REST.has(kind) ? 0 : IN_PLACE.has(kind) ? 1 : 2);

/**
 * Every item's cost, in equal parts on those nodes of the scene that do its work, summed.
 * @param {Model} model @param {Scene} scene @param {Picture} picture @param {Cost} value
 */
function sumOver(model, scene, picture, value) {
  const items = model.schedule?.items ?? [];
  scene.workers ??= workersOf(model, scene);
  /** @type {Map<import("./drawn.js").PictureNode, number>} */
  const sums = new Map();
  for (const node of picture.nodes) {
    let sum = 0;
    for (const row of node.members) {
      for (const item of itemsOf(model, row.e)) {
        const workers = scene.workers.get(item);
        if (workers?.has(row.e)) sum += (value(items[item]) ?? 0) / workers.size;
      }
    }
    sums.set(node, sum);
  }
  return sums;
}

/**
 * The nodes of a scene that do the work of each item: those of its nodes that do most.
 * @param {Model} model @param {Scene} scene
 */
function workersOf(model, scene) {
  /** @type {Map<number, {most: number, found: Set<number>}>} */
  const workers = new Map();
  for (const { e, kind } of scene.nodes) {
    const own = effort(kind);
    for (const item of itemsOf(model, e)) {
      const known = workers.get(item);
      if (!known || known.most < own) workers.set(item, { most: own, found: new Set([e]) });
      else if (known.most === own) known.found.add(e);
    }
  }
  return new Map([...workers].map(([item, { found }]) => [item, found]));
}

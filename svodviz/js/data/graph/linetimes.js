// How the time of all items divides among the lines of the program. Pure.

import { partsOfWork } from "./shares.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../schedule.js").Item} Item
 * @typedef {Object} LineTime
 * @property {number} entity of the line; -1: of no line of the program
 * @property {number} time nanoseconds
 * @property {number} share of the time of all items
 * @property {Item} item which spends most on the line
 */

/**
 * The lines, the longest first. An item's time divides among its nodes as its work does, that of a
 * node evenly among the lines it is made in; lines that only call the function do not count.
 * @param {Model} model
 * @param {(item: Item) => number} timeOf nanoseconds of an item
 * @returns {LineTime[]}
 */
export function lineTimes(model, timeOf) {
  // of the graph after all passes: what is made of a gradient belongs to lines of its own there
  const units = model.stageById.get("graph")?.units ?? [];
  const scene = units.at(-1)?.scene ?? units[0]?.scene;
  if (!model.schedule || !scene) return [];
  const parts = partsOfWork(model, scene);
  const callers = new Map(scene.nodes.map((row) => [row.e, row.callers ?? []]));
  /** @type {Map<number, {entity: number, time: number, most: number, item: Item}>} */
  const found = new Map();
  let whole = 0;
  model.schedule.items.forEach((item, position) => {
    whole += timeOf(item);
    for (const [entity, part] of partsOfItem(model, callers, item, parts.get(position))) {
      const time = part * timeOf(item);
      const row = found.get(entity) ?? { entity, time: 0, most: -1, item };
      row.time += time;
      if (time > row.most) Object.assign(row, { most: time, item });
      found.set(entity, row);
    }
  });
  return [...found.values()].filter(({ time }) => time > 0).sort((a, b) => b.time - a.time)
    .map(({ entity, time, item }) => ({ entity, time, share: time / whole, item }));
}

/**
 * The part of one item's time that each line takes; they sum to 1.
 * @param {Model} model @param {Map<number, number[]>} callers @param {Item} item
 * @param {import("./shares.js").Parts | undefined} parts
 */
function partsOfItem(model, callers, item, parts) {
  /** @type {Map<number, number>} */
  const found = new Map();
  const nodes = parts ? [...parts].map(([node, [time]]) => /** @type {const} */ ([node, time]))
    : [/** @type {const} */ ([item.e, 1])];
  for (const [node, part] of nodes) {
    const lines = parts ? linesOfNode(model, node, callers.get(node) ?? [])
      : linesOfItem(model, item);
    for (const line of lines) found.set(line, (found.get(line) ?? 0) + part / lines.length);
  }
  return found;
}

/** @param {Model} model @param {number} node @param {number[]} callers */
function linesOfNode(model, node, callers) {
  const lines = model.parents[node].filter((it) => model.stageOf(it) === "source");
  const own = lines.filter((it) => !callers.includes(Number(model.entities[it].split(":")[1])));
  return own.length ? own : lines.length ? lines : [-1];
}

/** @param {Model} model @param {Item} item */
function linesOfItem(model, { e }) {
  const lines = [...model.origins(e)].map((line) => model.entity(`source:${line}`));
  return lines.length ? lines : [-1];
}

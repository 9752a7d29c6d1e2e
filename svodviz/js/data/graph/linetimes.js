// The time of all items, divided among the lines of the program. Pure.

import { partsOfWork } from "./shares.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../schedule.js").Item} Item
 * @typedef {Object} LineTime
 * @property {number} entity of the line; -1: of no line of the program
 * @property {number} time nanoseconds
 * @property {number} back nanoseconds of those for the backward pass
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
  const rows = new Map(scene.nodes.map((row) => [row.e, row]));
  /** @type {Map<number, {entity: number, time: number, back: number, most: number, item: Item}>} */
  const found = new Map();
  let whole = 0;
  model.schedule.items.forEach((item, position) => {
    whole += timeOf(item);
    for (const [entity, [part, back]] of partsOfItem(model, rows, item, parts.get(position))) {
      const time = part * timeOf(item);
      const row = found.get(entity) ?? { entity, time: 0, back: 0, most: -1, item };
      row.time += time;
      row.back += back * timeOf(item);
      if (time > row.most) Object.assign(row, { most: time, item });
      found.set(entity, row);
    }
  });
  return [...found.values()].filter(({ time }) => time > 0).sort((a, b) => b.time - a.time)
    .map(({ entity, time, back, item }) => ({ entity, time, back, share: time / whole, item }));
}

/**
 * The part of one item's time that each line takes, and the backward pass's share; the parts sum
 * to 1.
 * @param {Model} model @param {Map<number, import("../wire.js").NodeRow>} rows @param {Item} item
 * @param {import("./shares.js").Parts | undefined} parts
 */
function partsOfItem(model, rows, item, parts) {
  /** @type {Map<number, [number, number]>} */
  const found = new Map();
  const nodes = parts ? [...parts].map(([node, [time]]) => /** @type {const} */ ([node, time]))
    : [/** @type {const} */ ([item.e, 1])];
  for (const [node, part] of nodes) {
    const row = rows.get(node);
    const lines = parts ? linesOfNode(model, node, row?.callers ?? []) : linesOfItem(model, item);
    for (const line of lines) {
      const [time, back] = found.get(line) ?? [0, 0];
      const own = part / lines.length;
      found.set(line, [time + own, back + (row?.back ? own : 0)]);
    }
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

// Costs on a graph: each schedule item's cost shared by the nodes it computes, summed over groups.
// Pure.

import { bytes, duration } from "./dom.js";
import { itemsOf } from "./groupings.js";

const flops = (number) => `${scaled(number)} flop`;
const perByte = (number) => `${Number(number.toPrecision(3))} flop/B`;

/** What can be laid over a graph: [id, words, value of an item or null, how a sum is written]. */
export const OVERLAYS = [
  ["ns", "estimated time", (item) => item.ns, (sum) => duration(sum / 1e9)],
  ["measured", "measured time", (item) => item.measured ?? null, (sum) => duration(sum / 1e9)],
  ["bytes", "bytes moved", (item) => item.read + item.written, (sum) => bytes(sum)],
  ["flops", "operations", (item) => item.flops, flops],
  ["intensity", "operations per byte", null, perByte],
];

function scaled(number) {
  const units = ["", "k", "M", "G", "T"];
  let [size, unit] = [number, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${Number(size.toPrecision(3))} ${units[unit]}`.trimEnd();
}

/** The overlays that a compilation has numbers for, or can be asked for. */
export function overlaysOf(model) {
  const items = model.schedule?.items ?? [];
  const isThere = ([id, , value]) => !value || items.some((item) => value(item) !== null)
    || (id === "measured" && model.stageById.get("run")?.units.length > 0);
  return items.length ? OVERLAYS.filter(isThere) : [];
}

/**
 * The cost of each node of a picture that has one: {value, share of the greatest, text}.
 * `missing` says why there are no numbers, where there are none yet.
 * @returns {{costs: Map<Object, {value: number, share: number, text: string}>, words: string}}
 */
export function overlayOn(model, scene, picture, id, missing = "not known") {
  const row = overlaysOf(model).find(([it]) => it === id);
  if (!row || !scene) return { costs: new Map(), words: "" };
  const [, words, value, write] = row;
  if (value && !model.schedule.items.some((item) => value(item) !== null)) {
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

const percent = (share) => (share >= 0.0995 ? `${Math.round(share * 100)} %`
  : `${Number((share * 100).toPrecision(2))} %`);

function sumsOf(model, scene, picture, id) {
  const of = (value) => sumOver(model, scene, picture, value);
  if (id !== "intensity") return of(OVERLAYS.find(([it]) => it === id)[2]);
  const [work, moved] = [of((item) => item.flops), of((item) => item.read + item.written)];
  return new Map([...work].filter(([node]) => moved.get(node) > 0)
    .map(([node, value]) => [node, value / moved.get(node)]));
}

/** Every item's cost, in equal parts on the nodes of the scene that it computes, summed. */
function sumOver(model, scene, picture, value) {
  const items = model.schedule.items;
  scene.itemCounts ??= countsOf(model, scene);
  const sums = new Map();
  for (const node of picture.nodes) {
    let sum = 0;
    for (const row of node.members) {
      for (const item of itemsOf(model, row.e)) {
        sum += (value(items[item]) ?? 0) / scene.itemCounts.get(item);
      }
    }
    sums.set(node, sum);
  }
  return sums;
}

function countsOf(model, scene) {
  const counts = new Map();
  for (const row of scene.nodes) {
    for (const item of itemsOf(model, row.e)) counts.set(item, (counts.get(item) ?? 0) + 1);
  }
  return counts;
}

// The schedule of the sample, its costs laid over graphs, and what graphs can be folded by.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  foldingFor, FOLDINGS, foldingsOf, itemsOf, keysOf,
} from "../../../svodviz/js/data/graph/groupings.js";
import { Model } from "../../../svodviz/js/data/model.js";
import { OVERLAYS, overlayOn, overlaysOf } from "../../../svodviz/js/data/graph/overlay.js";
import { stagePicture } from "../../../svodviz/js/data/graph/picture.js";
import { ScheduleData } from "../../../svodviz/js/data/schedule.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const model = () => new Model(JSON.parse(WIRE));
const sceneOf = (made, id) => made.stageById.get(id).units.at(-1).scene;

test("items know what they wait for and what waits for them", () => {
  const { schedule } = model();
  assert.ok(schedule instanceof ScheduleData);
  const edges = schedule.before.flat().length;
  assert.ok(edges > 0);
  assert.equal(schedule.behind.flat().length, edges);
  schedule.before.forEach((list, to) => list.forEach((edge) => {
    assert.equal(edge.to, to);
    assert.ok(schedule.behind[edge.from].includes(edge));
    assert.ok(schedule.items[edge.from].finish <= schedule.items[to].start + 1);
    assert.match(schedule.reasonOf(edge), new RegExp(`^${edge.kind}`));
  }));
  for (const item of schedule.items) {
    assert.equal(item.slack, item.late - item.start);
    assert.equal(schedule.itemOf.get(item.e), item);
    assert.equal(schedule.caption(item.e), schedule.nameOf(item));
  }
});

test("an entity names items and buffers, or none", () => {
  const { schedule } = model();
  const [item] = schedule.items;
  assert.deepEqual([...schedule.itemsAt(item.e)], [0]);
  assert.deepEqual([...schedule.buffersAt(item.e)], item.args.map(([number]) => number));
  const buffer = schedule.buffers[0];
  assert.deepEqual([...schedule.buffersAt(buffer.e)], [0]);
  assert.equal(schedule.caption(buffer.e), `buffer ${buffer.name}`);
  assert.deepEqual([...schedule.itemsAt(-1), ...schedule.buffersAt(-1)], []);
  assert.equal(schedule.caption(-1), "");
});

test("the words of an edge say both ends and every reason", () => {
  const { schedule } = model();
  const [edge] = schedule.before.flat();
  const end = (position) => ({ row: { e: schedule.items[position].e } });
  const words = schedule.edgeWords({ from: end(edge.from), to: end(edge.to), kind: edge.kind });
  assert.equal(words.split("\n")[0],
    `${schedule.nameOf(schedule.items[edge.from])} → ${schedule.nameOf(schedule.items[edge.to])}`);
  assert.ok(words.split("\n").includes(schedule.reasonOf(edge)));
  assert.equal(schedule.edgeWords({ from: { row: { e: -1 } }, to: end(0), kind: "data" }), "data");
});

test("the nodes of an item carry all of its cost, and no more", () => {
  const made = model();
  const scene = sceneOf(made, "schedule");
  const picture = stagePicture(scene, "schedule");
  for (const [id, , value] of OVERLAYS.filter(([, , it]) => it)) {
    if (!made.schedule.items.some((item) => value(item) !== null)) continue;
    assert.ok(overlaysOf(made).some(([it]) => it === id));
    const { costs, words } = overlayOn(made, scene, picture, id);
    const sum = [...costs.values()].reduce((all, it) => all + it.value, 0);
    const whole = made.schedule.items.reduce((all, it) => all + value(it), 0);
    assert.ok(Math.abs(sum - whole) <= 1e-6 * whole, id);
    assert.ok(Math.max(...[...costs.values()].map((it) => it.share)) === 1);
    assert.match(words, /full bar = /);
  }
});

test("the nodes of a graph share the cost of their kernel, folded ones have its sum", () => {
  const made = model();
  const scene = sceneOf(made, "graph");
  const single = { nodes: scene.nodes.map((row) => ({ row, members: [row] })) };
  const folded = { nodes: [{ row: scene.nodes[0], members: scene.nodes }] };
  const sum = (picture) => [...overlayOn(made, scene, picture, "bytes").costs.values()]
    .reduce((all, it) => all + it.value, 0);
  const items = new Set(scene.nodes.flatMap((row) => [...itemsOf(made, row.e)]));
  const whole = [...items].map((it) => made.schedule.items[it])
    .reduce((all, it) => all + it.read + it.written, 0);
  assert.ok(scene.nodes.filter((row) => itemsOf(made, row.e).size).length > items.size);
  for (const picture of [single, folded]) {
    assert.ok(Math.abs(sum(picture) - whole) <= 1e-6 * whole, `${sum(picture)} of ${whole}`);
  }
});

test("a node that computes twice as much for each byte has twice the intensity", () => {
  const made = model();
  const scene = sceneOf(made, "schedule");
  const picture = stagePicture(scene, "schedule");
  const { costs } = overlayOn(made, scene, picture, "intensity");
  for (const [node, { value }] of costs) {
    const [item] = itemsOf(made, node.row.e);
    const { flops, read, written } = made.schedule.items[item];
    assert.ok(Math.abs(value - flops / (read + written)) < 1e-9);
  }
  assert.ok(costs.size > 0);
});

test("what has no numbers has no overlays", () => {
  const made = new Model({ ...JSON.parse(WIRE), schedule: null });
  assert.deepEqual(overlaysOf(made), []);
  assert.deepEqual(overlayOn(made, null, null, "ns"), { costs: new Map(), words: "" });
  assert.deepEqual([...itemsOf(made, 0)], []);
});

test("a graph is folded by what makes groups, and small ones not unless one asks", () => {
  const made = model();
  const scene = sceneOf(made, "graph");
  const ids = foldingsOf(made, scene, "graph").map(([id]) => id);
  assert.ok(ids.includes("kernel"));
  for (const id of ids) {
    assert.equal(keysOf(made, scene, "graph", id).length, scene.nodes.length);
    assert.equal(foldingFor(made, scene, "graph", id), id);
  }
  assert.equal(foldingFor(made, scene, "graph", ""), "");
  assert.equal(foldingFor(made, scene, "graph", "none"), "");
  assert.equal(foldingFor(made, scene, "graph", "nonsense"), "");
  assert.equal(foldingFor(made, null, "graph", "kernel"), "");
  assert.ok(ids.every((id) => FOLDINGS.some(([it]) => it === id)));
});

test("a node belongs to the kernel of the one item that computes it", () => {
  const made = model();
  const scene = sceneOf(made, "graph");
  const keys = keysOf(made, scene, "graph", "kernel");
  let known = 0;
  scene.nodes.forEach((row, node) => {
    const items = [...itemsOf(made, row.e)];
    if (items.length !== 1 || !keys[node]) return;
    known += 1;
    assert.equal(keys[node], `${made.schedule.items[items[0]].name} (item ${items[0]})`);
  });
  assert.ok(known > 3);
});

// The schedule of the sample, its costs laid over graphs, and what graphs can be folded by.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  foldingFor, FOLDINGS, foldingsOf, itemsOf, keysOf,
} from "../../../svodviz/js/data/graph/groupings.js";
import { Model } from "../../../svodviz/js/data/model.js";
import { OVERLAYS, overlayOn, overlaysOf } from "../../../svodviz/js/data/graph/overlay.js";
import { partsOfWork } from "../../../svodviz/js/data/graph/shares.js";
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
  for (const [id, , cost] of OVERLAYS.filter(([, , it]) => it)) {
    const value = (item) => cost(item).reduce((all, it) => all + it, 0);
    if (!made.schedule.items.some((item) => cost(item).length)) continue;
    assert.ok(overlaysOf(made).some(([it]) => it === id));
    const { costs, words } = overlayOn(made, scene, picture, id);
    const sum = [...costs.values()].reduce((all, it) => all + it.value, 0);
    const whole = made.schedule.items.reduce((all, it) => all + value(it), 0);
    assert.ok(Math.abs(sum - whole) <= 1e-6 * whole, id);
    assert.ok(Math.max(...[...costs.values()].map((it) => it.share)) === 1);
    assert.match(words, /full bar = /);
  }
});

for (const unit of [0, 1]) {
  test(`the nodes of a graph share their kernel's cost by their own work, graph ${unit}`, () => {
    const made = model();
    const { scene } = made.stageById.get("graph").units[unit];
    const { items } = made.schedule;
    items.forEach((item, place) => { item.measured = 1234.5 + place / 3; });
    const single = { nodes: scene.nodes.map((row) => ({ row, members: [row] })) };
    const folded = { nodes: [{ row: scene.nodes[0], members: scene.nodes }] };
    for (const [id, , cost] of OVERLAYS.filter(([, , it]) => it)) {
      const whole = items.reduce((all, item) => all + cost(item).reduce((a, b) => a + b, 0), 0);
      for (const picture of [single, folded]) {
        const { costs } = overlayOn(made, scene, picture, id);
        const sum = [...costs.values()].reduce((all, it) => all + it.value, 0);
        assert.ok(Math.abs(sum - whole) <= 1e-12 * whole, `${id}: ${sum} of ${whole}`);
      }
      for (const [{ row }] of overlayOn(made, scene, single, id).costs) {
        assert.ok(!["const", "buffer", "movement"].includes(row.kind), `${id}: ${row.label}`);
      }
    }
  });
}

test("each kernel's nodes take its time as their operations are, a rewritten one its successor's",
  () => {
    const made = model();
    const { scene } = made.stageById.get("graph").units[0]; // as written
    const parts = partsOfWork(made, scene);
    assert.equal(parts.size, made.schedule.items.length);
    const ofNode = (item, number) => parts.get(item).get(made.entity(`graph:${number}`));
    assert.equal(ofNode(0, 11)[0] / ofNode(0, 13)[0], 20);
    assert.deepEqual(ofNode(0, 15).slice(2), [0, 1]);
    assert.deepEqual([ofNode(2, 38), ofNode(2, 39)], [undefined, undefined]);
    assert.equal(ofNode(2, 31)[3], 1); // the division became both
    for (const each of parts.values()) {
      for (const kind of [0, 1, 2, 3]) {
        const sum = [...each.values()].reduce((all, it) => all + it[kind], 0);
        assert.ok(Math.abs(sum - 1) < 1e-12);
      }
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

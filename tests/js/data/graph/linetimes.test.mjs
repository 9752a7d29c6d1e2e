// The time of items by line of the program.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lineTimes } from "../../../../svodviz/js/data/graph/linetimes.js";

const ENTITIES = ["source:3", "source:4", "source:9", "graph:0", "graph:1", "graph:2", "item:0",
  "item:1"];

/** Two items: the first computes graph:0 and, twice as much work, graph:1; the second nothing. */
function model({ callers = [], ownLines = { 3: [0], 4: [1, 2], 5: [] }, back = false } = {}) {
  const scene = { nodes: [{ e: 3, callers }, { e: 4, callers, back }, { e: 5 }], edges: [] };
  return {
    entities: ENTITIES, madeBy: new Map(), parents: ENTITIES.map((_, at) => ownLines[at] ?? []),
    stageById: new Map([["graph", { units: [{ scene }] }]]),
    stageOf: (entity) => ENTITIES[entity].split(":")[0],
    entity: (name) => ENTITIES.indexOf(name),
    origins: (entity) => (entity === 7 ? new Set([9]) : new Set()),
    schedule: {
      items: [{ e: 6, ns: 90 }, { e: 7, ns: 10 }],
      shares: [{ items: [0], nodes: [[3, 1, 0, 0, 0], [4, 2, 0, 0, 0]] }],
    },
  };
}

const byLine = (found) => found.map(({ entity, time, item }) => [entity, time, item.e]);

test("an item divides among the lines of its nodes as its work does", () => {
  const found = lineTimes(model(), (it) => it.ns);
  // graph:1 is made in two lines, half of its 60 ns each; line 9 has the other item too.
  assert.deepEqual(byLine(found), [[2, 40, 6], [0, 30, 6], [1, 30, 6]]);
  assert.ok(Math.abs(found.reduce((sum, it) => sum + it.share, 0) - 1) < 1e-12);
});

test("lines that only call do not count, unless there are no others", () => {
  const found = lineTimes(model({ callers: [9] }), (it) => it.ns);
  assert.deepEqual(byLine(found), [[1, 60, 6], [0, 30, 6], [2, 10, 7]]);
  const only = lineTimes(model({ callers: [3, 4, 9] }), (it) => it.ns);
  assert.deepEqual(new Set(only.map((it) => it.entity)), new Set([0, 1, 2]));
});

test("what comes from no line says so; what takes no time is not listed", () => {
  const found = lineTimes({ ...model({ ownLines: { 3: [], 4: [1] } }), origins: () => new Set() },
    (it) => (it.e === 6 ? 90 : 0));
  assert.deepEqual(byLine(found), [[1, 60, 6], [-1, 30, 6]]);
  assert.deepEqual(lineTimes({ ...model(), schedule: null }, () => 1), []);
});

test("what a line takes in the backward pass is told apart", () => {
  const found = lineTimes(model({ ownLines: { 3: [1], 4: [1] }, back: true }), (it) => it.ns);
  const [line] = found.filter(({ entity }) => entity === 1);
  assert.deepEqual([line.time, line.back], [90, 60]);
  assert.ok(lineTimes(model(), (it) => it.ns).every(({ back }) => back === 0));
});

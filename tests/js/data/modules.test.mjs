// The modules of a model: what each takes of a run, and its lines of a stage.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  depthOf, firstOpen, innerOf, isInside, moduleOf, ofRoof, seen, tracedRows, withHeadings, workOf,
} from "../../../svodviz/js/data/modules.js";

const row = (parent, kernels = []) => ({ e: 0, parent, kernels });
// whole · encoder · layer.0 · act · layer.1 · head
const ROWS = [row(-1), row(0), row(1), row(2), row(1), row(0)];
const MODULES = {
  rows: ROWS, roofs: [50, null],
  parts: [[[2, 0.75, 1, 0.5], [3, 0.25, 0, 0.5]], [[5, 1, 1, 1]]],
};
const ITEMS = [{ ns: 100, read: 30, written: 10, flops: 7 },
  { ns: 40, read: 4, written: 4, flops: 0 }];

test("an item divides among the modules that it serves, and they add up", () => {
  const works = workOf({ modules: MODULES, schedule: { items: ITEMS } }, (it) => it.ns);
  assert.deepEqual(works.map((it) => it.ns), [140, 100, 100, 25, 0, 40]);
  assert.deepEqual(works.map((it) => it.moved), [48, 40, 40, 20, 0, 8]);
  assert.deepEqual(works.map((it) => it.flops), [7, 7, 7, 0, 0, 0]);
  assert.equal(works[2].roof, 50);
  assert.equal(works[5].roof, 40); // no kernel has no roof: it takes what it takes
  assert.equal(ofRoof(works[2]), 0.5);
  assert.equal(ofRoof({ ns: 0, roof: 0 }), 0);
  assert.equal(ofRoof({ ns: 1, roof: 3 }), 1);
});

test("the tree opens from the outside in, as far as rows suffice", () => {
  assert.deepEqual(innerOf(ROWS), [[1, 5], [2, 4], [3], [], [], []]);
  assert.deepEqual([...firstOpen(ROWS, 3)], [0]);
  assert.deepEqual([...firstOpen(ROWS, 5)], [0, 1]);
  assert.deepEqual([...firstOpen(ROWS, 2)], [0]); // never a single row
  assert.deepEqual(seen(ROWS, new Set([0, 1])), [0, 1, 2, 4, 5]);
  assert.deepEqual(seen(ROWS, new Set([1, 2])), [0]); // what is in a closed one is not seen
  assert.equal(depthOf(ROWS, 3), 3);
  assert.ok(isInside(ROWS, 3, 1) && isInside(ROWS, 3, 3) && !isInside(ROWS, 4, 2));
});

test("an entity is a module by its name", () => {
  const model = { modules: MODULES, entities: ["graph:1", "modules:4"],
    stageOf: (entity) => model.entities[entity].split(":")[0] };
  assert.deepEqual([-1, 0, 1].map((it) => moduleOf(model, it)), [-1, -1, 4]);
  assert.equal(moduleOf({ ...model, modules: undefined }, 1), -1);
});

test("its lines are those of the kernels that do its work, under their headings", () => {
  const line = (entity, unit) => ({ entity, unit, heading: false });
  const head = (unit) => ({ entity: -1, unit, heading: true });
  const text = [head(0), line(1, 0), line(2, 0), head(1), line(3, 1)];
  const rows = [{ ...ROWS[0], e: 9, kernels: [["k0", [0], [1], []]] }];
  const model = {
    modules: { ...MODULES, rows }, text: () => text, related: () => new Set([1, 3]),
    stageById: new Map([["loops", { units: [{ name: "k0" }, { name: "k1" }] }]]),
  };
  assert.deepEqual(tracedRows(model, "loops", 0), [text[0], text[1]]);
  assert.deepEqual(tracedRows(model, "schedule", 0), [text[0], text[1], text[3], text[4]]);
  assert.deepEqual(withHeadings(text, () => false), []);
  // Of two items, 1 and 3, and their calls the one that does something of it.
  const items = [{ op: "kernel", e: 1 }, { op: "kernel", e: 3 }];
  const parents = [[], [4], [], [5]];
  const timed = { ...model, schedule: { items }, parents };
  assert.deepEqual(tracedRows(timed, "schedule", 0), [text[0], text[1]]);
});

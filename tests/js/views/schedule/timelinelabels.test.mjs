// The labels of the rows of the timeline.

import assert from "node:assert/strict";
import { test } from "node:test";

import { labelOf, labelWidth } from "../../../../svodviz/js/views/schedule/timelinelabels.js";

const item = (more) => ({ op: "kernel", name: "k0", position: 0, tasks: 1, fixed: [], facts: [],
  ...more });
const ends = (from, to) => [["from device", from], ["to device", to]];
const alone = (it) => labelOf({ items: [it], loops: [] }, { type: "item", items: [0] });

test("transfers say where they come from, unless that is where they go", () => {
  const copy = item({ op: "transfer", name: "copy" });
  assert.equal(alone({ ...copy, facts: ends("CPU:1", "CPU") }), "transfer copy from CPU:1");
  assert.equal(alone({ ...copy, facts: ends("CPU", "CPU") }), "transfer copy");
});

test("shared work is counted in words", () => {
  assert.equal(alone(item({ tasks: 2 })), "kernel k0 · 2 tasks");
  assert.equal(alone(item({})), "kernel k0");
});

test("loops count their iterations, and iterations their counters or themselves", () => {
  const items = Array.from({ length: 1200 }, (_, position) => item({ position }));
  items[1].fixed = [["i", 1]];
  const schedule = { items, loops: [{ label: "iterations 0 … 1199", items: items.map((it) =>
    it.position) }] };
  const row = { type: "loop", loop: 0, items: [0] };
  assert.equal(labelOf(schedule, row), "k0 × 1,200: iterations 0 … 1199");
  assert.equal(labelOf(schedule, { type: "item", loop: 0, items: [1] }), "i = 1");
  assert.equal(labelOf(schedule, { type: "item", loop: 0, items: [7] }), "iteration 7");
  assert.ok(labelWidth(schedule, row) > 200);
});

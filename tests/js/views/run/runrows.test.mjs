// The rows of a measured run: by time, and the iterations of a long loop as one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ratioOf, timesOf } from "../../../../svodviz/js/data/measured.js";
import { FEW_TRIPS } from "../../../../svodviz/js/views/schedule/rows.js";
import { runRows } from "../../../../svodviz/js/views/run/runrows.js";

const item = (position, measured, more = {}) => ({
  position, op: "kernel", name: "k", measured, ns: 1.5, cost: 2, read: 10, written: 6, flops: 4,
  run: { critical: false, bound: "L2" }, ...more,
});

const iterations = Array.from({ length: FEW_TRIPS + 1 }, (_, n) => item(n, n + 1));
iterations[3].run = { critical: true, bound: "memory" };
const alone = [item(20, 3, { name: "a" }), item(21, 400, { name: "b" })];
const items = [...iterations, ...alone];
const schedule = {
  items, loops: [{ items: iterations.map((it) => it.position), label: "iterations" }],
  loopOf: new Map(iterations.map((it) => [it.position, 0])),
};

test("the iterations of a long loop are one row, whose figures are sums", () => {
  const rows = runRows(schedule, items, new Set());
  assert.deepEqual(rows.map((it) => it.measured), [400, 45, 3]);
  const [, loop] = rows;
  assert.equal(loop.iterations.length, 9);
  assert.deepEqual([loop.ns, loop.cost, loop.read, loop.written, loop.flops],
    [13.5, 18, 90, 54, 36]);
  assert.deepEqual(loop.run, { critical: true, bound: "L2" });
  assert.equal(ratioOf(loop), "2.5×");
});

test("an opened loop lists its iterations behind it, in order of time", () => {
  const rows = runRows(schedule, items, new Set([0]));
  assert.deepEqual(rows.map((it) => it.measured), [400, 45, 9, 8, 7, 6, 5, 4, 3, 2, 1, 3]);
});

test("few iterations stand apart, as items without a loop do", () => {
  const few = { ...schedule, loops: [{ items: [0, 1], label: "iterations" }] };
  assert.ok(runRows(few, items, new Set()).every((it) => !it.iterations));
});

test("a kernel's items together: nothing is called measured where one is not", () => {
  const sum = timesOf(schedule, "k");
  assert.deepEqual([sum.count, sum.measured, sum.cost], [9, 45, 18]);
  assert.equal(sum.share, 45 / 448);
  const some = { ...schedule, items: [{ ...items[0], run: null, measured: null },
    ...items.slice(1)] };
  assert.equal(timesOf(some, "k").measured, 0);
  assert.equal(timesOf(schedule, "none"), null);
});

// What a stretch of time is spent on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { kernelKey, sumsOf, timeWithin } from "../../../../svodviz/js/views/schedule/sums.js";

const item = (position, name, start, finish) =>
  ({ e: position, op: "kernel", name, position, critical: false, start, finish });
const ITEMS = [item(0, "a", 0, 10), item(1, "b", 10, 40), item(2, "a", 40, 60),
  item(3, "c", 100, 100)];

test("only the time within the stretch counts", () => {
  assert.deepEqual([[0, 10], [5, 8], [8, 99], [20, 30], [-9, 2]].map(([from, to]) =>
    timeWithin({ start: 0, finish: 10 }, { from, to })), [10, 3, 2, 0, 2]);
});

test("sums are in order of time, their shares of all work", () => {
  const { sums, whole, count } = sumsOf(ITEMS, (it) => it, { from: 5, to: 50 }, kernelKey);
  assert.deepEqual([whole, count], [45, 3]);
  assert.deepEqual(sums.map(({ key, time }) => [key, time]), [["kernel b", 30], ["kernel a", 15]]);
  assert.equal(sums.reduce((sum, it) => sum + it.share, 0), 1);
  assert.deepEqual(sums[1].items.map((it) => it.position), [2, 0]); // the longest first
});

test("an item of several lines counts at each, one of none is told apart", () => {
  const lines = [["3", "4"], ["4"], [], []];
  const { sums } = sumsOf(ITEMS, (it) => it, { from: 0, to: 60 }, (it) => lines[it.position]);
  assert.deepEqual(sums.map(({ key, time }) => [key, time]), [["4", 40], ["", 20], ["3", 10]]);
});

test("a stretch without items has no sums", () => {
  assert.deepEqual(sumsOf(ITEMS, (it) => it, { from: 70, to: 80 }, kernelKey),
    { sums: [], whole: 0, count: 0 });
});

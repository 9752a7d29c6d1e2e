// The axes of the timeline and of the memory map.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressTicks } from "../../../../svodviz/js/views/schedule/memory.js";
import { niceStep } from "../../../../svodviz/js/views/schedule/window.js";

test("ticks of the axis are round", () => {
  const wishes = [[17600, 7], [1, 4], [99, 10]];
  assert.deepEqual(wishes.map(([most, count]) => niceStep(most, count)), [5000, 0.5, 10]);
});

test("addresses are marked at a few powers of two", () => {
  assert.deepEqual(addressTicks(197120), [0, 65536, 131072, 196608]);
  assert.deepEqual(addressTicks(256), [0, 64, 128, 192, 256]);
  assert.deepEqual(addressTicks(3), [0, 1, 2, 3]);
  assert.deepEqual(addressTicks(0), []);
  for (const end of [1, 7, 1000, 123456, 2 ** 40]) assert.ok(addressTicks(end).length <= 8);
});

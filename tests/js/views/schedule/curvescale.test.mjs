// The axis of the memory curve: it suits the curve, and says what it leaves out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { scaleOf } from "../../../../svodviz/js/views/schedule/curvescale.js";

test("a curve that moves over most of its height begins at 0", () => {
  assert.deepEqual(scaleOf([10, 80, 100], [100, 120]),
    { from: 0, to: 120, isBroken: false, beyond: [] });
});

test("lines far above the curve do not flatten it", () => {
  assert.deepEqual(scaleOf([10, 80, 100], [100, 200, 201, 5000]),
    { from: 0, to: 200, isBroken: false, beyond: [201, 5000] });
});

test("a share that never changes does not flatten what does", () => {
  const { from, to, isBroken, beyond } = scaleOf([1000, 1040, 1100], [1100, 1150, 5000, 3]);
  assert.ok(isBroken && from === 975 && to === 1150, `${from} … ${to}`);
  assert.deepEqual(beyond, [5000, 3]);
});

test("what does not move, or is nothing, has a whole axis", () => {
  assert.deepEqual(scaleOf([70, 70], []), { from: 0, to: 70, isBroken: false, beyond: [] });
  assert.deepEqual(scaleOf([], [8]), { from: 0, to: 8, isBroken: false, beyond: [] });
  assert.deepEqual(scaleOf([0], []), { from: 0, to: 1, isBroken: false, beyond: [] });
});

// The axis of the timeline.

import assert from "node:assert/strict";
import { test } from "node:test";

import { niceStep } from "../../svodviz/js/timeline.js";

test("ticks of the axis are round", () => {
  const wishes = [[17600, 7], [1, 4], [99, 10]];
  assert.deepEqual(wishes.map(([most, count]) => niceStep(most, count)), [5000, 0.5, 10]);
});

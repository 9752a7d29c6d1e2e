// The decisions about an entity, in the order in which the inspector tells it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decisionsOf } from "../../../svodviz/js/inspector/reasons.js";

const model = (related) => ({
  decisions: [[2, "fuse", true, "near", []], [1, "fuse", false, "own", []],
    [7, "tile", true, "of a kernel", []]],
  plainOf: new Map([[1, [[1, "memory", true, "a result", []]]], [3, [[3, "inline", true, "", []]]]]),
  kernelBodies: new Set([7]),
  related: () => new Set(related),
});

test("its own come first, then those of what it is elsewhere, what left no choice last", () => {
  const rows = decisionsOf(model([1, 2, 3, 7]), 1);
  assert.deepEqual(rows.map(([it, kind]) => [it, kind]),
    [[1, "fuse"], [1, "memory"], [2, "fuse"], [3, "inline"]]);
});

test("what is not related is left out, and choices of loops stand with their kernel", () => {
  assert.deepEqual(decisionsOf(model([7]), 7), []);
  assert.deepEqual(decisionsOf(model([3]), 3).map(([, kind]) => kind), ["inline"]);
});

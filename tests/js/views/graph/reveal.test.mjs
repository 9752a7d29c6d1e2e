// Groups that open so that neighbours are drawn, and the camera that shows them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Camera } from "../../../../svodviz/js/kit/geometry.js";
import {
  cameraOver, neighboursOf, unfoldingOf,
} from "../../../../svodviz/js/views/graph/reveal.js";

const node = (name, more = {}) => ({ name, row: {}, hidden: 0, ...more });
const single = node("single");
const folded = node("folded", { row: { fold: "g #1" }, group: "g #1" });
const result = node("result", { hidden: 2 });
const picture = {
  neighbours: new Map([
    [single, { inputs: [{ from: folded, to: single }], users: [{ from: single, to: result }] }],
    [result, { inputs: [{ from: single, to: result }], users: [] }],
  ]),
};
const state = { open: [], only: [], selected: "graph:3" };

test("neighbours are the other ends of edges", () => {
  assert.deepEqual(neighboursOf(picture, single, "inputs"), [folded]);
  assert.deepEqual(neighboursOf(picture, single, "users"), [result]);
  assert.deepEqual(neighboursOf(picture, folded, "users"), []);
});

test("folded groups open, once", () => {
  assert.deepEqual(unfoldingOf(picture, single, "inputs", state), { open: ["g #1"] });
  assert.deepEqual(unfoldingOf(picture, single, "users", state), {});
  assert.deepEqual(unfoldingOf(picture, folded, "users", { ...state, open: ["h #1"] }),
    { open: ["h #1", "g #1"] });
});

test("a part of the graph grows by the node whose neighbours are hidden", () => {
  const part = { ...state, only: ["graph:1"] };
  assert.deepEqual(unfoldingOf(picture, result, "inputs", part), { only: ["graph:1", "graph:3"] });
  assert.deepEqual(unfoldingOf(picture, single, "users", part), {});
});

test("the camera stays where all is seen, and else shows all without coming closer", () => {
  const camera = new Camera(0, 0, 1);
  assert.equal(cameraOver(camera, [10, 10, 90, 90], [100, 100]), camera);
  const near = cameraOver(camera, [500, 500, 520, 520], [100, 100]);
  assert.equal(near.scale, 1);
  assert.deepEqual(near.view(100, 100).map(Math.round), [460, 460, 560, 560]);
  const far = cameraOver(camera, [0, 0, 1000, 100], [100, 100]);
  assert.ok(far.scale < 0.1);
  const [left, , right] = far.view(100, 100);
  assert.ok(left <= 0 && right >= 1000);
});

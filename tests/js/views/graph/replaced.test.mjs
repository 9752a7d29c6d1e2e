// Which arrows lead from what a rewrite took away to what stands in its place.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  borderOf, pathBetween, replacementsOf,
} from "../../../../svodviz/js/views/graph/replaced.js";

const node = (mark) => ({ mark });
const old = node("removed");
const between = node("removed");
const fresh = node("added");
const kept = node("");
const byEntity = new Map([[1, old], [2, between], [3, fresh], [4, kept]]);
const pass = (...pairs) => ({ rewrites: pairs.map(([before, after]) => [0, before, after]) });

test("a step shows its own pair, a pass all of them to their last form", () => {
  const record = pass([1, 2], [2, 3]);
  assert.deepEqual(replacementsOf(record, 0, { byEntity }), []);
  assert.deepEqual(replacementsOf(record, 2, { byEntity }), [[between, fresh]]);
  assert.deepEqual(replacementsOf(record, -1, { byEntity }), [[old, fresh], [between, fresh]]);
});

test("what is not drawn, or stays, has no arrow", () => {
  assert.deepEqual(replacementsOf(pass([4, 3], [9, 3], [1, 8]), -1, { byEntity }), []);
});

test("rewrites that lead in a circle end", () => {
  assert.deepEqual(replacementsOf(pass([1, 2], [2, 1]), -1, { byEntity }), []);
});

test("too many arrows are none", () => {
  const many = new Map(Array.from({ length: 60 }, (_, i) => [i, node(i % 2 ? "" : "removed")]));
  const record = pass(...Array.from({ length: 30 }, (_, i) => [2 * i, 2 * i + 1]));
  assert.equal(replacementsOf(record, -1, { byEntity: many }).length, 0);
  assert.equal(replacementsOf(record, 3, { byEntity: many }).length, 1);
});

test("lines leave a box at its border", () => {
  assert.deepEqual(borderOf([0, 0, 10, 10], 5, 100), [5, 10]);
  assert.deepEqual(borderOf([0, 0, 10, 10], 100, 5), [10, 5]);
  assert.deepEqual(borderOf([0, 0, 10, 10], 5, 5), [5, 5]);
});

test("the arrow between two neighbours leads over them", () => {
  const near = pathBetween([0, 100, 80, 140], [90, 100, 170, 140]);
  assert.match(near, /^M40 100C40 (\d+) 130 \1 130 100$/);
  assert.ok(Number(near.match(/C40 (\d+)/)[1]) < 100);
  assert.match(pathBetween([0, 100, 80, 140], [300, 100, 380, 140]), /^M80 120C/);
  assert.match(pathBetween([0, 100, 80, 140], [0, 300, 80, 340]), /^M40 140C/);
});

// Paths between two boxes of a drawing, counted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pathsBetween } from "../../../../svodviz/js/data/graph/paths.js";

const edges = (...pairs) => pairs.map(([from, to]) => ({ from, to }));
const DIAMOND = edges("ab", "ac", "bd", "cd", "de", "ax", "ye");

test("all paths are found, the shortest is known, nothing else is highlighted", () => {
  const found = pathsBetween([...DIAMOND, ...edges("ad")], "a", "e");
  assert.deepEqual([found.count, found.shortest], [3, 2]);
  assert.deepEqual([...found.nodes].sort(), ["a", "b", "c", "d", "e"]);
});

test("where nothing leads there, what leads back is found", () => {
  const { from, to, count } = pathsBetween(DIAMOND, "e", "a");
  assert.deepEqual([from, to, count], ["a", "e", 2]);
  assert.equal(pathsBetween(DIAMOND, "x", "y"), null);
  assert.equal(pathsBetween(DIAMOND, "a", "a"), null);
});

test("an operand that is read twice is one way", () => {
  assert.equal(pathsBetween(edges("ab", "ab", "bb", "bc"), "a", "c").count, 1);
});

test("cycles give infinitely many paths, others nearby are counted", () => {
  assert.equal(pathsBetween(edges("ab", "bc", "cb", "cd"), "a", "d").count, Infinity);
  assert.equal(pathsBetween(edges("ab", "bc", "xa", "ax"), "b", "c").count, 1);
});

test("a million million paths are counted without a walk along each", () => {
  const ladder = [];
  for (let i = 0; i < 60; i += 1) {
    ladder.push({ from: i, to: 1000 + i }, { from: i, to: 2000 + i },
      { from: 1000 + i, to: i + 1 }, { from: 2000 + i, to: i + 1 });
  }
  const { count, shortest } = pathsBetween(ladder, 0, 60);
  assert.deepEqual([count, shortest], [2 ** 60, 120]);
});

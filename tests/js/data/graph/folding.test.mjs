// Groups of nodes that are drawn as one.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as folding from "../../../../svodviz/js/data/graph/folding.js";

const { census, constantsOf, groupsOf, hiddenBeside, levelsOf, linksOf, partsOf, stretchesOf,
  withLeaves, withNeighbours } = folding;

/** A random graph without cycles, and random keys. */
function randomGraph(seed, count) {
  let state = seed;
  const roll = (limit) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * limit);
  };
  const edges = Array.from({ length: 2 * count }, () => [roll(count), roll(count)])
    .filter(([a, b]) => a < b);
  return { edges, keys: Array.from({ length: count }, () => ["", "a", "b", "c"][roll(4)]) };
}

/** Whether directed links have no cycle. */
function isAcyclic(count, links) {
  const waiting = new Array(count).fill(0);
  links.forEach(({ to }) => { waiting[to] += 1; });
  const ready = waiting.flatMap((number, part) => (number ? [] : [part]));
  for (const part of ready) {
    links.filter(({ from }) => from === part).forEach(({ to }) => {
      waiting[to] -= 1;
      if (!waiting[to]) ready.push(to);
    });
  }
  return ready.length === count;
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`folding graph ${seed} loses nothing and makes no cycle`, () => {
    const { edges, keys } = randomGraph(seed, 60);
    const groups = groupsOf(keys, edges);
    assert.ok(groups.length > 0);
    const { parts, partOf } = partsOf(60, groups, new Set());
    assert.deepEqual(parts.flatMap((it) => it.nodes).sort((a, b) => a - b), [...keys.keys()]);
    for (const { nodes, group } of parts) {
      assert.ok(group < 0 ? nodes.length === 1 : new Set(nodes.map((it) => keys[it])).size === 1);
    }
    const links = linksOf(edges, parts, partOf);
    assert.ok(isAcyclic(parts.length, links));
    const inside = edges.filter(([a, b]) => partOf[a] === partOf[b]).length;
    assert.equal(links.reduce((sum, link) => sum + link.edges.length, inside), edges.length);
  });

  test(`levels of graph ${seed} rise where the key changes`, () => {
    const { edges, keys } = randomGraph(seed, 60);
    const level = levelsOf(keys, edges);
    for (const [a, b] of edges) {
      assert.ok(keys[a] === keys[b] ? level[a] <= level[b] : level[a] < level[b]);
    }
  });
}

test("a path that leaves a key and comes back makes two groups", () => {
  const edges = [[0, 1], [1, 2], [2, 3], [3, 4], [1, 3]];
  assert.deepEqual(groupsOf(["a", "a", "b", "a", "a"], edges).map((it) => it.nodes),
    [[0, 1], [3, 4]]);
});

test("groups of one key are distinguished, in the order of their nodes", () => {
  assert.deepEqual(groupsOf(["a", "a", "", "a", "a"], [[0, 1], [3, 4]]).map((it) => it.name),
    ["a #1", "a #2"]);
});

test("an open group shows its nodes in a frame", () => {
  const edges = [[0, 1], [1, 2]];
  const groups = groupsOf(["a", "a", "b"], edges);
  const { parts } = partsOf(3, groups, new Set(["a #1"]));
  assert.deepEqual(parts.map((it) => [it.nodes, it.group, it.frame]),
    [[[0], -1, 0], [[1], -1, 0], [[2], -1, -1]]);
});

test("weights and constants go with their users", () => {
  assert.deepEqual(withLeaves(["", "k", "a", "b"], [[0, 2], [1, 2], [1, 3], [2, 3]]),
    ["a", "", "a", "b"]);
});

test("a graph without any keys is folded by depth", () => {
  const edges = Array.from({ length: 999 }, (_, i) => [i, i + 1]);
  const keys = stretchesOf(1000, edges);
  const groups = groupsOf(keys, edges);
  assert.ok(groups.length > 20 && groups.length <= 60);
  assert.equal(groups.reduce((sum, it) => sum + it.nodes.length, 0), 1000);
});

test("a neighbourhood grows at its edge", () => {
  const edges = [[0, 1], [1, 2], [2, 3], [3, 4], [9, 3]];
  const shown = withNeighbours([2], edges);
  assert.deepEqual([...shown].sort(), [1, 2, 3]);
  assert.deepEqual([...hiddenBeside(shown, edges)], [[1, 1], [3, 2]]);
  assert.deepEqual([...withNeighbours([2, 3], edges)].sort(), [1, 2, 3, 4, 9]);
  const { parts, partOf } = partsOf(10, [], new Set(), shown);
  assert.equal(parts.length, 3);
  assert.equal(linksOf(edges, parts, partOf).length, 2);
});

test("what is in a group is said", () => {
  assert.equal(census(["add", "mul", "add"]), "add ×2, mul");
  assert.equal(census(["a", "b", "c", "c"]), "c ×2, a + 1 kinds");
});

test("an input that several groups of one key read stands next to them", () => {
  // two iterations of the same function, one after the other, which read one constant
  const keys = ["", "f", "f", "", "f", "f", "f"];
  const edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [6, 1], [6, 4]];
  const groups = folding.groupsOf(keys, edges).map((it) => it.nodes);
  assert.deepEqual(groups, [[1, 2], [4, 5]]);
  const own = folding.groupsOf(keys, edges.slice(0, -1)).map((it) => it.nodes);
  assert.deepEqual(own, [[1, 2, 6], [4, 5]]);
});

test("what follows from constants alone is one", () => {
  const rows = ["const", "movement", "buffer", "elementwise", "elementwise"]
    .map((kind) => ({ kind }));
  assert.deepEqual(constantsOf(rows, [[0, 1], [1, 3], [2, 3], [1, 4]]),
    [true, true, false, false, true]);
});

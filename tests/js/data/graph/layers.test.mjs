// The layered layout of the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { placeInLayers, ranksOf, route } from "../../../../svodviz/js/data/graph/layers.js";

/** Numbers that look random and are the same in every run. */
function dice(seed) {
  let state = seed;
  return (limit) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * limit);
  };
}

function randomGraph(seed, count, hasCycles = false) {
  const roll = dice(seed);
  const boxes = Array.from({ length: count }, () => [40 + roll(120), 24 + roll(60)]);
  const edges = Array.from({ length: 2 * count }, () => [roll(count), roll(count)])
    .filter(([a, b]) => a < b || hasCycles);
  return { boxes, edges };
}

const corners = ({ boxes }, { places }) =>
  boxes.map(([w, h], i) => [places[i][0], places[i][1], places[i][0] + w, places[i][1] + h]);

for (const [seed, count, hasCycles] of [[1, 1], [2, 2], [3, 30], [4, 120], [5, 60, true]]) {
  test(`boxes of ${count} nodes${hasCycles ? " with cycles" : ""} stand apart`, () => {
    const graph = randomGraph(seed, count, hasCycles);
    const made = placeInLayers(graph.boxes, graph.edges);
    const all = corners(graph, made);
    all.forEach((a, i) => all.slice(i + 1).forEach((b) => {
      assert.ok(a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]);
    }));
    for (const [left, top, right, bottom] of all) {
      assert.ok(left >= 0 && top >= 0 && right <= made.size[0] + 1 && bottom <= made.size[1] + 1);
    }
  });
}

test("users stand below their producers", () => {
  const graph = randomGraph(7, 80);
  const { places } = placeInLayers(graph.boxes, graph.edges);
  for (const [from, to] of graph.edges) assert.ok(places[from][1] < places[to][1]);
});

test("what has no producer stands right above its first user", () => {
  const chain = [[0, 1], [1, 2], [2, 3], [4, 3]];
  assert.deepEqual(ranksOf(5, chain), [0, 1, 2, 3, 2]);
});

test("a loop stands below where the program begins, whatever the order of its blocks", () => {
  // block 3 is the entry; 1 and 2 are a loop that 2 leads back in; 0 is the exit
  assert.deepEqual(ranksOf(4, [[2, 1], [1, 2], [3, 1], [2, 0]]), [3, 1, 2, 0]);
  assert.deepEqual(ranksOf(3, [[0, 1], [1, 2], [2, 0]]), [0, 1, 2]);
});

test("a long edge passes between boxes", () => {
  const boxes = Array.from({ length: 5 }, () => [100, 30]);
  const edges = [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]];
  const { places, bends } = placeInLayers(boxes, edges);
  assert.equal(bends[4].length, 2 * 3);
  for (const [x, y] of bends[4]) {
    assert.ok(places.every(([left, top]) =>
      x < left || x > left + 100 || y < top || y > top + 30));
  }
});

test("a chain is one straight column", () => {
  const boxes = [[50, 30], [90, 30], [70, 30]];
  const { places } = placeInLayers(boxes, [[0, 1], [1, 2]]);
  const middles = places.map(([x], i) => x + boxes[i][0] / 2);
  assert.ok(Math.max(...middles) - Math.min(...middles) <= 1);
});

test("the same graph has the same places", () => {
  const graph = randomGraph(9, 200);
  const [a, b] = [0, 1].map(() => placeInLayers(graph.boxes, graph.edges));
  assert.deepEqual(a, b);
});

test("routes begin and end at their boxes, up, down and to themselves", () => {
  const [upper, lower] = [[0, 0, 40, 20], [100, 80, 160, 100]];
  assert.equal(route(upper, lower, []), "M20 20C20 50 130 50 130 80");
  assert.equal(route(lower, upper, []), "M130 80C130 50 20 50 20 20");
  assert.match(route(upper, upper, []), /^M40 16C.* 40 4$/);
  assert.equal(route(upper, lower, [[60, 40], [60, 50]]),
    "M20 20C20 30 60 30 60 40L60 50C60 65 130 65 130 80");
});

test("nothing to place", () => {
  assert.deepEqual(placeInLayers([], []), { places: [], bends: [], size: [0, 0] });
});

test("ten thousand nodes with long edges are placed", () => {
  const boxes = Array.from({ length: 10_000 }, () => [80, 30]);
  const edges = boxes.flatMap((_, i) => [[i - 1, i], [i - 1 - (i % 17), i]])
    .filter(([a]) => a >= 0);
  const { places } = placeInLayers(boxes, edges);
  assert.equal(new Set(places.map(String)).size, 10_000);
});

test("what stood in another layout stands there again, in the same order", () => {
  const boxes = Array(5).fill([60, 20]);
  const edges = [[0, 2], [1, 2], [2, 3]];
  const near = [[400, 10], [100, 10], [250, 80], [250, 150]];
  const { places } = placeInLayers(boxes, [...edges, [2, 4], [4, 3]], { near });
  const middle = (node) => places[node][0] + 30;
  assert.ok(middle(1) < middle(2) && middle(2) < middle(0), "mirrored nowhere");
  assert.equal(middle(0) - middle(1), 300);
  const tops = places.map(([, y]) => y);
  assert.equal(tops[0], tops[1]);
  assert.ok(tops[2] < tops[4] && tops[4] < tops[3], "room is made for what is new");
});

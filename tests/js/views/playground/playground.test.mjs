// The playground's pure parts: choices as rows and text, traces as paths, searches as trees.

import assert from "node:assert/strict";
import test from "node:test";

import {
  fetchedAhead, foundAt, percent,
} from "../../../../svodviz/js/views/playground/cachebars.js";
import {
  ADDABLE, KINDS, added, loopsAfter, namesAfter, parseChoices, printChoices, withTile, without,
} from "../../../../svodviz/js/views/playground/choices.js";
import { cellsPath, elementsPath, stepAt } from "../../../../svodviz/js/views/playground/replay.js";
import { intensity, ticks } from "../../../../svodviz/js/views/playground/roofline.js";
import { treeRows } from "../../../../svodviz/js/views/playground/tuningtree.js";

const AXES = [["i0", 100, "normal"], ["i1", 64, "normal"], ["r2", 32, "reduction"]];
const KERNEL = { axes: AXES, lanes: 16, cores: 2, loaded: [1, 2], stored: [0], labels: {} };

test("choices read back as they are printed", () => {
  const text = "tile i0 16 peel; reorder i0.0 i1 i0.1; pack 2; vectorize i0.1";
  assert.equal(printChoices(parseChoices(text)), text);
  assert.equal(printChoices(parseChoices("tile i0 4 # why; not\nunroll i0.1")),
    "tile i0 4; unroll i0.1");
  assert.deepEqual(parseChoices("plain"), []);
  assert.equal(printChoices([]), "plain");
});

test("a tile leaves two loops, and a rest where there is one", () => {
  const rows = parseChoices("tile i0 16; tile i0.1 4");
  assert.deepEqual(loopsAfter(AXES, rows).slice(0, 4), [
    ["i0.0", 6, "normal"], ["i0.1.0", 4, "normal"], ["i0.1.1", 4, "normal"],
    ["i0.2", 4, "normal"]]);
  assert.ok(namesAfter(AXES, rows).includes("i0.1.0"));
});

test("an order follows when an axis is cut, and when the cut is taken back", () => {
  const cut = withTile(parseChoices("reorder i1 i0"), "i0", 8);
  assert.equal(printChoices(cut), "tile i0 8 peel; reorder i1 i0.0 i0.1");
  assert.equal(printChoices(without([...cut, ...parseChoices("unroll i0.1")], 0)),
    "reorder i1 i0");
});

test("what is added can be meant", () => {
  assert.equal(printChoices(added([], "vectors", KERNEL)), "tile i1 16 peel; vectorize i1.1");
  assert.equal(printChoices(added([], "parallelize", KERNEL)), "parallelize i0 2");
  assert.equal(printChoices(added(parseChoices("tile i0 4"), "unroll", KERNEL)),
    "tile i0 4; unroll i0.1");
  assert.equal(printChoices(added([], "prefetch", KERNEL)), "prefetch 1 r2 i0");
  assert.equal(printChoices(added([], "prefetch", { ...KERNEL, axes: AXES.slice(0, 2) })),
    "prefetch 1 i1 i0");
});

test("every kind of choice can be added", () => {
  const kinds = new Set(ADDABLE.map(([kind]) => (kind === "vectors" ? "vectorize" : kind)));
  assert.deepEqual([...kinds].sort(), Object.keys(KINDS).sort());
});

test("prefetches are named, and come from behind a cache like misses", () => {
  const cache = { accesses: 8, total: 8, streamed: 0, fetches: 6, fetched: [4, 2],
    levels: [["L1", 1, 1, 8, 7], ["L2", 1, 1, 1, 1]] };
  assert.match(fetchedAhead(cache), /^6 lines prefetched, 4 of them not yet/);
  assert.equal(intensity({ flops: 640, cache }, 0), 640 / (5 * 64));
  assert.equal(intensity({ flops: 640, cache }, 1), 640 / (2 * 64));
});

test("cells that stand above each other are one piece", () => {
  const memory = ["a", "", 8, 8, 2, 2];
  assert.equal(cellsPath([0, 4, 4, 4], memory), "M0 0h8v4h-8z");
  assert.equal(cellsPath([1, 1, 5, 1], memory), "M2 0h2v4h-2z");
  assert.equal(cellsPath([], memory), "");
  assert.equal(elementsPath(6, 4, memory), "M6 0h2v1h-2zM0 1h2v1h-2z");
});

test("a step says where and whether it missed", () => {
  const trace = { steps: [0, 5, 1, 1, 7, 0], sites: [[12, 0, 1, 0], [15, 1, 4, 1]] };
  assert.deepEqual(stepAt(trace, 1),
    { line: 15, memory: 1, lanes: 4, isStore: true, element: 7, missed: false });
});

test("lines are found at one level or in memory", () => {
  const cache = { levels: [["L1", 1024, 4, 100, 90], ["L2", 4096, 8, 10, 4]] };
  assert.deepEqual(foundAt(cache), [["L1", 90, 0.9], ["L2", 4, 0.04], ["memory", 6, 0.06]]);
  assert.equal(percent(0.0001), "< 0.1 %");
});

test("operations for each byte count misses and what is streamed", () => {
  const cache = { accesses: 50, total: 100, streamed: 2, levels: [["L1", 1, 1, 20, 12]] };
  assert.equal(intensity({ flops: 12800, cache }, 0), 12800 / (10 * 64 * 2));
  assert.equal(intensity({ flops: 1, cache: null }, 0), 0);
  assert.deepEqual(ticks(1, 10000), [1, 10, 100, 1000, 10000]);
});

test("a tree has every trial below its parent, and always the way to the best", () => {
  const trials = [[0, -1, "default", 3, "", ""], [1, 0, "a", 2, "", ""],
    [2, 1, "b", null, "no", ""], [3, 1, "c", 1, "", ""], [4, 0, "d", 9, "", ""]];
  const shown = (rows) => rows.map(({ trial, depth }) => [trial[0], depth]);
  assert.deepEqual(shown(treeRows({ trials, best: 3 }, false)), [[0, 0], [1, 1], [3, 2], [4, 1]]);
  assert.deepEqual(shown(treeRows({ trials, best: 3 }, true)).length, 5);
  assert.deepEqual(shown(treeRows({ trials, best: 3 }, true, 3)), [[0, 0], [1, 1], [3, 2]]);
});

// Blocks of machine code as rows, and the tracks of their jumps.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  blockRows, loopsOf, tracks, wordsOf,
} from "../../../../svodviz/js/views/machine/blocks.js";

const LINES = ["k:", "a", "outer:", "b", "inner:", "c", "jump inner", "d", "jump outer", "ret"];
const FLOW = {
  blocks: [["k", 0, 2, []], ["outer", 2, 4, [1]], ["inner", 4, 7, [1, 2]],
    ["block 3", 7, 9, [1]], ["block 4", 9, 10, []]],
  jumps: [[0, 1, "next", false], [1, 2, "next", false], [2, 2, "taken", true],
    [2, 3, "next", false], [3, 1, "taken", true], [3, 4, "next", false]],
};

test("every line is shown once, labels in the heads of their blocks", () => {
  const { rows, tops, ends } = blockRows(FLOW, LINES, (line) => line);
  const code = rows.filter((row) => row.kind === "code").map((row) => LINES[row.line]);
  assert.deepEqual(code, LINES.filter((line) => !line.endsWith(":")));
  assert.equal(tops.length, FLOW.blocks.length);
  tops.forEach((top, block) => {
    assert.deepEqual([rows[top].kind, rows[top].block], ["head", block]);
    assert.deepEqual([rows[ends[block]].kind, rows[ends[block]].block], ["foot", block]);
  });
});

test("a text without blocks is shown as it is", () => {
  const { rows } = blockRows(null, LINES, (line) => line);
  assert.deepEqual(rows.map((row) => LINES[row.line]), LINES);
});

test("jumps that overlap have tracks of their own, the short ones next to the text", () => {
  const { tops, ends } = blockRows(FLOW, LINES, (line) => line);
  const placed = tracks(FLOW, tops, ends);
  assert.deepEqual(placed.map(({ jump, track }) => [jump[0], jump[1], track]), [[2, 2, 0], [3, 1, 1]]);
  for (const one of placed) {
    for (const other of placed) {
      if (one === other || one.track !== other.track) continue;
      const [a, b] = [one, other].map((it) => [it.from, it.to].sort((x, y) => x - y));
      assert.ok(a[1] < b[0] || b[1] < a[0]);
    }
  }
});

test("loops reach from their first to their last block, outer ones first", () => {
  const { tops, ends } = blockRows(FLOW, LINES, (line) => line);
  assert.deepEqual(loopsOf(FLOW, tops, ends), [
    { head: 1, depth: 0, top: tops[1], end: ends[3] },
    { head: 2, depth: 1, top: tops[2], end: ends[2] },
  ]);
});

test("each way of a jump has a sign and words of its own", () => {
  const all = [[0, 1, "next", false], [0, 1, "taken", false], [1, 0, "taken", true],
    [0, 1, "true", false], [0, 1, "false", false]].map(wordsOf);
  assert.equal(new Set(all.map((it) => it[1])).size, 5);
});

// The rows of two texts side by side.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  differing, MOST_ROWS, nextOf, rowsOf, SIDES,
} from "../../../svodviz/js/compare/difference.js";

const shortOf = (rows) => rows.map(({ type, a, b }) => `${type} ${a} ${b}`);

test("both lines of a pair stand in one row, and those alone in their own", () => {
  const rows = rowsOf([["equal", 0, 1, 0, 1], ["replace", 1, 3, 1, 2], ["insert", 3, 3, 2, 4]]);
  assert.deepEqual(shortOf(rows),
    ["equal 0 0", "changed 1 1", "a 2 -1", "b -1 2", "b -1 3"]);
});

test("a long run of equal lines is a gap with three lines around what differs", () => {
  const blocks = [["equal", 0, 20, 0, 20], ["delete", 20, 21, 20, 20], ["equal", 21, 41, 20, 40]];
  const rows = rowsOf(blocks);
  assert.deepEqual(rows.filter(({ type }) => type === "gap").map(({ hidden }) => hidden),
    [[0, 0, 17], [21, 20, 17]]);
  assert.deepEqual(shortOf(rows).slice(1, 5),
    ["equal 17 17", "equal 18 18", "equal 19 19", "a 20 -1"]);
  assert.equal(rowsOf(blocks, new Set([0])).length, rows.length + 16);
  assert.equal(rowsOf(blocks, new Set([0, 21])).length, 41);
  assert.ok(MOST_ROWS >= 1000);
});

test("a gap of one line would hide nothing", () => {
  const rows = rowsOf([["equal", 0, 4, 0, 4], ["insert", 4, 4, 4, 5]]);
  assert.deepEqual(rows.map(({ type }) => type), ["equal", "equal", "equal", "equal", "b"]);
});

test("every line of both is in exactly one row or gap", () => {
  const blocks = [["equal", 0, 9, 0, 9], ["replace", 9, 11, 9, 14], ["equal", 11, 30, 14, 33],
    ["delete", 30, 31, 33, 33]];
  for (const opened of [new Set(), new Set([0]), new Set([11])]) {
    const rows = rowsOf(blocks, opened);
    for (const [at, side] of SIDES.entries()) {
      const seen = [];
      for (const row of rows) {
        const next = (seen.at(-1) ?? -1) + 1;
        if (row.hidden) seen.push(...Array.from({ length: row.hidden[2] }, (_, n) => next + n));
        else if (row[side] >= 0) seen.push(row[side]);
      }
      assert.deepEqual(seen, Array.from({ length: at ? 33 : 31 }, (_, n) => n));
    }
  }
});

test("what differs in two lines is between what they have in common", () => {
  for (const [a, b, found] of [
    ["x = 12", "x = 13", [5, 6, 6]], ["same", "same", [4, 4, 4]], ["", "new", [0, 0, 3]],
    ["aa", "aaa", [2, 2, 3]], ["left mid right", "left right", [5, 9, 5]],
  ]) {
    assert.deepEqual(differing(a, b), found, `${a} | ${b}`);
  }
});

test("the next difference comes around the end", () => {
  assert.equal(nextOf([2, 5, 9], 5, 1), 9);
  assert.equal(nextOf([2, 5, 9], 9, 1), 2);
  assert.equal(nextOf([2, 5, 9], 5, -1), 2);
  assert.equal(nextOf([2, 5, 9], 2, -1), 9);
  assert.equal(nextOf([2, 5, 9], -1, 1), 2);
  assert.equal(nextOf([], 3, 1), -1);
});

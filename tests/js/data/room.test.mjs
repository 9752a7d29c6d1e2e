// Panels, sizes and columns of a state: what cannot be is left out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_COLUMNS, soundRoom, withColumn } from "../../../svodviz/js/data/room.js";

const BEFORE = { columns: ["source", "loops"], shares: [], panels: {}, sizes: {} };
const hasText = (id) => ["source", "loops", "asm"].includes(id);
const sound = (wanted) => soundRoom({ ...BEFORE, ...wanted }, BEFORE, hasText);

test("as many columns as one wants, up to a limit", () => {
  assert.deepEqual(sound({ columns: ["asm"] }).columns, ["asm"]);
  assert.deepEqual(sound({ columns: ["asm", "asm", "loops", "source"] }).columns.length, 4);
  assert.equal(sound({ columns: Array(99).fill("asm") }).columns.length, MOST_COLUMNS);
});

test("a column that cannot be is left out; without any the old ones stay", () => {
  assert.deepEqual(sound({ columns: ["nowhere", "asm", 1] }).columns, ["asm"]);
  for (const columns of [[], ["nowhere"], "asm", null]) {
    assert.deepEqual(sound({ columns }).columns, BEFORE.columns);
  }
});

test("shares are one positive number for each column, or none", () => {
  assert.deepEqual(sound({ shares: [1, 3] }).shares, [1, 3]);
  for (const shares of [[1], [1, 0], [1, "2"], [1, Infinity], { 0: 1, 1: 2, length: 2 }]) {
    assert.deepEqual(sound({ shares }).shares, []);
  }
  assert.deepEqual(sound({ columns: ["asm", "no", "loops"], shares: [1, 2] }).shares, []);
});

test("only panels that exist are opened, closed, and sized within bounds", () => {
  const { panels, sizes } = sound({ panels: { passes: false, inspector: 1, other: true },
    sizes: { passes: 240, inspector: -5, drawer: 1e9, other: 100 } });
  assert.deepEqual([panels, sizes], [{ passes: false }, { passes: 240 }]);
  assert.deepEqual(sound({ panels: null, sizes: undefined }).panels, {});
});

test("a column that comes has the mean share, and one that goes takes its own along", () => {
  assert.deepEqual(withColumn({ columns: ["a", "b"], shares: [100, 300] }, 2, "c"),
    { columns: ["a", "b", "c"], shares: [100, 300, 200] });
  assert.deepEqual(withColumn({ columns: ["a", "b"], shares: [100, 300] }, 0),
    { columns: ["b"], shares: [300] });
  assert.deepEqual(withColumn({ columns: ["a"], shares: [] }, 1, "b"),
    { columns: ["a", "b"], shares: [] });
});

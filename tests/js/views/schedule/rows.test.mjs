// The rows of the timeline.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LANE, ROW, barsOf, foldedAtFirst, rowOfItem, rowsBetween, rowsOf }
  from "../../../../svodviz/js/views/schedule/rows.js";

const items = Array.from({ length: 12 }, (_, position) => ({
  position, lane: position === 11 ? 1 : 0, start: 10 * position, finish: 10 * position + 10,
}));
const loops = [{ items: [1, 2] }, { items: [3, 4, 5, 6, 7, 8, 9, 10] }];
const loopOf = new Map(loops.flatMap((loop, number) => loop.items.map((it) => [it, number])));
const SCHEDULE = { lanes: ["CPU", "host"], items, loops, loopOf };
const types = (rows) => rows.map((row) => row.type[0]).join("");

test("loops have a head, folded ones nothing else", () => {
  assert.equal(types(rowsOf(SCHEDULE, new Set())), "liliiliiiiiiiili");
  assert.equal(types(rowsOf(SCHEDULE, new Set([0, 1]))), "lillli");
});

test("iterations stand under their own head where loops take turns", () => {
  const both = [{ items: [1, 3, 5] }, { items: [2, 4, 6] }];
  const of = new Map(both.flatMap((loop, number) => loop.items.map((it) => [it, number])));
  const rows = rowsOf({ ...SCHEDULE, loops: both, loopOf: of }, new Set());
  const iterations = rows.filter((row) => row.type === "item" && row.loop !== undefined);
  assert.deepEqual(iterations.map((row) => row.items[0]), [1, 3, 5, 2, 4, 6]);
  assert.equal(types(rows).slice(0, 10), "liliiiliii");
});

test("rows stand below each other without gaps", () => {
  const rows = rowsOf(SCHEDULE, new Set([1]));
  rows.slice(1).forEach((row, i) => assert.equal(row.top, rows[i].top + rows[i].height));
  assert.deepEqual([rows[0].height, rows[1].height], [LANE, ROW]);
});

test("every item is seen in one row", () => {
  for (const folded of [[], [0], [0, 1]]) {
    const found = rowOfItem(rowsOf(SCHEDULE, new Set(folded)));
    assert.equal(found.size, items.length);
    for (const [position, row] of found) {
      assert.equal(row.type === "loop", folded.includes(loopOf.get(position)));
    }
  }
});

test("the rows between two heights are those that touch them", () => {
  const rows = rowsOf(SCHEDULE, new Set());
  for (const [top, bottom] of [[0, 10], [100, 160], [300, 310], [1e6, 2e6]]) {
    const wanted = rows.filter((row) => row.top + row.height >= top && row.top <= bottom);
    assert.deepEqual(rowsBetween(rows, top, bottom), wanted);
  }
});

test("loops of many iterations start folded", () => {
  assert.deepEqual(foldedAtFirst(SCHEDULE), new Set());
  const long = { ...SCHEDULE, loops: [{ items: [1] }, { items: Array.from({ length: 9 }) }] };
  assert.deepEqual(foldedAtFirst(long), new Set([1]));
});

test("many bars that touch become one, and lose no item", () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ start: 2 * i, finish: 2 * i + 1 }));
  const bars = barsOf(many, (time) => time * 0.1);
  assert.ok(bars.length < 10);
  assert.equal(bars.reduce((sum, bar) => sum + bar.items.length, 0), 1000);
  assert.equal(barsOf(many.slice(0, 5), (time) => time * 0.1).length, 5);
});

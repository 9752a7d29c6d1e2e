// The stretch of time in view, and the marks of its axis.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ticksOf, TimeWindow } from "../../../../svodviz/js/views/schedule/window.js";

const ends = ({ from, to }) => [from, to];

test("a zoom leaves its time in its place", () => {
  const view = new TimeWindow(1000);
  view.zoom(0.5, 250);
  assert.deepEqual(ends(view), [125, 625]);
  assert.equal((250 - view.from) / view.length, 0.25);
  assert.equal(view.isWhole, false);
  view.zoom(4, 250);
  assert.deepEqual(ends(view), [0, 1000]);
  assert.equal(view.isWhole, true);
});

test("nothing beyond the program comes into view", () => {
  const view = new TimeWindow(1000);
  view.show(400, 600);
  view.move(1e9);
  assert.deepEqual(ends(view), [800, 1000]);
  view.move(-1e9);
  assert.deepEqual(ends(view), [0, 200]);
  view.show(-500, 100);
  assert.ok(view.from === 0 && view.to <= 1000);
});

test("there is an end to zooming in", () => {
  const view = new TimeWindow(1e6);
  for (let i = 0; i < 200; i += 1) view.zoom(0.5, 5e5);
  assert.ok(view.length >= 1 - 1e-6);
  view.zoom(1e12, 5e5);
  assert.equal(view.isWhole, true);
});

test("what is revealed comes into view, no further than needed", () => {
  const view = new TimeWindow(1000);
  view.show(400, 600);
  view.reveal(450, 500);
  assert.deepEqual(ends(view), [400, 600]);
  view.reveal(100, 150);
  assert.deepEqual(ends(view), [100, 300]);
  view.reveal(700, 750);
  assert.deepEqual(ends(view), [550, 750]);
  view.reveal(0, 900);
  assert.deepEqual(ends(view), [0, 900]);
});

test("marks have as many digits as tell them apart, at any zoom", () => {
  const view = new TimeWindow(3.3e7);
  assert.deepEqual(ticksOf(view, 4).map(([, words]) => words), ["0", "10 ms", "20 ms", "30 ms"]);
  for (let i = 0; i < 18; i += 1) {
    const marks = ticksOf(view, 8);
    const words = marks.map((it) => it[1]);
    assert.ok(words.length >= 2 && words.length <= 9, words.join());
    assert.equal(new Set(words).size, words.length);
    for (const [time] of marks) assert.ok(time >= view.from - 1e-3 && time <= view.to + 1e-3);
    view.zoom(0.4, 1.2345678e7);
  }
});

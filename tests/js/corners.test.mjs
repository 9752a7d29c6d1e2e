// Which corner of a pane is free.

import assert from "node:assert/strict";
import { test } from "node:test";

import { freeCorner } from "../../svodviz/js/corners.js";

const SIZE = [400, 200];
const OWN = [100, 50];

test("the first corner where nothing is covered", () => {
  const seen = [0, 0, 400, 200];
  assert.equal(freeCorner(seen, SIZE, OWN, []), "top right");
  const [right, left, below] = [[350, 20, 360, 30], [20, 20, 30, 30], [20, 170, 30, 180]];
  assert.equal(freeCorner(seen, SIZE, OWN, [right]), "top left");
  assert.equal(freeCorner(seen, SIZE, OWN, [right, left]), "bottom left");
  assert.equal(freeCorner(seen, SIZE, OWN, [right, left, below]), "");
  assert.equal(freeCorner(seen, SIZE, OWN, [[200, 100, 210, 110]]), "top right");
});

test("places of the drawing are those of the pane, moved and scaled", () => {
  const seen = [1000, 500, 1800, 900]; // two units of the drawing for each pixel
  assert.equal(freeCorner(seen, SIZE, OWN, [[1700, 560, 1701, 561]]), "top left");
  assert.equal(freeCorner(seen, SIZE, OWN, [[1400, 560, 1401, 561]]), "top right");
  assert.equal(freeCorner(seen, SIZE, OWN, [[0, 0, 10, 10]]), "top right", "it is not in view");
});

// Shapes, arrows, the camera, and corners that are free.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as geometry from "../../../svodviz/js/kit/geometry.js";

const {
  Camera, arrow, fit, holds, inner, outline, pointsOf, touches, union,
} = geometry;
const SHAPES = ["box", "pill", "slant", "hexagon", "square", "double", "arrow", "bars", "fold",
  "stack"];

for (const shape of SHAPES) {
  test(`the outline of ${shape} is closed or made of bars`, () => {
    const path = outline(shape, 100, 40);
    assert.match(path, /^M/);
    assert.match(path, /z/);
    assert.ok(!path.includes("NaN"));
  });
}

test("an unknown shape is drawn as a box", () => {
  assert.equal(outline("nonsense", 90, 30), outline("box", 90, 30));
});

test("the inner line stands inside", () => {
  const [left, top, right, bottom] = inner(100, 40).match(/[\d.]+/g).map(Number);
  assert.deepEqual([left, top, 100 - right, 40 - bottom], [3.5, 3.5, 3.5, 3.5]);
});

test("arrowheads point along their edge", () => {
  const made = arrow("M0 0C0 10 0 20 0 30L0 40");
  assert.equal(made.d, "M0 0C0 10 0 20 0 30L0 40M0 40L2.9 33.6M0 40L-2.9 33.6");
  assert.deepEqual(made.box, [0, 0, 0, 40]);
  assert.equal(Math.round(made.number[1]), 23);
});

test("an edge that ends where its last bend is still has a direction", () => {
  const made = arrow("M5 5C5 5 5 5 5 5");
  assert.ok(!made.d.includes("NaN"));
});

test("zoom keeps the point under the pointer", () => {
  const { x, y, scale } = new Camera(10, 20, 0.5).zoomed(2, 110, 220);
  assert.equal(scale, 1);
  assert.deepEqual([(110 - x) / scale, (220 - y) / scale], [(110 - 10) / 0.5, (220 - 20) / 0.5]);
});

test("zoom ends at four times, and never at nothing", () => {
  assert.equal(new Camera(0, 0, 3).zoomed(10, 0, 0).scale, 4);
  assert.ok(new Camera(0, 0, 0.001).zoomed(1e-9, 0, 0).scale > 0);
});

const BOXES = [[0, 0, 100, 100, false], [0, 0, 5000, 9000, true], [-50, 20, 400, 300, false],
  [0, 0, 0, 0, false]];
for (const [left, top, right, bottom, whole] of BOXES) {
  test(`fit shows all of ${[left, top, right, bottom]}`, () => {
    const view = fit([left, top, right, bottom], 800, 600, whole).view(800, 600);
    assert.ok(holds(view, [left, top, right, bottom]));
  });
}

test("what would be too small to read shows its upper end instead", () => {
  const camera = fit([0, 0, 500, 9000], 800, 600);
  assert.equal(camera.scale, geometry.READABLE);
  const [left, top] = camera.view(800, 600);
  assert.ok(left <= 0 && top <= 0);
});

test("boxes touch where they share a point", () => {
  assert.ok(touches([0, 0, 10, 10], [10, 10, 20, 20]));
  assert.ok(!touches([0, 0, 10, 10], [11, 0, 20, 10]));
});

test("the box around none is a unit", () => {
  assert.deepEqual(union([]), [0, 0, 1, 1]);
  assert.deepEqual(union([[0, 5, 1, 6], [-3, 0, 0, 9]]), [-3, 0, 1, 9]);
});

test("a graph too large to be read opens where most of its nodes are", () => {
  const row = (count, from, y) =>
    Array.from({ length: count }, (_, i) => [from + 60 * i, y, from + 60 * i + 50, y + 20]);
  const boxes = [...row(4, 0, 0), ...row(9, 5000, 40), ...row(30, 9000, 900)];
  const middle = geometry.crowded(boxes, [0, 0, 800, 500]);
  assert.ok(middle > 5000 && middle < 5530, String(middle)); // those below the view do not count
  assert.equal(geometry.crowded([], [0, 0, 800, 500]), 400);
});

test("the tips of a small hexagon leave it a flat top", () => {
  const [, left] = geometry.outline("hexagon", 18, 12).match(/^M(\d+) 0H/);
  assert.ok(Number(left) <= 5);
  assert.match(geometry.outline("hexagon", 90, 40), /^M9 0H81/);
});

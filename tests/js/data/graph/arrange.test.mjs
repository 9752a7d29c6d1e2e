// Frames around open groups.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange, routeAlone } from "../../../../svodviz/js/data/graph/arrange.js";

const boxes = Array.from({ length: 7 }, (_, i) => [60 + 10 * i, 30]);
const links = [[0, 1], [1, 2], [2, 3], [3, 4], [1, 4], [0, 5], [5, 6], [6, 4]]
  .map(([from, to]) => ({ from, to }));
const FRAMES = [-1, 0, 0, 0, -1, 3, 3];

test("frames hold their parts and nothing else", () => {
  const { places, frames } = arrange(boxes, links, FRAMES);
  assert.deepEqual(frames.map((it) => it.frame), [0, 3]);
  for (const { frame, x, y, w, h } of frames) {
    places.forEach(([left, top], part) => {
      const [right, bottom] = [left + boxes[part][0], top + boxes[part][1]];
      if (FRAMES[part] === frame) {
        assert.ok(x <= left && y <= top && right <= x + w && bottom <= y + h);
      } else {
        assert.ok(right <= x || x + w <= left || bottom <= y || y + h <= top);
      }
    });
  }
});

test("every link has a route from its first to its second box", () => {
  const { places, routes } = arrange(boxes, links, FRAMES);
  links.forEach(({ from, to }, i) => {
    const numbers = routes[i].match(/-?\d+(\.\d+)?/g).map(Number);
    assert.deepEqual(numbers.slice(0, 2),
      [places[from][0] + boxes[from][0] / 2, places[from][1] + 30]);
    assert.deepEqual(numbers.slice(-2), [places[to][0] + boxes[to][0] / 2, places[to][1]]);
  });
});

test("without frames it is the layered layout", () => {
  const { frames, places } = arrange(boxes, links, boxes.map(() => -1));
  assert.deepEqual(frames, []);
  assert.equal(new Set(places.map(String)).size, boxes.length);
});

test("a link from a box to itself runs beside it", () => {
  for (const frames of [FRAMES, boxes.map(() => -1)]) {
    const { places, routes } = arrange(boxes, [...links, { from: 2, to: 2 }], frames);
    const [right, top] = [places[2][0] + boxes[2][0], places[2][1]];
    const numbers = routes.at(-1).match(/-?\d+(\.\d+)?/g).map(Number);
    const points = [0, 2, 4, 6].map((at) => [numbers[at], numbers[at + 1]]);
    assert.ok(points.every(([x, y]) => x >= right && y > top - 6 && y < top + 36));
    places.forEach(([left, above], part) => {
      const isBeside = left > right && above < top + 30 && above + 30 > top;
      assert.ok(!isBeside || left >= points[1][0], `${part}`);
    });
    assert.ok(points[0][0] === right && points[3][0] === right && points[1][0] > right);
  }
});

test("across, producers stand to the left, frames have their words above", () => {
  const boxes = [[80, 30], [60, 30], [70, 40], [50, 30]];
  const links = [{ from: 0, to: 1 }, { from: 1, to: 2 }, { from: 1, to: 3 }, { from: 0, to: 3 }];
  const made = arrange(boxes, links, [-1, 0, 0, -1], { across: true });
  const ends = made.routes.map((path) => path.match(/-?[\d.]+/g).map(Number));
  links.forEach(({ from, to }, link) => {
    const [[x, y], [toX, toY]] = [made.places[from], made.places[to]];
    assert.ok(x + boxes[from][0] < toX, "left of its users");
    assert.deepEqual(ends[link].slice(0, 2), [x + boxes[from][0], y + boxes[from][1] / 2]);
    assert.deepEqual(ends[link].slice(-2), [toX, toY + boxes[to][1] / 2]);
  });
  const [{ x, y, w, h }] = made.frames;
  for (const part of [1, 2]) {
    const [left, top] = made.places[part];
    assert.ok(left - x >= 14 && top - y >= 22);
    assert.ok(left + boxes[part][0] + 14 <= x + w && top + boxes[part][1] + 14 <= y + h);
  }
  assert.match(routeAlone([0, 0, 10, 10], [50, 0, 60, 10], true), /^M10 5C.* 50 5$/);
});

/** Points of a path of lines and curves, close to each other. */
function pointsOf(path) {
  const points = [];
  for (const [, kind, text] of path.matchAll(/([MLC])([^MLC]*)/g)) {
    const at = text.trim().split(/\s+/).map(Number);
    const end = at.slice(-2);
    const start = points.at(-1) ?? end;
    const [a, b] = kind === "C" ? [at.slice(0, 2), at.slice(2, 4)] : [start, end];
    for (let t = 0; t <= 1; t += 0.02) {
      points.push([0, 1].map((i) => (kind === "C"
        ? (1 - t) ** 3 * start[i] + 3 * (1 - t) ** 2 * t * a[i] + 3 * (1 - t) * t ** 2 * b[i]
          + t ** 3 * end[i]
        : (1 - t) * start[i] + t * end[i])));
    }
  }
  return points;
}

test("links into frames, and out of them, lead around what stands there", () => {
  // 0 outside; 1 … 4 in a frame, of which 2 and 3 in another inside; 5 outside
  const links = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 4], [0, 3], [1, 5], [2, 5], [2, 4]]
    .map(([from, to]) => ({ from, to }));
  const sizes = links.slice(0, 6).map(() => [120, 30]);
  const { places, routes } = arrange(sizes, links, [-1, 0, 1, 1, 0, -1],
    { parentOf: (frame) => (frame === 1 ? 0 : -1) });
  links.forEach(({ from, to }, link) => {
    const others = places.flatMap((at, part) => (part === from || part === to ? [] : [at]));
    for (const [x, y] of pointsOf(routes[link])) {
      const hit = others.findIndex(([left, top]) =>
        x > left && x < left + 120 && y > top && y < top + 30);
      assert.equal(hit, -1, `${from} → ${to} crosses a box at ${x}, ${y}`);
    }
  });
});

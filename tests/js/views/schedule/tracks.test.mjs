// Items packed into tracks, and what is drawn of them at a zoom.

import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksOf, NARROW, pack, spansBetween, tracksOf }
  from "../../../../svodviz/js/views/schedule/tracks.js";

const span = (item, start, finish, slack = 0) => ({ item, start, finish, slack });
const chain = (count, length) => Array.from({ length: count }, (_, item) =>
  span(item, item * length, (item + 1) * length));
const numbers = (tracks) => tracks.map((track) => track.map((it) => it.item));

test("what follows shares a track, what overlaps has one of its own", () => {
  assert.deepEqual(numbers(pack(chain(5, 10))), [[0, 1, 2, 3, 4]]);
  const both = [span(0, 0, 10), span(1, 0, 4), span(2, 5, 9), span(3, 10, 12)];
  assert.deepEqual(numbers(pack(both)), [[0, 3], [1, 2]]);
  assert.deepEqual(numbers(pack([span(0, 0, 10, 5), span(1, 12, 14)])), [[0], [1]]);
});

test("no two spans of a track overlap, whatever they are", () => {
  let seed = 7;
  const random = (/** @type {number} */ most) => {
    seed = (seed * 48271) % 2147483647;
    return seed % most;
  };
  const spans = Array.from({ length: 500 }, (_, item) => {
    const start = random(1000);
    return span(item, start, start + random(40), random(20));
  });
  const tracks = pack(spans);
  assert.equal(tracks.flat().length, 500);
  for (const track of tracks) {
    track.slice(1).forEach((it, i) => assert.ok(track[i].finish + track[i].slack <= it.start));
  }
});

test("a lane of too many tracks is packed without slack, and says so", () => {
  const wide = Array.from({ length: 30 }, (_, item) => span(item, item, item + 1, 1000));
  const [lane, ...tracks] = tracksOf(["CPU"], () => wide);
  assert.equal(lane.hasSlack, false);
  assert.equal(tracks.length, 1);
  assert.ok(tracks[0].spans.every((it) => it.slack === 0));
  const [roomy] = tracksOf(["CPU"], () => wide.slice(0, 5));
  assert.equal(roomy.hasSlack, true);
});

test("rows stand below each other, lanes in their order", () => {
  const rows = tracksOf(["CPU", "host"], (lane) => (lane ? [span(9, 0, 1)] : chain(3, 2)));
  assert.deepEqual(rows.map((row) => row.type), ["lane", "track", "lane", "track"]);
  rows.slice(1).forEach((row, i) => assert.equal(row.top, rows[i].top + rows[i].height));
});

test("the spans in view are those that touch it", () => {
  const spans = chain(1000, 10);
  for (const [from, to] of [[0, 5], [95, 204], [9990, 20000], [-5, 1e9]]) {
    assert.deepEqual(spansBetween(spans, from, to),
      spans.filter((it) => it.finish >= from && it.start <= to));
  }
});

test("wide spans are drawn by themselves, narrow ones together", () => {
  const wide = blocksOf(chain(5, 10), (time) => time * 2);
  assert.deepEqual(wide.map((it) => it.spans.length), [1, 1, 1, 1, 1]);
  const narrow = blocksOf(chain(10_000, 10), (time) => time / 125);
  assert.equal(narrow.reduce((sum, it) => sum + it.spans.length, 0), 10_000);
  assert.ok(narrow.length < 25);
  const mixed = [span(0, 0, 1), span(1, 1, 2), span(2, 2, 60), span(3, 60, 61)];
  assert.deepEqual(blocksOf(mixed, (time) => time).map((it) => it.spans.length), [2, 1, 1]);
});

test("blocks are at least so far apart that their number is bounded by the width", () => {
  for (const gap of [0.1, 1, 3, 5.9, 7]) {
    const spans = Array.from({ length: 4000 }, (_, item) => span(item, item * gap, item * gap));
    const blocks = blocksOf(spans, (time) => time);
    blocks.slice(1).forEach((it, i) => assert.ok(it.left - blocks[i].left >= NARROW));
  }
});

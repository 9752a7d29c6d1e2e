// The rows of workers' lanes: a track more for each thread, a strip for what comes meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";

import { STRIP, workerTracks } from "../../../../svodviz/js/views/schedule/workertracks.js";

const bar = (number, lane, kind, start, finish, item = number) =>
  ({ number, lane, kind, start, finish, item });
const LANES = [{ name: "here" }, { name: "DASK" }, { name: "DASK:1" }];
const rows = (...bars) => workerTracks({ lanes: LANES, bars });
const typesOf = (found, lane) => found.filter((it) => it.lane === lane).map((it) => it.type);

test("every lane has a track, and a strip where data came", () => {
  const found = rows(bar(0, 1, "kernel", 0, 5), bar(1, 2, "transfer", 1, 3));
  assert.deepEqual(typesOf(found, 0), ["lane", "track"]);
  assert.deepEqual(typesOf(found, 1), ["lane", "track"]);
  assert.deepEqual(typesOf(found, 2), ["lane", "track", "strip"]);
  assert.equal(found[found.length - 1].height >= STRIP, true);
});

test("what threads do at once has a track each; waits stand in the first", () => {
  const found = rows(bar(0, 1, "kernel", 0, 5), bar(1, 1, "kernel", 2, 4), bar(2, 1, "move", 6, 7));
  const tracks = found.filter((it) => it.lane === 1 && it.type === "track");
  assert.deepEqual(tracks.map((it) => it.spans.map((span) => span.item)), [[0, 2], [1]]);
  assert.deepEqual(tracks.map((it) => it.isFirst), [true, false]);
});

test("rows follow each other, none on another", () => {
  const found = rows(bar(0, 1, "kernel", 0, 5), bar(1, 1, "transfer", 2, 4, -1));
  found.slice(1).forEach((it, at) => assert.equal(it.top, found[at].top + found[at].height));
  assert.deepEqual(found.find((it) => it.name === "DASK").items, [0]);
});

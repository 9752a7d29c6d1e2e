// What workers did in one run, decoded: times, the critical path, what is said of clocks and waits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LaneData } from "../../../svodviz/js/data/lanes.js";
import { takeTimes } from "../../../svodviz/js/data/measured.js";

const ROWS = {
  run: "r", ns: 10_000_000,
  lanes: [["here", "this process", 0], ["DASK", "tcp://a", 40], ["DASK:1", "tcp://b", 60]],
  bars: [
    [0, "send", 0, 1_000_000, 0, "copy", 4096, -1, [], "sending 0 copy"],
    [1, "kernel", 2_000_000, 6_000_000, 1, "k0", 0, -1, [0], "1 k0 on DASK"],
    [1, "kernel", 3_000_000, 5_000_000, 3, "k2", 0, -1, [], "3 k2 on DASK"],
    [2, "transfer", 6_500_000, 8_000_000, 2, "copy", 2048, 1, [1], "2 copy DASK → DASK:1"],
    [2, "kernel", 9_000_000, 10_000_000, 2, "k1", 0, -1, [1, 3], "2 k1 on DASK:1"],
  ],
  unsent: 0, waits: [[2, 0, 9_000_000, 4, 3, 8_000_000, "2 copy DASK → DASK:1"]],
  path: [0, 1, 3, 4], error: 100, moved: 2048, sent: 4096, fetched: 0, again: [], lost: [],
  dashboard: "http://127.0.0.1:8787/status",
};

test("a lane is busy as long as one of its threads is", () => {
  const { lanes } = new LaneData(ROWS);
  assert.deepEqual(lanes.map((it) => it.busy), [1e6, 4e6, 1e6]);
  assert.deepEqual(lanes.map((it) => it.waiting), [0, 0, 9e6]);
});

test("an item takes from its first bar to its last", () => {
  const data = new LaneData(ROWS);
  assert.deepEqual(data.timeOf(2), { start: 6_500_000, finish: 10_000_000 });
  assert.equal(data.timeOf(7), undefined);
});

test("the critical path is marked, and where it changes lanes without a transfer", () => {
  const data = new LaneData(ROWS);
  assert.deepEqual(data.bars.map((it) => it.critical), [true, true, false, true, true]);
  assert.deepEqual(data.crossings.map((pair) => pair.map((it) => it.number)), [[0, 1]]);
});

test("words say what came before, how much, and for how long", () => {
  const data = new LaneData(ROWS);
  assert.equal(data.words(data.bars[3]), "2 copy DASK → DASK:1, 1.5 ms, 2 KiB after 1 k0 on DASK; "
    + "on the critical path of the run");
  assert.equal(data.words(data.bars[2]), "3 k2 on DASK, 2 ms");
  assert.equal(data.waitWords(data.waits[0]), "DASK:1 waits 9 ms: 2 copy DASK → DASK:1");
});

test("the caption states the error of the clocks, and what was lost", () => {
  const plain = (words) => words.replaceAll("\u00a0", " ");
  assert.match(plain(new LaneData(ROWS).caption), new RegExp(
    "measured: 10 ms on 2 workers · clocks of workers aligned, ± 100 ns at most · 2 KiB moved .* · "
    + "critical path 4 bars, 75 % of the time"));
  const other = new LaneData({ ...ROWS, error: 0, lost: ["tcp://c"], again: [1, 2], unsent: 3 });
  assert.match(plain(other.caption), /one clock/);
  assert.match(plain(other.caption), /1 worker lost, 2 items computed again · 3 short bars left/);
});

test("only addresses of pages are links", () => {
  const at = (dashboard) => new LaneData({ ...ROWS, dashboard }).dashboard;
  assert.equal(at("https://x/status"), "https://x/status");
  assert.equal(at("javascript:alert(1)"), "");
  assert.equal(at(" http://x"), "");
});

test("a measurement brings them, another one takes them away", () => {
  const schedule = { items: [] };
  takeTimes(schedule, { items: [], lanes: ROWS });
  assert.equal(schedule.workers.bars.length, 5);
  takeTimes(schedule, { items: [] });
  assert.equal(schedule.workers, null);
});

// Numbers in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bytes, count, counted, duration, nanoseconds } from "../../../svodviz/js/kit/words.js";

test("thousands are separated", () => {
  assert.deepEqual([0, 999, 1000, 9640, 1234567].map(count),
    ["0", "999", "1,000", "9,640", "1,234,567"]);
});

test("one is one, all others are many", () => {
  assert.deepEqual([0, 1, 2, 1000].map((it) => counted(it, "node")),
    ["0 nodes", "1 node", "2 nodes", "1,000 nodes"]);
});

test("bytes have the unit that fits", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 150 * 1024, 3 * 2 ** 30, 2 ** 50].map(bytes),
    ["0 B", "1023 B", "1 KiB", "1.5 KiB", "150 KiB", "3 GiB", "1024 TiB"]);
});

test("seconds have the unit that fits", () => {
  assert.deepEqual([0, -1, NaN, 4.2e-9, 1.25e-6, 3.5e-3, 0.123, 2, 150].map(duration),
    ["0", "0", "0", "4.2 ns", "1.3 µs", "3.5 ms", "123 ms", "2 s", "150 s"]);
});

test("nanoseconds too", () => {
  assert.deepEqual([0, 4.2, 320, 1600, 3.5e6, 123e6, 2e9].map(nanoseconds),
    ["0", "4.2 ns", "320 ns", "1.6 µs", "3.5 ms", "123 ms", "2 s"]);
});

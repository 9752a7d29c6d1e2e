// Whose tasks run on which core.

import assert from "node:assert/strict";
import { test } from "node:test";

import { coresOf, dealt } from "../../../../svodviz/js/views/schedule/cores.js";

test("tasks are dealt out: the caller from the first, workers from the last", () => {
  assert.deepEqual(dealt(1, 4), [{ count: 1, words: "task 0" }]);
  assert.deepEqual(dealt(2, 4).map((it) => it.words), ["task 0", "task 1"]);
  assert.deepEqual(dealt(5, 2).map((it) => it.words), ["tasks 0 … 2", "tasks 3 … 4"]);
  assert.deepEqual(dealt(8, 3), [{ count: 3, words: "tasks 0 … 2" },
    { count: 3, words: "3 of the tasks 3 … 7" }, { count: 2, words: "2 of the tasks 3 … 7" }]);
  for (let tasks = 1; tasks < 40; tasks += 1) {
    for (const cores of [1, 2, 3, 8]) {
      const counts = dealt(tasks, cores).map((it) => it.count);
      assert.equal(counts.reduce((a, b) => a + b), tasks);
      assert.ok(counts.length <= cores && counts[0] - counts[counts.length - 1] <= 1);
    }
  }
});

test("items run one after the other; a core with fewer tasks is done earlier", () => {
  const items = [{ op: "kernel", position: 0, tasks: 3, start: 0, finish: 40 },
    { op: "kernel", position: 1, tasks: 1, start: 0, finish: 10 }];
  const { byCore, end } = coresOf(items, 2, (it) => it.finish - it.start);
  assert.equal(end, 50);
  assert.deepEqual(byCore[0].map(({ start, finish }) => [start, finish]), [[0, 40], [40, 50]]);
  assert.deepEqual(byCore[1].map(({ start, finish }) => [start, finish]), [[0, 20]]);
  assert.deepEqual(byCore.map((spans) => spans[0].share), ["tasks 0 … 1", "task 2"]);
  assert.equal(byCore[0][1].share, "");
});

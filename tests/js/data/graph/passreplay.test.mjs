// Passes, replayed from their deltas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { snapshotAt, stepOf } from "../../../../svodviz/js/data/graph/passreplay.js";

const REPLAY = {
  passes: [
    {
      start: { "n+": [0, 1], "e+": [0] }, layout: 0,
      steps: [{ "n+": [2], "n-": [1], "e+": [1], "e-": [0] }, { set: [[0, { op: "b" }]] }],
    },
    { start: { "n-": [0] }, steps: [], layout: 1 },
  ],
};

const CASES = [
  [0, 0, [0, 1], [], [], []],
  [0, 1, [0, 2], [2], [1], []],
  [0, 2, [0, 2], [], [], [0]],
  [0, -1, [0, 2], [2], [1], [0]],
  [1, 0, [2], [], [], []],
];

for (const [pass, step, nodes, added, removed, changed] of CASES) {
  test(`pass ${pass} at step ${step}`, () => {
    const it = stepOf(REPLAY, pass, step);
    assert.deepEqual([...it.snapshot.nodes], nodes);
    assert.deepEqual([[...it.added], [...it.removed], [...it.changed]], [added, removed, changed]);
    assert.equal(it.layout, pass);
  });
}

test("any order of visits gives the same snapshots", () => {
  const visit = (cases) => new Map(cases.map(([pass, step]) => {
    const { snapshot, added, removed } = stepOf(REPLAY, pass, step);
    return [`${pass} ${step}`,
      [[...snapshot.nodes], [...snapshot.edges], [...added], [...removed]]];
  }));
  const forth = visit(CASES);
  const back = visit([...CASES].reverse());
  for (const [key, snapshot] of forth) assert.deepEqual(back.get(key), snapshot);
});

test("a node that reads differently keeps that reading", () => {
  assert.deepEqual(snapshotAt(REPLAY, 0, 1).rows.get(0), undefined);
  assert.deepEqual(snapshotAt(REPLAY, 1, 0).rows.get(0), { op: "b" });
});

// Frames of passes from their deltas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { frameAt, stepOf } from "../../../../svodviz/js/data/graph/frames.js";

const FILM = {
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

for (const [shot, step, nodes, added, removed, changed] of CASES) {
  test(`pass ${shot} at step ${step}`, () => {
    const it = stepOf(FILM, shot, step);
    assert.deepEqual([...it.frame.nodes], nodes);
    assert.deepEqual([[...it.added], [...it.removed], [...it.changed]], [added, removed, changed]);
    assert.equal(it.layout, shot);
  });
}

test("any order of visits gives the same frames", () => {
  const visit = (cases) => new Map(cases.map(([shot, step]) => {
    const { frame, added, removed } = stepOf(FILM, shot, step);
    return [`${shot} ${step}`, [[...frame.nodes], [...frame.edges], [...added], [...removed]]];
  }));
  const forth = visit(CASES);
  const back = visit([...CASES].reverse());
  for (const [key, frame] of forth) assert.deepEqual(back.get(key), frame);
});

test("a node that reads differently keeps that reading", () => {
  assert.deepEqual(frameAt(FILM, 0, 1).rows.get(0), undefined);
  assert.deepEqual(frameAt(FILM, 1, 0).rows.get(0), { op: "b" });
});

// Which panels stand where.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BELOW, STACKED, arrangement } from "../../../svodviz/js/frame/arrangement.js";

const at = (width, more = {}) => arrangement(width, { stage: "graph", view: "graph", panels: {},
  ...more });

test("the list of passes is there where steps are seen, elsewhere only with room to spare", () => {
  assert.equal(at(993).passes, "absent");
  assert.equal(at(1440).passes, "open");
  assert.equal(at(700, { stage: "passes" }).passes, "open");
  for (const view of ["columns", "playground", "timeline", "run"]) {
    assert.equal(at(1900, { view }).passes, "absent");
  }
});

test("the inspector leaves the width to columns, unless it is asked for", () => {
  assert.equal(at(993, { view: "columns" }).inspector, "closed");
  assert.equal(at(1440, { view: "columns" }).inspector, "open");
  assert.equal(at(993, { view: "columns", panels: { inspector: true } }).inspector, "open");
});

test("what the reader chose holds, where the panel is of use", () => {
  const panels = { passes: false, inspector: false };
  assert.deepEqual([at(1440, { panels }).passes, at(1440, { panels }).inspector],
    ["closed", "closed"]);
  assert.equal(at(1440, { view: "columns", panels: { passes: true } }).passes, "absent");
});

test("narrow explorers have a drawer below, phones the passes above", () => {
  assert.deepEqual([at(BELOW).isBelow, at(BELOW + 1).isBelow], [true, false]);
  assert.deepEqual([at(STACKED).isStacked, at(STACKED + 1).isStacked], [true, false]);
});

// Entities that are one value: what rewrites took away included, in both directions.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Model } from "../../../svodviz/js/data/model.js";

const model = new Model(JSON.parse(readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8")));
const nameOf = (entity) => model.entities[entity];
const isCoarse = (entity) => /^(kernels|schedule):/.test(nameOf(entity));
const gone = [...model.gaveWayIn.keys()].filter((it) => !model.hasDescendants(it));

test("what was rewritten leads to what it became, and that leads back", () => {
  const graph = gone.filter((it) => nameOf(it).startsWith("graph:"));
  assert.ok(graph.length > 0);
  for (const old of graph) {
    const found = [...model.related(old)].filter((it) => !isCoarse(it));
    assert.ok(found.some((it) => nameOf(it).startsWith("loops:")), nameOf(old));
    for (const it of found) {
      assert.ok(model.related(it).has(old), `${nameOf(old)} → ${nameOf(it)}`);
    }
  }
});

test("what was rewritten is not all that there is", () => {
  for (const old of gone) {
    const found = model.related(old);
    assert.ok(gone.some((it) => !found.has(it)), nameOf(old));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { markChanges, markOf, signOf, signsOf } from "../../../svodviz/js/data/changes.js";

const CHANGES = { loops: { count: 2, units: [
  { unit: 1, lines: [[0, "+"], [4, "−"]], nodes: [[11, "added"], [99, "changed"]] }] } };

test("lines have signs by stage, unit and number", () => {
  const signs = signsOf(CHANGES);
  assert.equal(signOf(signs, "loops", { unit: 1, number: 1 }), "+");
  assert.equal(signOf(signs, "loops", { unit: 1, number: 5 }), "−");
  assert.equal(signOf(signs, "loops", { unit: 0, number: 1 }), "");
  assert.equal(signOf(signs, "asm", { unit: 1, number: 1 }), "");
});

test("nodes have marks in their scene, and none any more where they are not wanted", () => {
  const scene = { nodes: [{ e: 10 }, { e: 11 }], picture: {}, pictures: new Map() };
  const model = { revision: 0, signs: new Map(),
    stages: [{ id: "loops", units: [{ scene: null }, { scene }] }] };
  markChanges(model, CHANGES);
  assert.deepEqual([...scene.marks], [[1, "added"]]);
  assert.equal(scene.picture, undefined);
  assert.equal(scene.pictures, undefined);
  assert.equal(model.revision, 1);
  markChanges(model, {});
  assert.equal(scene.marks.size, 0);
  assert.equal(signOf(model.signs, "loops", { unit: 1, number: 1 }), "");
});

test("nodes drawn as one have the mark that all have; else one has changed", () => {
  const marks = new Map([[1, "added"], [2, "added"], [3, "changed"]]);
  assert.equal(markOf([1, 2], marks), "added");
  assert.equal(markOf([1, 4], marks), "changed");
  assert.equal(markOf([4, 5], marks), "");
  assert.equal(markOf([1], undefined), "");
});

// Groups that a query finds, and the groups around a node or a group.

import assert from "node:assert/strict";
import { test } from "node:test";

import { groupHits, namesAround, namesAroundAll } from "../../../../svodviz/js/data/graph/around.js";
import { scopeGroups } from "../../../../svodviz/js/data/graph/scopes.js";
import { termsOf } from "../../../../svodviz/js/data/query.js";

// block holds norm, which holds the call of mean; softmax stands next to norm
const scopes = [["function", "block", -1, [], 1], ["function", "norm", 0, [], 1],
  ["call", "mean", 1, [], 1], ["call", "softmax", 0, [], 1]];
const row = (e, scope) => ({ e, op: "mul", kind: "elementwise", scope, label: ["mul"],
  dtype: "f32", shape: "[4]" });
const nodes = [row(0, 2), row(1, 2), row(2, 3), row(3, -1)];
const scene = { nodes, edges: [[0, 1, 0, "data"], [1, 2, 0, "data"], [2, 3, 0, "data"]] };
const model = { scopes, parents: nodes.map(() => []), lineOf: new Map(), madeBy: new Map(),
  callCounts: null, stageById: new Map(), successors: () => [], linesOf: () => [12] };
const groups = scopeGroups(model, scene, "path");
const nameOf = (scope) => groups.find((it) => it.scope === scope).name;

test("groups are found by title, by line and by kind", () => {
  const find = (query) => groupHits(model, scene, groups, termsOf(query)).map((it) => it.group);
  assert.deepEqual(find("norm"), [nameOf(1)]);
  assert.deepEqual(find("softmax"), [nameOf(3)]);
  assert.deepEqual(find("nothing"), []);
  assert.equal(find("line:12").length, groups.length);
  assert.deepEqual(groupHits(model, scene, groups, termsOf("softmax"))[0].entity, 2);
});

test("a node opens all groups around it, a group those around itself", () => {
  assert.deepEqual(namesAround(groups, 0), [nameOf(2), nameOf(1), nameOf(0)]);
  assert.deepEqual(namesAround(groups, 2), [nameOf(3), nameOf(0)]);
  assert.deepEqual(namesAround(groups, 3), []);
  assert.deepEqual(namesAround(groups, 0, nameOf(2)), [nameOf(1), nameOf(0)]);
  assert.deepEqual(namesAround(groups, 0, nameOf(0)), []);
});

test("the groups around several nodes open, unless that is too much", () => {
  assert.deepEqual(namesAroundAll(groups, [0, 1, 3]), [nameOf(2), nameOf(1), nameOf(0)]);
  assert.deepEqual(namesAroundAll(groups, [3]), []);
  assert.deepEqual(namesAroundAll(groups, []), []);
  assert.deepEqual(namesAroundAll(groups, Array.from({ length: 25 }, () => 0)), []);
  const large = [{ name: "many", key: "many", parent: -1, nodes: [...Array(300).keys()] }];
  assert.deepEqual(namesAroundAll(large, [5]), []);
});

// Calls, functions and iterations as groups in each other.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inherited } from "../../../../svodviz/js/data/graph/inherited.js";
import { layOutParts } from "../../../../svodviz/js/data/graph/parts.js";
import {
  openedWith, openWithin, scopeGroups, scopeWords,
} from "../../../../svodviz/js/data/graph/scopes.js";

// norm × 3, each of two calls: a mean of two nodes, a subtraction of one
const scopes = [["repeat", "norm", -1, [], 3]];
const iteration = (parent, number) => {
  const at = scopes.push(["function", `norm ${number}`, parent, [], 1]) - 1;
  scopes.push(["call", "mean", at, [], 1], ["call", "sub", at, [], 1]);
};
iteration(0, 1);
const rest = scopes.push(["rest", "iterations 2 … 3", 0, [], 1]) - 1;
iteration(rest, 2);
iteration(rest, 3);
const calls = scopes.flatMap(([kind], at) => (kind === "call" ? [at] : []));

const nodes = [{ e: 0, op: "buffer", kind: "buffer", label: ["x"], w: 40, h: 30 }];
const edges = [];
let last = 0;
calls.forEach((scope, i) => {
  const add = (op, kind, from) => {
    const node = nodes.push({ e: nodes.length, op, kind, scope, label: [op, "f32[4]"], w: 60, h: 40,
      dtype: "f32", shape: "[4]" }) - 1;
    from.forEach((it) => edges.push([it, node, 0, "data"]));
    return node;
  };
  if (i % 2) last = add("sub", "elementwise", [last, last - 2]);
  else last = add("mul", "elementwise", [add("reduce add", "reduce", [last])]);
});
const model = { scopes, parents: nodes.map(() => []), lineOf: new Map(), madeBy: new Map(), callCounts: null,
  stageById: new Map(), successors: () => [] };
const scene = { nodes, edges };
const words = (group, rows) => scopeWords(model, group, rows);

test("groups stand in each other, the outer before the inner", () => {
  const groups = scopeGroups(model, scene, "path");
  assert.equal(groups.length, scopes.length);
  groups.forEach(({ parent }, i) => assert.ok(parent < i));
  assert.equal(groups[0].nodes.length, 9, "the input stands in none");
});

test("of some kinds alone, groups stand in the next one that is there", () => {
  const groups = scopeGroups(model, scene, "call");
  assert.deepEqual(groups.map((it) => [it.key, it.parent]),
    ["mean", "sub", "mean", "sub", "mean", "sub"].map((it) => [it, -1]));
});

test("folded, a repetition is one box that says how often and of how much", () => {
  const groups = scopeGroups(model, scene, "path");
  const { parts, rows, frames } = layOutParts(scene, { groups, words, by: "path" });
  assert.equal(parts.length, 2);
  assert.deepEqual(rows[1].label, ["norm × 3", "2 operators each → f32[4]"]);
  assert.deepEqual(frames, []);
});

test("what it gives is its result, not a view of that which others read", () => {
  const named = { ...model, scopes: [["function", "norm", -1, [], 1, 0]], callCounts: null };
  const rows = [{ e: 0, kind: "elementwise", dtype: "f32", shape: "[4]" },
    { e: 1, kind: "movement", dtype: "f32", shape: "[4,9]" }];
  const detail = (found) => scopeWords(named, { scope: 0 }, found).detail;
  assert.equal(detail(rows), "0 operators → f32[4]");
  assert.equal(detail(rows.slice(1)), "0 operators → f32[4,9]", "rewritten: what is there last");
});

test("open, it shows the first iteration and the others as one box", () => {
  const groups = scopeGroups(model, scene, "path");
  const open = openedWith(model, groups, "scope 0");
  assert.deepEqual(open, ["scope 0", "scope 1"]);
  const { rows, parts, boxes, frames } = layOutParts(scene, { groups, open, words, by: "path" });
  assert.deepEqual(rows.map((it) => it.label[0]), ["x", "mean", "sub", "iterations 2 … 3"]);
  assert.equal(rows[1].kind, "reduce", "a call has the colour of what does its work");
  assert.equal(rows[2].fold, undefined, "a call of one node is that node");
  const [outer, inner] = frames;
  assert.deepEqual([outer[0], inner[0]], ["norm × 3: 9 nodes", "norm 1: 3 nodes"]);
  assert.ok(outer[1] < inner[1] && outer[2] < inner[2]
    && outer[1] + outer[3] > inner[1] + inner[3], "a frame stands in the other");
  const isIn = ([, x, y, w, h], [left, top, right, bottom]) =>
    x <= left && y <= top && right <= x + w && bottom <= y + h;
  assert.deepEqual(parts.map((_, i) => frames.map((it) => isIn(it, boxes[i]))),
    [[false, false], [true, true], [true, true], [true, false]]);
});

test("what opens at first stays within so many boxes", () => {
  const groups = scopeGroups(model, scene, "path");
  assert.deepEqual(openWithin(model, groups, nodes.length, 2), []);
  assert.deepEqual(openWithin(model, groups, nodes.length, 3), ["scope 0"]);
  assert.deepEqual(openWithin(model, groups, nodes.length, 4), ["scope 0", "scope 1"]);
});

test("what is the same in all graphs is one layout", () => {
  const groups = scopeGroups(model, scene, "path");
  const look = { groups, open: ["scope 0"], words, by: "path" };
  assert.deepEqual(layOutParts(scene, look).boxes, layOutParts(scene, look).boxes);
});

test("a node that a pass made has the scope of most that it was made of", () => {
  const made = { ...model, parents: [[], [], [], [1, 2, 0]] };
  assert.equal(inherited(made, { e: 3 }, new Map([[0, 7], [1, 5], [2, 5]])), 5);
  const rewritten = { ...model, parents: [[], [], []], madeBy: new Map([[2, { before: 1 }]]) };
  assert.equal(inherited(rewritten, { e: 2 }, new Map([[1, 4]])), 4);
  assert.equal(inherited(rewritten, { e: 0 }, new Map()), undefined);
});

test("of ten thousand nodes only what is drawn is put into words", () => {
  const many = { ...model, scopes: [["repeat", "step", -1, [], 2500]], callCounts: null };
  const rows = [];
  for (let i = 0; i < 2500; i += 1) {
    const at = many.scopes.push(["iteration", `iteration ${i}`, 0, [], 1]) - 1;
    const call = many.scopes.push(["call", "add", at, [], 1]) - 1;
    for (let k = 0; k < 4; k += 1) rows.push({ ...nodes[1], e: rows.length, scope: call });
  }
  const groups = scopeGroups(many, { nodes: rows, edges: [] }, "path");
  assert.equal(groups.length, many.scopes.length);
  const open = openWithin(many, groups, rows.length, 40);
  let told = 0;
  const { parts } = layOutParts({ nodes: rows, edges: [] }, { groups, open, by: "path",
    words: (group, found) => { told += 1; return scopeWords(many, group, found); } });
  assert.equal(parts.length, 1);
  assert.equal(told, 1);
});

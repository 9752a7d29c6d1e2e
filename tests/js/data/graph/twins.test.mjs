// Forward and back: groups that are partners, and what a picture shows of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layOutParts } from "../../../../svodviz/js/data/graph/parts.js";
import { stagePicture } from "../../../../svodviz/js/data/graph/picture.js";
import {
  openedWith, openWithin, scopeGroups, scopeWords,
} from "../../../../svodviz/js/data/graph/scopes.js";
import {
  backWords, isBack, isMostlyBack, pairsOf, partnersIn, twinName, withTwins,
} from "../../../../svodviz/js/data/graph/twins.js";

// Net of two modules of two nodes each, the backward pass with two nodes each, and an optimiser.
const scopes = [
  ["module", "Net", -1, [], 1, -1], ["module", "first", 0, [], 1, -1],
  ["module", "last", 0, [], 1, -1], ["optimizer", "SGD", -1, [], 1, -1],
  ["call", "assign", 3, [], 1, -1],
];
const nodes = [];
const node = (op, scope, back = false) => nodes.push({ e: nodes.length, op, kind: "elementwise",
  label: [op, "f32[4]"], w: 60, h: 40, dtype: "f32", shape: "[4]",
  ...(scope < 0 ? {} : { scope }), ...(back ? { back } : {}) }) - 1;
const order = [["x", -1], ["mul", 1], ["exp", 1], ["mul", 2], ["exp", 2], ["g", 2, true],
  ["h", 2, true], ["i", 1, true], ["j", 1, true], ["assign", 4], ["assign", 4]];
order.forEach((it) => node(...it));
const edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [3, 6], [6, 7], [7, 8], [1, 8],
  [8, 9], [9, 10]].map(([from, to]) => [from, to, 0, "data"]);
const scene = { nodes, edges };
const model = { scopes, parents: nodes.map(() => []), lineOf: new Map(), madeBy: new Map(),
  callCounts: null, backs: null, successors: () => [], partners: new Map([[2, [7]], [7, [2]]]),
  stageById: new Map([["graph", { units: [{ scene }] }]]) };
const groups = scopeGroups(model, scene, "path");
const words = (group, rows) => scopeWords(model, group, rows);
const look = { by: "path", groups, words };

test("each module is two groups, each in that of its own direction", () => {
  assert.deepEqual(groups.map(({ key, parent, nodes: own }) => [key, parent, own.length]), [
    ["Net", -1, 4], ["Net ↺", -1, 4], ["first", 0, 2], ["first ↺", 1, 2], ["last", 0, 2],
    ["last ↺", 1, 2], ["SGD", -1, 2], ["assign", 6, 2],
  ]);
  assert.deepEqual(pairsOf(groups).slice(0, 4), [[0, 1], [1, 0], [2, 3], [3, 2]]);
  assert.deepEqual(pairsOf(groups)[6], [6]);
});

test("the names of the two lead to each other", () => {
  assert.equal(twinName("scope 1"), "scope 1 ↺");
  assert.equal(twinName("scope 1 ↺"), "scope 1");
  assert.deepEqual(withTwins(["scope 1", "scope 1 ↺"]), ["scope 1", "scope 1 ↺"]);
});

test("both open together, and count as one; an optimiser stays closed", () => {
  assert.deepEqual(openedWith(model, groups, "scope 0"), ["scope 0", "scope 0 ↺"]);
  assert.deepEqual(openedWith(model, groups, "scope 3"), ["scope 3"]);
  const few = openWithin(model, groups, nodes.length, 6);
  assert.deepEqual(few, ["scope 0", "scope 0 ↺"]);
  assert.ok(!openWithin(model, groups, nodes.length, 40).includes("scope 3"));
});

test("folded, the backward pass is marked, with its number of nodes", () => {
  const { rows, parts } = layOutParts(scene, { ...look, open: ["scope 0", "scope 0 ↺"] });
  assert.deepEqual(rows.map((it) => [it.label[0], Boolean(it.back)]), [["x", false],
    ["first", false], ["last", false], ["last ↺", true], ["first ↺", true], ["SGD", false]]);
  assert.equal(rows[3].label[1], "2 nodes → f32[4]");
  assert.equal(parts.length, 6);
  const members = groups[1].nodes.map((it) => nodes[it]);
  assert.equal(backWords(members), "all 4 nodes in the backward pass");
  assert.equal(backWords(nodes), "4 of 11 nodes in the backward pass");
  assert.equal(backWords([nodes[0]]), "");
  assert.ok(isMostlyBack(members) && !isMostlyBack(nodes));
});

test("stored activations are drawn with a selection, where their reader reads more", () => {
  const { links } = layOutParts(scene, { ...look, open: ["scope 0", "scope 0 ↺"] });
  const loose = links.filter((it) => it.isLoose).map(({ from, to }) => [from, to]);
  assert.deepEqual(loose, [[1, 4]], "not the loss, where the backward pass begins");
});

test("a group's partner is the group of the other direction, else what its nodes' are", () => {
  const open = ["scope 0", "scope 0 ↺"];
  const picture = stagePicture(scene, "graph 0", { ...look, open });
  const of = (name) => picture.nodes.find((it) => it.row.fold === name);
  assert.deepEqual([...partnersIn(model, picture, of("scope 1"))], [of("scope 1 ↺")]);
  assert.deepEqual([...partnersIn(model, picture, of("scope 2 ↺"))], [of("scope 2")]);
  assert.deepEqual([...partnersIn(model, picture, of("scope 3"))], []);
  assert.deepEqual([...partnersIn(model, picture, undefined)], []);
  const wide = stagePicture(scene, "graph 0", { ...look, open: [...open, "scope 1 ↺"] });
  const first = wide.nodes.find((it) => it.row.fold === "scope 1");
  assert.deepEqual([...partnersIn(model, wide, first)], [wide.byEntity.get(7)]);
});

test("a node that only a replay shows belongs to the backward pass if what it became does", () => {
  const successors = (it) => (it === 11 ? [8] : []);
  const replay = { ...model, parents: [...model.parents, []], successors };
  assert.equal(isBack(replay, { e: 11 }), true);
  assert.equal(isBack(replay, { e: 0 }), false);
  const plain = { ...model, backs: null, stageById: new Map() };
  assert.equal(isBack(plain, { e: 8 }), false, "a program without gradients has none");
});

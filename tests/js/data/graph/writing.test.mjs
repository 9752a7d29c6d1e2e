// Drawn graphs as text for other programs; what these read of it a test in Python tells.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stagePicture } from "../../../../svodviz/js/data/graph/picture.js";
import { dotOf, insideOf, mermaidOf, nodeLinkOf, writtenOf }
  from "../../../../svodviz/js/data/graph/writing.js";
import { Model } from "../../../../svodviz/js/data/model.js";

const model = new Model(JSON.parse(readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8")));
const { scene } = model.stageById.get("graph").units[0];
const picture = stagePicture(scene, "graph 0");

test("a drawn graph is written as it is, a part with the edges inside it", () => {
  const all = writtenOf("g", model, picture);
  assert.equal(all.nodes.length, scene.nodes.length);
  assert.equal(all.edges.length, scene.edges.length);
  const { from, to } = picture.edges[0];
  const part = writtenOf("g", model, picture, [from, to, from]);
  assert.deepEqual(part.nodes.map((it) => it.id), [from, to].map((it) => model.entities[it.row.e]));
  assert.ok(part.edges.length >= 1 && part.edges.every((it) => it.from !== it.to));
});

test("a folded group is one node, and can be written from inside", () => {
  const keys = scene.nodes.map(() => "a");
  const folded = stagePicture(scene, "graph 0", { keys, by: "test" });
  const box = folded.nodes.find((it) => it.row.fold);
  const group = writtenOf("g", model, folded).nodes.find((it) => it.id.startsWith("group "));
  assert.equal(group.facts.nodes, box.members.length);
  assert.equal(insideOf("g", model, scene, box).nodes.length, box.members.length);
});

test("no name ends its quotes", () => {
  const label = ['a"b\\c', "<b>&amp;</b>", "x]\n%%{init}%%"];
  const hostile = { name: 'n"}', nodes: [{ id: 'i"\\', label, facts: {} }],
    edges: [{ from: 'i"\\', to: 'i"\\', operand: 0, kind: "data" }] };
  const dot = dotOf(hostile);
  assert.ok(dot.startsWith('digraph "n\\"}" {\n'));
  assert.ok(dot.includes('label="a\\"b\\\\c\\n<b>&amp;amp;</b>\\n'));
  const chart = mermaidOf(hostile);
  assert.equal(chart.match(/"/g).length, 2);
  assert.ok(!/[<>&#]/.test(chart.replaceAll("<br>", "").replace(/#\d+;/g, "").replace("-->", "")));
  assert.deepEqual(JSON.parse(nodeLinkOf(hostile)).nodes, [{ id: 'i"\\' }]);
});

test("edges between the same two nodes have keys of their own", () => {
  const edge = { from: "a", to: "b", operand: 0, kind: "data" };
  const nodes = ["a", "b"].map((id) => ({ id, label: [], facts: {} }));
  const both = { name: "", nodes, edges: [edge, { ...edge, operand: 1 }] };
  const { edges } = JSON.parse(nodeLinkOf(both));
  assert.deepEqual(edges.map((it) => it.key), [0, 1]);
});

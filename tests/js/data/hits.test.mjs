// The list of matches in all stages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { KINDS, sectionsOf } from "../../../svodviz/js/data/hits.js";
import { Model } from "../../../svodviz/js/data/model.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const model = new Model(JSON.parse(WIRE));
const find = (query, most) => Object.fromEntries(
  sectionsOf(model, query, most).map(({ kind, hits, count }) => [kind, { hits, count }]));

test("an empty query finds nothing, and neither does one that is nowhere", () => {
  assert.deepEqual(sectionsOf(model, "  "), []);
  assert.deepEqual(sectionsOf(model, "no such thing at all"), []);
});

test("sections keep the order of the kinds", () => {
  const order = KINDS.map(([kind]) => kind);
  const kinds = sectionsOf(model, "a").map(({ kind }) => kind);
  assert.ok(kinds.length > 4);
  assert.deepEqual(kinds, order.filter((kind) => kinds.includes(kind)));
});

test("a kernel is found by its name and by its title", () => {
  const { name } = model.stageById.get("loops").units[1];
  assert.equal(find(name).kernel.hits[0].at.unit, 1);
  const titled = new Model(JSON.parse(WIRE));
  titled.kernelByName.set(name, { name, e: 3, short: "k7 matmul+relu",
    title: "k7 matmul+relu 64×32, line 12" });
  for (const query of ["k7", "matmul", "relu 64×32", name]) {
    const [{ hits: [hit] }] = sectionsOf(titled, query).filter(({ kind }) => kind === "kernel");
    assert.deepEqual([hit.title, hit.detail, hit.entity, hit.at.unit],
      ["k7 matmul+relu", "64×32, line 12", 3, 1], query);
  }
});

test("passes and rules lead to their place", () => {
  const pass = model.passes.findIndex(({ rewrites }) => rewrites.length);
  const { name, rewrites } = model.passes[pass];
  assert.ok(find(name, 500).pass.hits.some((it) => it.at.pass === pass && it.at.step === -1));
  const [rule] = model.rules[rewrites[0][0]];
  const [hit] = find(rule).rule.hits;
  assert.equal(hit.title, rule);
  const made = model.passes[hit.at.pass].rewrites[hit.at.step - 1];
  assert.equal(model.rules[made[0]][0], rule);
});

test("inputs, nodes, items, buffers and lines have entities of their stage", () => {
  for (const [kind, stage] of [["input", "graph"], ["node", "graph"], ["item", "schedule"],
    ["buffer", "schedule"], ["line", "source"]]) {
    const all = sectionsOf(model, "a", 1e6).concat(sectionsOf(model, "k", 1e6),
      sectionsOf(model, "x", 1e6));
    const hits = all.filter((it) => it.kind === kind).flatMap((it) => it.hits);
    assert.ok(hits.length, kind);
    for (const hit of hits) assert.equal(model.stageOf(hit.entity), stage);
  }
});

test("at most so many are listed, all are counted, whole titles come first", () => {
  const { hits, count } = find("add", 2).text ?? find("load", 2).text;
  assert.equal(hits.length, 2);
  assert.ok(count > 2);
  const nodes = find("reduce", 50).node?.hits ?? [];
  const ranks = nodes.map(({ title }) => title.toLowerCase().indexOf("reduce"));
  assert.deepEqual(ranks, ranks.map((it) => (it < 0 ? 1e9 : it)).sort((a, b) => a - b)
    .map((it) => (it === 1e9 ? -1 : it)));
});

test("fields of a query hold for nodes", () => {
  const { hits } = find("op:reduce", 100).node;
  assert.ok(hits.length && hits.every((it) => it.fields.op.includes("reduce")));
});

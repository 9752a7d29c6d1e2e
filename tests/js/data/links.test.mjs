// Links between what is the same thing at several stages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ascend, childrenOf, closure, descend } from "../../../svodviz/js/data/links.js";

const CHAIN = {
  "source:1": [], "source:2": [],
  "graph:1": ["source:1"], "graph:2": ["source:2"],
  "kernels:1": ["graph:1", "graph:2"], "schedule:0": ["kernels:1"],
  "loops:0:1": ["schedule:0", "graph:1"], "loops:0:2": ["schedule:0", "graph:2"],
  "loops:0:head": ["schedule:0"], "llvm:0:1": ["loops:0:1"],
};
const NAMES = Object.keys(CHAIN);
const PARENTS = NAMES.map((name) => CHAIN[name].map((parent) => NAMES.indexOf(parent)));
const stageOf = (entity) => NAMES[entity].split(":")[0];

/** All names that belong to one. */
function related(name) {
  const found = closure(NAMES.indexOf(name), PARENTS, childrenOf(PARENTS), stageOf);
  return new Set([...found].map((it) => NAMES[it]));
}

const MISSING = {
  // A line that names its own node is not linked to the others of its kernel, nor back.
  "llvm:0:1": ["source:2", "graph:2", "loops:0:2", "loops:0:head"],
  "graph:2": ["source:1", "graph:1", "loops:0:1", "loops:0:head", "llvm:0:1"],
  // An entity of the whole kernel is linked to all above it, and a kernel to everything.
  "loops:0:head": ["loops:0:1", "loops:0:2", "llvm:0:1"],
  "schedule:0": [],
  "kernels:1": [],
};

for (const [start, missing] of Object.entries(MISSING)) {
  test(`links from ${start} take the finest way`, () => {
    assert.deepEqual(related(start), new Set(NAMES.filter((it) => !missing.includes(it))));
  });
}

test("links lead both ways", () => {
  for (const one of NAMES) {
    for (const other of related(one)) {
      const isCoarse = [one, other].some((it) => /kernels|schedule|head/.test(it));
      assert.ok(isCoarse || related(other).has(one), `${one} → ${other}`);
    }
  }
});

test("what descends from a node is no ancestor of it", () => {
  const found = descend(NAMES.indexOf("graph:1"), childrenOf(PARENTS), stageOf);
  assert.ok(!found.has(NAMES.indexOf("source:1")));
  assert.ok(found.has(NAMES.indexOf("llvm:0:1")));
});

test("what a node descends from is none of its descendants", () => {
  const found = ascend(NAMES.indexOf("loops:0:1"), PARENTS, stageOf);
  assert.deepEqual([...found].map((it) => NAMES[it]).sort(),
    ["graph:1", "kernels:1", "loops:0:1", "schedule:0", "source:1"]);
});

test("a cycle of parents ends", () => {
  const parents = [[1], [0]];
  assert.equal(closure(0, parents, childrenOf(parents), () => "graph").size, 2);
});

// Steps of passes, folded like the graph: nothing is lost, what stays holds its place.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { FOLDINGS, foldingsOf, lookOf } from "../../../../svodviz/js/data/graph/groupings.js";
import { Model } from "../../../../svodviz/js/data/model.js";
import { replayScene, passPicture } from "../../../../svodviz/js/data/graph/passpicture.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const model = () => new Model(JSON.parse(WIRE));

/** Every step of every pass, whole and folded in each way that makes groups. */
function* folded(it) {
  for (const [pass, record] of it.passes.entries()) {
    const { steps } = it.replays[record.replay].passes[record.replay_pass];
    const scene = replayScene(it, pass);
    for (const [folding] of foldingsOf(it, scene, record.stage)) {
      const look = lookOf(it, scene, record.stage, { folding, open: [] });
      for (let step = -1; step <= steps.length; step += 1) {
        const whole = passPicture(it, pass, step);
        yield { pass, step, folding, whole, part: passPicture(it, pass, step, look), scene, look };
      }
    }
  }
}

const entities = (nodes) => nodes.flatMap((it) => it.members.map((row) => row.e)).sort();

test("folded steps hold what the steps hold", () => {
  const it = model();
  let groups = 0;
  for (const { whole, part } of folded(it)) {
    assert.deepEqual(entities(part.nodes), entities(whole.nodes));
    assert.equal(part.all, whole.nodes.length);
    const known = new Set(part.nodes);
    assert.ok(part.edges.every(({ from, to }) => known.has(from) && known.has(to)));
    groups += part.nodes.filter((node) => node.row.fold).length;
  }
  assert.ok(groups > 100);
});

test("every edge of a step is drawn, or inside a group", () => {
  for (const { whole, part } of folded(model())) {
    const drawn = part.edges.reduce((sum, edge) => sum + edge.count, 0);
    const inside = whole.edges.filter(({ from, to }) => {
      const [a, b] = [part.byEntity.get(from.row.e), part.byEntity.get(to.row.e)];
      return a === b && a.row.fold;
    }).length;
    assert.equal(drawn + inside, whole.edges.length);
  }
});

test("what stays holds its place in all steps that share a layout", () => {
  const places = new Map();
  for (const { folding, part } of folded(model())) {
    for (const node of part.nodes) {
      const name = node.row.fold ?? node.row.e;
      const key = `${part.key} ${folding} ${name}`;
      const place = [node.x, node.y, node.row.w, node.row.h];
      assert.deepEqual(places.get(key) ?? place, place);
      places.set(key, place);
    }
  }
});

test("a rewrite marks the groups in which it changed something, and no others", () => {
  const it = model();
  let marked = 0;
  for (const { whole, part, step } of folded(it)) {
    const changed = new Set(whole.nodes.filter((node) => node.mark)
      .map((node) => part.byEntity.get(node.row.e)));
    for (const node of part.nodes) {
      if (step >= 0) assert.equal(Boolean(node.mark), changed.has(node), node.row.label.join(" "));
      else if (changed.has(node)) assert.ok(node.mark);
      if (node.row.fold && node.mark) {
        assert.ok(node.rewrites > 0);
        assert.match(node.row.label[1], /^\d+ rewrite/);
        marked += 1;
      }
    }
    if (step >= 0) assert.ok(part.nodes.every((node) => (node.rewrites ?? 0) <= 1));
  }
  assert.ok(marked > 10);
});

test("an open group shows its nodes, in steps of passes too", () => {
  const it = model();
  const pass = it.passes.findIndex((record) => record.stage === "graph" && record.changed);
  const scene = replayScene(it, pass);
  const [[folding]] = foldingsOf(it, scene, "graph");
  const before = passPicture(it, pass, -1, lookOf(it, scene, "graph", { folding, open: [] }));
  const group = before.nodes.find((node) => node.row.fold && node.members.length > 1);
  const opened = lookOf(it, scene, "graph", { folding, open: [group.group] });
  const after = passPicture(it, pass, -1, opened);
  assert.equal(after.nodes.length, before.nodes.length - 1 + group.members.length);
  assert.equal(after.groups.length, 1);
  assert.notEqual(after.key, before.key);
});

test("a step that is shown again is not made again", () => {
  const it = model();
  assert.equal(passPicture(it, 0, 0), passPicture(it, 0, 0));
  assert.notEqual(passPicture(it, 0, 0), passPicture(it, 0, -1));
});

test("all ways of folding are tried", () => {
  const seen = new Set([...folded(model())].map((it) => it.folding));
  assert.ok(seen.size >= 2, [...seen].join());
  assert.ok([...seen].every((id) => FOLDINGS.some(([known]) => known === id)));
});

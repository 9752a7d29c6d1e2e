// Model and store on the sample compilation, whose data the tests in Python write.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Model } from "../../../svodviz/js/data/model.js";
import { passPicture } from "../../../svodviz/js/data/graph/passpicture.js";
import { stagePicture } from "../../../svodviz/js/data/graph/picture.js";
import { Store } from "../../../svodviz/js/data/store.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const model = () => new Model(JSON.parse(WIRE));
const store = (saved) => new Store(model(), saved);

test("data of another version is refused in words", () => {
  assert.throws(() => new Model({ ...JSON.parse(WIRE), version: 0 }), /not 0/);
  assert.throws(() => new Model({ format: "other" }), /svodviz data/);
});

test("every saved state that cannot be becomes one that can", () => {
  const hopeless = {
    stage: "nonsense", unit: 99, view: "nowhere", pass: -3, step: 1e9, selected: "graph:none",
    columns: "text",
  };
  for (const [name, value] of Object.entries(hopeless)) {
    const made = store({ [name]: value });
    assert.notDeepEqual(made.state[name], value, name);
    assert.ok(made.allowedViews().includes(made.state.view), name);
    assert.equal(made.state.columns.length, 3);
  }
});

test("a sound state comes back as it was saved", () => {
  const first = store({ stage: "loops", unit: 2, view: "text", selected: "graph:13" });
  assert.deepEqual(store(JSON.parse(JSON.stringify(first.state))).state, first.state);
});

test("each stage opens in a view it has, and remembers the last", () => {
  const made = store();
  for (const { id } of made.model.stages) {
    made.set({ stage: id });
    assert.ok(made.allowedViews().includes(made.state.view), id);
  }
  made.set({ stage: "graph", view: "text" });
  made.set({ stage: "asm" });
  made.set({ stage: "graph" });
  assert.equal(made.state.view, "text");
});

test("listeners hear the state and what it was", () => {
  const made = store();
  const heard = [];
  made.subscribe((now, before) => heard.push([now.stage, before.stage]));
  made.set({ stage: "asm" });
  assert.deepEqual(heard, [["asm", "graph"]]);
});

test("hovering tells each change once", () => {
  const made = store();
  const heard = [];
  made.onHover((entity) => heard.push(entity));
  [3, 3, -1, -1].forEach((entity) => made.hover(entity));
  assert.deepEqual(heard, [3, -1]);
});

test("steps end at both ends", () => {
  const made = store();
  made.movePass(1, true);
  made.moveStep(-1);
  for (let i = 0; i < 2 * made.steps + 5; i += 1) made.moveStep(1);
  assert.equal(made.state.step, made.steps);
  for (let i = 0; i < 2 * made.steps + 5; i += 1) made.moveStep(-1);
  assert.equal(made.state.step, 0);
});

test("a selection opens the kernel in which it is seen", () => {
  const made = store({ stage: "loops" });
  const line = made.model.text("loops").find((row) => row.unit === 2 && row.entity >= 0);
  made.set({ unit: 0 });
  made.select(line.entity);
  assert.equal(made.state.unit, 2);
});

test("each drawn node and each linked line can be visited", () => {
  const made = store();
  for (const entity of made.model.nodesOf.keys()) {
    made.visit(entity);
    assert.equal(made.selected, entity);
    assert.ok(made.model.caption(entity));
  }
});

test("a picture's edges join its nodes", () => {
  const it = model();
  const pictures = it.stages.flatMap((stage) =>
    stage.units.map((unit, position) => stagePicture(unit.scene, `${stage.id} ${position}`)))
    .filter(Boolean);
  it.passes.forEach((record, pass) => {
    const { steps } = it.replays[record.replay].passes[record.replay_pass];
    for (let step = -1; step <= steps.length; step += 1) pictures.push(passPicture(it, pass, step));
  });
  assert.ok(pictures.length > 20);
  for (const { nodes, edges, byEntity } of pictures) {
    const known = new Set(nodes);
    assert.ok(edges.every((edge) => known.has(edge.from) && known.has(edge.to)));
    assert.ok(nodes.every((node) => byEntity.get(node.row.e) === node));
  }
});

test("a pass begins where the one before ended", () => {
  const it = model();
  it.passes.slice(1).forEach((record, index) => {
    if (it.passes[index].replay !== record.replay) return;
    const last = it.replays[record.replay].passes[it.passes[index].replay_pass].steps.length;
    const before = passPicture(it, index, last).nodes.filter((node) => node.mark !== "removed");
    const after = passPicture(it, index + 1, 0).nodes;
    assert.deepEqual(after.map((node) => node.node).sort(), before.map((node) => node.node).sort());
  });
});

// The times of one run, without a page: recorded, asked for, refused, asked for again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Measured, rateOf, ratioOf } from "../../../svodviz/js/data/measured.js";
import { Model } from "../../../svodviz/js/data/model.js";
import { overlayOn, overlaysOf } from "../../../svodviz/js/data/graph/overlay.js";
import { stagePicture } from "../../../svodviz/js/data/graph/picture.js";
import { keyOf } from "../../../svodviz/js/data/requests.js";
import { Store } from "../../../svodviz/js/data/store.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const model = () => new Model(JSON.parse(WIRE));

/** Requests that a test answers. */
class Python {
  constructor({ recorded, isLive = true } = {}) {
    Object.assign(this, { kept: { [keyOf("measure", {})]: recorded }, isLive, asked: [] });
  }

  recorded(name, args) {
    return this.kept[keyOf(name, args)];
  }

  onLive(listener) {
    if (this.isLive) listener();
  }

  onLost() {}

  ask(name, args, onProgress, isFresh) {
    onProgress("running");
    return new Promise((resolve, reject) => this.asked.push({ name, isFresh, resolve, reject }));
  }
}

const answer = (items, factor = 2) => ({
  items: items.map((it) => ({
    ns: it.cost * factor, low: it.cost, high: it.cost * 3, rounds: 5, start: it.start * factor,
    late: it.late * factor, cost: it.cost * factor, critical: it.critical, bound: "computing",
  })),
  whole: 1000, call: 100, rounds: 5, machine: "none", notes: [], results: [], seconds: 1,
});
const settled = () => new Promise((done) => { setTimeout(done, 0); });

test("what was recorded is there at once", () => {
  const made = model();
  const store = new Store(made, {}, new Python({ recorded: answer(made.schedule.items) }));
  assert.ok(store.measured.isKnown);
  const [item] = made.schedule.items;
  assert.equal(item.measured, 2 * item.cost);
  assert.equal(ratioOf(item), "2×");
  assert.equal(made.schedule.when(item, "measured").finish, 2 * item.finish);
  assert.equal(made.schedule.when(item, "estimated").finish, item.finish);
  assert.equal(made.schedule.isCritical(made.schedule.behind[0][0], "measured"),
    made.schedule.behind[0][0].critical);
  const [edge] = made.schedule.behind[0];
  Object.assign(made.schedule.items[edge.from].run, { critical: false });
  assert.equal(made.schedule.isCritical(edge, "measured"), edge.critical);
  Object.assign(made.schedule.items[edge.from].run, { slack: 1 });
  assert.equal(made.schedule.isCritical(edge, "measured"), false);
});

test("nothing is asked before somebody wants it, then once", async () => {
  const python = new Python();
  const made = model();
  const store = new Store(made, {}, python);
  const heard = [];
  store.subscribe(() => heard.push(store.measured.state));
  assert.equal(python.asked.length, 0);
  store.measured.want();
  store.measured.want();
  assert.deepEqual(python.asked.map((it) => [it.name, it.isFresh]), [["measure", true]]);
  assert.equal(store.measured.words, "running");
  python.asked[0].resolve(answer(made.schedule.items));
  await settled();
  assert.ok(store.measured.isKnown);
  assert.deepEqual(heard.slice(-1), ["known"]);
  store.measured.want();
  assert.equal(python.asked.length, 1);
  store.measured.ask();
  assert.equal(python.asked.length, 2);
  python.asked[1].resolve(answer(made.schedule.items, 3));
  await settled();
  assert.equal(made.schedule.items[0].measured, 3 * made.schedule.items[0].cost);
});

test("a failure and a problem are reported in words", async () => {
  const python = new Python();
  const store = new Store(model(), {}, python);
  store.measured.ask();
  python.asked[0].reject(new Error("the kernel is on holiday"));
  await settled();
  assert.match(store.measured.words, /could not be measured: the kernel is on holiday/);
  store.measured.want();
  assert.equal(python.asked.length, 1);
  const other = new Store(model(), {}, new Python({ recorded: { problem: "no data" } }));
  assert.match(other.measured.words, /no data/);
});

test("without a kernel it says what is needed", () => {
  const store = new Store(model());
  store.measured.want();
  assert.equal(store.measured.state, "none");
  assert.match(store.measured.words, /no Python kernel answers/);
});

test("laying measured times over a graph asks for them", async () => {
  const python = new Python();
  const made = model();
  const store = new Store(made, { stage: "schedule", view: "graph" }, python);
  assert.ok(overlaysOf(made).some(([id]) => id === "measured"));
  store.set({ overlay: "measured" });
  assert.equal(python.asked.length, 1);
  const { scene } = made.stageById.get("schedule").units[0];
  const picture = stagePicture(scene, "schedule 0");
  const before = overlayOn(made, scene, picture, "measured", store.measured.words);
  assert.deepEqual([before.costs.size, before.words], [0, "measured time: running"]);
  python.asked[0].resolve(answer(made.schedule.items));
  await settled();
  const { costs } = overlayOn(made, scene, picture, "measured", store.measured.words);
  assert.equal(costs.size, made.schedule.items.length);
  const saved = new Store(model(), { overlay: "measured" }, new Python());
  assert.equal(saved.state.overlay, "measured");
  assert.equal(saved.measured.state, "asking");
});

test("rates have three digits, and none where nothing moves", () => {
  assert.deepEqual([rateOf(12345, 1000), rateOf(0, 10), rateOf(10, 0)], ["12.3", "", ""]);
});

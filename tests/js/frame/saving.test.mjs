// The data that a notebook is set to keep when it is saved.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keepWhenSaved, keptOf } from "../../../svodviz/js/frame/saving.js";

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";

const ours = (more = {}) => ({ state: { _anywidget_id: "svodviz.widget.explorer.Explorer", ...more } });
const others = { state: { _model_name: "LayoutModel" } };

/** A notebook that shows one widget, and the manager of its widgets. */
function notebook(shown) {
  const slots = [];
  const metadata = {};
  const model = {
    toJSON: () => ({ cells: [{}, { outputs: [{}, { data: { [VIEW]: { model_id: shown } } }] }] }),
    setMetadata: (name, value) => { metadata[name] = value; },
  };
  const manager = {
    context: { model, saveState: { connect: (slot) => slots.push(slot) } },
    get_state_sync: () => ({ version_major: 2, version_minor: 0,
      state: { now: ours(), before: ours(), layout: others } }),
  };
  return { manager, metadata, model, save: (phase) => slots.forEach((slot) => slot(null, phase)) };
}

test("widgets are kept when a save begins, once however many explorers there are", () => {
  const { manager, metadata, save } = notebook("now");
  assert.equal(keepWhenSaved(manager), true);
  assert.equal(keepWhenSaved(manager), true);
  save("completed");
  assert.deepEqual(metadata, {});
  save("started");
  assert.deepEqual(Object.keys(metadata.widgets[STATE].state), ["now", "layout"]);
  assert.equal(metadata.widgets[STATE].version_major, 2);
});

test("notebooks of before have their metadata elsewhere", () => {
  const { manager, model, save } = notebook("now");
  const kept = new Map();
  Object.assign(model, { setMetadata: undefined, metadata: kept });
  keepWhenSaved(manager);
  save("started");
  assert.deepEqual(Object.keys(kept.get("widgets")[STATE].state), ["now", "layout"]);
});

test("where the notebook cannot be told, nothing happens", () => {
  for (const manager of [undefined, null, {}, { context: {} }, { get_state_sync: () => ({}) }]) {
    assert.equal(keepWhenSaved(manager), false);
  }
});

test("what a kernel knows stays, shown or not, but ours only where it is shown", () => {
  const state = { a: ours(), b: others, c: {}, d: ours() };
  assert.deepEqual(Object.keys(keptOf(state, state, new Set(["d"]))), ["b", "c", "d"]);
});

test("what no kernel knows stays where an output shows it, with all that it refers to", () => {
  const rows = {
    box: { state: { children: ["IPY_MODEL_inner", "IPY_MODEL_gone"], layout: "IPY_MODEL_layout" } },
    inner: { state: { style: { of: "IPY_MODEL_style" }, label: "an IPY_MODEL_alone" } },
    layout: others, style: others, alone: others, explorer: ours({ layout: "IPY_MODEL_layout" }),
  };
  const kept = (...shown) => Object.keys(keptOf(rows, {}, new Set(shown))).sort();
  assert.deepEqual(kept("box"), ["box", "inner", "layout", "style"]);
  assert.deepEqual(kept("explorer"), ["explorer", "layout"]);
  assert.deepEqual(kept("nowhere"), []);
});

const model = (id, state, isLive) => ({ model_id: id, comm_live: isLive, get_state: () => state });

/** As JupyterLab's manager: the states of the models that a kernel knows. */
function restored(shown, models, saved = {}) {
  const made = notebook(shown);
  const { manager, metadata } = made;
  metadata.widgets = { [STATE]: { state: saved } };
  const slots = [];
  made.change = (oldValue, newValue) =>
    slots.forEach((slot) => slot(null, { key: "widgets", oldValue, newValue }));
  Object.assign(made.model, {
    getMetadata: (name) => metadata[name],
    metadataChanged: { connect: (slot) => slots.push(slot) },
  });
  manager._modelsSync = new Map(models.map((it) => [it.model_id, it]));
  manager.get_state_sync = function states() {
    const live = [...this._modelsSync.values()].filter((it) => it.comm_live);
    return { version_major: 2, version_minor: 0,
      state: Object.fromEntries(live.map((it) => [it.model_id, { state: it.get_state() }])) };
  };
  return made;
}

const keptIn = ({ metadata }) => metadata.widgets[STATE].state;

test("a widget without a kernel is saved as it is now", () => {
  const made = restored("now", [model("now", ours({ at: 2 }).state, false)], { now: ours({ at: 1 }) });
  keepWhenSaved(made.manager);
  for (let time = 0; time < 2; time += 1) {
    made.save("started");
    assert.deepEqual(keptIn(made), { now: ours({ at: 2 }) });
  }
  assert.equal(made.manager._modelsSync.get("now").comm_live, false);
});

test("what the page does not have any more is saved as the file had it", () => {
  const saved = { now: ours({ layout: "IPY_MODEL_layout" }), layout: others, before: ours() };
  for (const broken of [new Map(), undefined]) {
    const made = restored("now", [], saved);
    keepWhenSaved(made.manager);
    made.manager._modelsSync = broken ?? new Map();
    made.save("started");
    assert.deepEqual(Object.keys(keptIn(made)), ["now", "layout"]);
  }
});

test("a manager whose models are not where they were keeps what the file had", () => {
  const made = restored("now", [], { now: ours() });
  made.manager.get_state_sync = () => ({ state: {} });
  delete made.manager._modelsSync;
  keepWhenSaved(made.manager);
  made.save("started");
  assert.deepEqual(Object.keys(keptIn(made)), ["now"]);
});

test("models that cannot be asked are kept as the file had them", (context) => {
  context.mock.method(console, "warn", () => {});
  const failing = { ...model("now", {}, false), get_state: () => { throw new Error("gone"); } };
  const made = restored("now", [failing], { now: ours({ at: 1 }) });
  keepWhenSaved(made.manager);
  made.save("started");
  assert.deepEqual(keptIn(made), { now: ours({ at: 1 }) });
});

test("what another one wrote over is known", () => {
  const made = restored("now", []);
  keepWhenSaved(made.manager);
  made.change({ [STATE]: { state: { now: ours() } } }, { [STATE]: { state: {} } });
  made.save("started");
  assert.deepEqual(Object.keys(keptIn(made)), ["now"]);
});

test("what a save lost while the notebook was opened is written back by the first that runs", () => {
  const now = model("now", ours({ at: 2 }).state, false);
  for (const [saved, shown, expected] of [[{}, "now", ["now"]], [{}, "other", []],
    [{ now: ours({ at: 1 }) }, "now", ["now"]]]) {
    const made = restored(shown, [now], saved);
    keepWhenSaved(made.manager);
    assert.deepEqual(Object.keys(keptIn(made)), expected);
    assert.equal(keptIn(made).now?.state.at, expected.length ? saved.now?.state.at ?? 2 : undefined);
  }
  const fresh = restored("now", [{ ...now, comm_live: true }]);
  keepWhenSaved(fresh.manager);
  assert.deepEqual(keptIn(fresh), {}, "what was just made waits for a save");
  keepWhenSaved(fresh.manager);
  fresh.manager._modelsSync.set("now", now); // its kernel is gone
  keepWhenSaved(fresh.manager);
  assert.deepEqual(Object.keys(keptIn(fresh)), ["now"]);
});

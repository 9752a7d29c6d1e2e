// The data that a notebook is told to keep when it is saved.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keepWhenSaved, withoutEarlier } from "../../../svodviz/js/frame/saving.js";

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

test("others' widgets stay, shown or not", () => {
  const state = { a: ours(), b: others, c: {}, d: ours() };
  assert.deepEqual(Object.keys(withoutEarlier(state, new Set(["d"]))), ["b", "c", "d"]);
});

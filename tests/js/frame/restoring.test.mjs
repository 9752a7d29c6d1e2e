// Outputs whose widget was restored after their last look at it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawMissed } from "../../../svodviz/js/frame/restoring.js";

const VIEW = "application/vnd.jupyter.widget-view+json";

const list = (rows) => ({ length: rows.length, get: (index) => rows[index] });

/** A notebook whose cells show these widgets, a list of ids each, and the manager of them. */
function notebook(shown, models) {
  const drawn = [];
  const cells = shown.map((ids, cell) => ({
    outputs: {
      ...list(ids.map((id) => ({ data: id === null ? {} : { [VIEW]: { model_id: id } } }))),
      stateChanged: { emit: (index) => drawn.push([cell, index]) },
    },
  }));
  const manager = {
    context: { model: { cells: list([{}, ...cells]) } },
    has_model: (id) => id in models,
    get_model: async (id) => models[id],
  };
  return { manager, drawn };
}

test("a widget without a view is drawn in every output that shows it", async () => {
  const models = { late: { views: {} }, drawn: { views: { a: 1 } } };
  const { manager, drawn } = notebook([["drawn"], [null, "late"], ["late", "absent"]], models);
  await drawMissed(manager);
  assert.deepEqual(drawn, [[1, 1], [2, 0]]);
});

test("an output that finds its widget by itself is left alone", async () => {
  const models = { late: { views: {} } };
  const { manager, drawn } = notebook([["late"]], models);
  const done = drawMissed(manager);
  models.late.views.a = 1;
  await done;
  assert.deepEqual(drawn, []);
});

test("a widget that comes meanwhile is left to its output", async () => {
  const models = {};
  const { manager, drawn } = notebook([["late"]], models);
  const done = drawMissed(manager);
  models.late = { views: {} };
  await done;
  assert.deepEqual(drawn, []);
});

test("the looks that outputs began before end first", async () => {
  const models = { late: { views: {} } };
  const { manager, drawn } = notebook([["late"]], models);
  setTimeout(() => { models.late.views.a = 1; }, 100);
  await drawMissed(manager);
  assert.deepEqual(drawn, []);
});

test("a notebook or a widget that is closed meanwhile, or never made, is not drawn", async () => {
  const closed = notebook([["late"]], { late: { views: {} } });
  const done = drawMissed(closed.manager);
  closed.manager.context = null;
  await done;
  const models = { late: { views: {} }, destroyed: {} };
  const gone = notebook([["late", "destroyed"]], models);
  const ended = drawMissed(gone.manager);
  delete models.late;
  await ended;
  const failing = notebook([["late"]], { late: null });
  failing.manager.get_model = () => Promise.reject(new Error("no class"));
  await drawMissed(failing.manager);
  assert.deepEqual([...closed.drawn, ...gone.drawn, ...failing.drawn], []);
});

test("hosts that are not JupyterLab have nothing to draw", async () => {
  const { manager } = notebook([["late"]], { late: { views: {} } });
  const mute = { ...manager, context: { model: { cells: list([{ outputs: list([
    { data: { [VIEW]: { model_id: "late" } } }]) }]) } } };
  for (const it of [undefined, null, {}, { context: null }, { context: { model: {} } },
    { ...manager, has_model: undefined }, { ...manager, get_model: undefined }, mute]) {
    await drawMissed(it);
  }
});

// Whether the kernel that made a widget is still there.

import assert from "node:assert/strict";
import { test } from "node:test";

import { followKernel, isConnected } from "../../../svodviz/js/data/kernel.js";

test("a widget of a saved notebook is not connected", () => {
  const element = (...names) => ({ classList: { contains: (it) => names.includes(it) } });
  assert.equal(isConnected(element("jupyter-widgets")), true);
  assert.equal(isConnected(element("jupyter-widgets-disconnected")), false);
});

test("a kernel that ends is told, one that works is not, until nobody listens", () => {
  const slots = new Set();
  const heard = new Map();
  let lost = 0;
  const statusChanged = { connect: (it) => slots.add(it), disconnect: (it) => slots.delete(it) };
  const model = { widget_manager: { kernel: { statusChanged } },
    on: (event, it) => heard.set(event, it), off: (event) => heard.delete(event) };
  const end = followKernel(model, () => { lost += 1; });
  const tell = (status) => slots.forEach((slot) => slot(null, status));
  ["busy", "idle", "restarting", "dead"].forEach(tell);
  assert.equal(lost, 2);
  heard.get("comm_live_update")();
  assert.equal(lost, 3);
  end();
  assert.deepEqual([slots.size, heard.size], [0, 0]);
});

test("a notebook that tells nothing of its kernel is followed as far as it goes", () => {
  const model = { on: () => {}, off: () => {} };
  assert.doesNotThrow(followKernel(model, () => {}));
});

// What a page of its own remembers of panels.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { rememberRoom } from "../../../svodviz/js/frame/remembering.js";

/** A store that notes what is set. */
function storeWith(state) {
  const listeners = [];
  return {
    state, taken: [],
    set(patch) { this.taken.push(patch); },
    subscribe: (listener) => listeners.push(listener),
    become(now) {
      const before = this.state;
      this.state = { ...before, ...now };
      listeners.forEach((listener) => listener(this.state, before));
    },
  };
}

/** A browser's storage, in a plain object. */
function storage(kept = {}) {
  globalThis.localStorage = {
    getItem: (key) => kept[key] ?? null, setItem: (key, text) => { kept[key] = text; } };
  return kept;
}

afterEach(() => { delete globalThis.localStorage; });

test("what one page was told the next one takes over", () => {
  storage();
  const first = storeWith({ panels: {}, sizes: {}, stage: "graph" });
  rememberRoom(first);
  first.become({ sizes: { passes: 300 } });
  const next = storeWith({ panels: {}, sizes: {} });
  rememberRoom(next);
  assert.deepEqual(next.taken, [{ panels: {}, sizes: { passes: 300 } }]);
});

test("other changes are not written", () => {
  const kept = storage();
  const store = storeWith({ panels: {}, sizes: {}, stage: "graph" });
  rememberRoom(store);
  store.become({ stage: "asm" });
  assert.deepEqual(kept, {});
});

test("what is broken, or no storage at all, is no obstacle", () => {
  storage({ "svodviz room": "{" });
  const store = storeWith({ panels: {}, sizes: {} });
  rememberRoom(store);
  delete globalThis.localStorage;
  store.become({ panels: { passes: false } });
  rememberRoom(store);
  assert.deepEqual(store.taken, []);
});

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

test("columns that a page was made with come before those that were remembered", () => {
  const kept = storage();
  const first = storeWith({ columns: ["source", "asm"], shares: [] });
  rememberRoom(first);
  first.become({ columns: ["loops", "asm"], shares: [1, 2] });
  assert.equal("svodviz room" in kept, true);
  const plain = { ...storeWith({}), hasOwnColumns: true };
  rememberRoom(plain);
  assert.deepEqual(plain.taken[0].columns, ["loops", "asm"]);
  assert.deepEqual(plain.taken[0].shares, [1, 2]);
  const made = { ...storeWith({}), hasOwnColumns: false };
  rememberRoom(made);
  assert.deepEqual(Object.keys(made.taken[0]).filter((it) => it === "columns"), []);
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

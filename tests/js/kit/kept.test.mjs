// What the browser keeps for the next page.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { keep, kept } from "../../../svodviz/js/kit/kept.js";

afterEach(() => { delete globalThis.localStorage; });

test("what is kept comes back; what is broken, or not there, is nothing", () => {
  const held = { broken: "{" };
  globalThis.localStorage = {
    getItem: (key) => held[key] ?? null, setItem: (key, text) => { held[key] = text; } };
  keep("theme", "dark");
  assert.equal(kept("theme"), "dark");
  assert.equal(kept("broken"), null);
  assert.equal(kept("other"), null);
});

test("without storage nothing is kept, and nothing fails", () => {
  keep("theme", "dark");
  assert.equal(kept("theme"), null);
});

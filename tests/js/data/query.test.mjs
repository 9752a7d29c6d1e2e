// Queries typed into the search field.

import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, termsOf } from "../../../svodviz/js/data/query.js";

const ROW = { op: "mul", dtype: "f32", shape: "[64,10]", name: "hidden" };
const WORDS = "mul\nhidden\nf32[64,10]";
const finds = (query) => matches(termsOf(query), ROW, WORDS, () => [12, 120]);

const CASES = {
  "mul": true, "MUL hidden": true, "mul weight": false, "op:mul": true, "op:hidden": false,
  "dtype:f32 shape:64,10": true, "dtype:i64": false, "name:hid": true, "line:12": true,
  "line:1": false, "line:": false, "line:120 op:m": true, "nonsense:mul": false, "arg:x": false,
};
for (const [query, wanted] of Object.entries(CASES)) {
  test(`${query} ${wanted ? "finds" : "does not find"} it`, () => {
    assert.equal(finds(query), wanted);
  });
}

test("words with a colon that name no field are words", () => {
  assert.deepEqual(termsOf(" a:b  op:x:y "),
    [{ field: "", text: "a:b" }, { field: "op", text: "x:y" }]);
});

// Lines of the program by the files that they stand in.

import assert from "node:assert/strict";
import { test } from "node:test";

import { placeOfLine, placesOf } from "../../../svodviz/js/data/places.js";

const model = {
  stageById: new Map([["source", { units: [{ files: [[2, "a.py", 40], [12, "cell 3", 1]] }] }]]),
  origins: () => [3, 12],
};

test("a line of the listing is one of a file", () => {
  assert.deepEqual([2, 11, 12, 14].map((it) => placeOfLine(model, it)),
    ["a.py:40", "a.py:49", "cell 3:1", "cell 3:3"]);
  assert.equal(placeOfLine(model, 1), "");
  assert.equal(placeOfLine({ stageById: new Map() }, 1), "");
});

test("an entity has the places of its lines", () => {
  assert.equal(placesOf(model, 7), "a.py:41, cell 3:1");
  assert.equal(placesOf(model, -1), "");
});

// The place of a reader as a part of an address, and back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { addressOf, LONGEST, placeOf } from "../../../svodviz/js/data/address.js";
import { Model } from "../../../svodviz/js/data/model.js";
import { Store } from "../../../svodviz/js/data/store.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const store = (saved) => new Store(new Model(JSON.parse(WIRE)), saved);

/** The address of a state, and the state that a page has which is opened there. */
function there(patch, search = "") {
  const first = store();
  first.set(patch);
  const address = addressOf(first, search);
  const second = store({ stage: "schedule", selected: "graph:1", pass: 1 });
  const place = placeOf(address, second);
  second.set(place.state);
  return { address, state: second.state, wanted: first.state, search: place.search };
}

test("an address says what matters of a place in words", () => {
  const line = store().model.text("loops").find((row) => row.unit === 1 && row.entity >= 0);
  const selected = store().model.entities[line.entity];
  assert.equal(there({ stage: "loops", selected }).address,
    `stage=loops&unit=${store().model.stageById.get("loops").units[1].name}&selected=${
      selected.replace(" ", "+")}`);
  assert.equal(there({ stage: "passes", pass: 2, step: 1 }).address, "stage=passes&pass=2&step=1");
});

test("an address leads to the same place from anywhere", () => {
  const places = [
    {}, { stage: "loops", view: "columns", columns: ["graph", "asm"] }, { stage: "source" },
    { stage: "passes", pass: 1, step: 0 },
    { selected: "graph:3", path: "graph:5", folding: "none", overlay: "bytes", across: true },
    { stage: "graph", only: ["graph:2", "graph:3"], critical: true },
    { stage: "graph", open: ["a & b=c #1", "größe"] }, { stage: "loops", unit: 1 },
  ];
  for (const patch of places) {
    const { state, wanted } = there(patch);
    for (const name of Object.keys(wanted)) {
      if (name === "pass" && wanted.stage !== "passes") continue;
      assert.deepEqual(state[name], wanted[name], `${name} of ${JSON.stringify(patch)}`);
    }
  }
  assert.equal(there({}, "op:add & more").search, "op:add & more");
});

test("what an address names that is not there changes nothing", () => {
  const made = store();
  for (const address of ["", "x", "stage=nonsense", "stage=__proto__", "%", "%E0%A4%A", "=&=&",
    `stage=graph&selected=${"x".repeat(LONGEST)}`]) {
    assert.equal(placeOf(address, made), null, address);
  }
  const { state, search } = placeOf("stage=graph&view=constructor&unit=toString&pass=1e3&step=-7"
    + "&selected=__proto__&columns=hasOwnProperty&folding=__proto__&open=%00&only=graph:99999"
    + "&overlay=valueOf&critical=1&machine=../..&level=0x2&llvm_pass=9999999999&search=%00<b>",
  made);
  made.set(state);
  const { view, unit, pass, step, selected, folding, only, overlay, critical, machine, level,
    llvm_pass: llvmPass } = made.state;
  assert.deepEqual({ view, unit, step, selected, folding, only, overlay, critical, machine },
    { view: "graph", unit: 0, step: -1, selected: "", folding: "", only: [], overlay: "",
      critical: false, machine: "" });
  assert.deepEqual([pass, level, llvmPass], [made.start.pass, -1, 0]);
  assert.equal(search, "\0<b>");
});

test("an address is never longer than it may be", () => {
  const made = store({ open: Array.from({ length: 900 }, (_, i) => `group ${i}`) });
  assert.equal(addressOf(made, ""), "stage=graph");
  assert.ok(addressOf(made, "é".repeat(9000)).length <= LONGEST);
});

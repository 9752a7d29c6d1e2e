// Data that arrive after the page has opened, on the sample's data in two parts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { Arrival, arrived } from "../../../svodviz/js/data/later.js";
import { COMING, Model } from "../../../svodviz/js/data/model.js";
import { Requests } from "../../../svodviz/js/data/requests.js";
import { Store } from "../../../svodviz/js/data/store.js";

const WIRE = readFileSync(process.env.SVODVIZ_SAMPLE, "utf-8");
const PARTS = readFileSync(process.env.SVODVIZ_PARTS, "utf-8");
const LOOKS = 20;
const PAUSE = 10; // ms: unpacking takes a while on a busy machine

/** The sample's data as a page opens with it, and what follows. */
function cut() {
  const [wire, later] = JSON.parse(PARTS);
  later.operations.late = "a word";
  later.notes.push("a note");
  return { wire, later };
}

/** A notebook's model: what it is sent is answered by `reply`. */
class Host {
  constructor(reply = () => {}) {
    Object.assign(this, { reply, values: { later: {} }, sent: [], listeners: new Map() });
  }
  get(name) { return this.values[name]; }
  on(event, listener) {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }
  off(event, listener) {
    this.listeners.set(event, this.listeners.get(event).filter((it) => it !== listener));
  }
  fire(event, message) { (this.listeners.get(event) ?? []).forEach((it) => it(message)); }
  set(name, value) {
    this.values[name] = value;
    this.fire(`change:${name}`);
  }
  send(message) {
    this.sent.push(message.name);
    this.reply(this, message);
  }
}

const answer = (result) => (host, { id, name }) =>
  host.fire("msg:custom", { kind: "answer", id, result: name === "ping" ? "pong" : result });
const packed = (data) => gzipSync(JSON.stringify(data)).toString("base64");

function opened(reply, saved = {}, isConnected = true) {
  const { wire, later } = cut();
  const host = new Host(reply);
  const store = new Store(new Model(wire), saved, new Requests(host, isConnected));
  return { host, later, store, arrival: new Arrival(host, store) };
}

async function settled() {
  for (let look = 0; look < LOOKS; look += 1) await new Promise((it) => setTimeout(it, PAUSE));
}

test("what arrives makes the page as if it had opened with it", () => {
  const { wire, later } = cut();
  const whole = new Model(JSON.parse(WIRE));
  const model = new Model(wire);
  assert.ok(model.isWaiting);
  whole.entities.slice(0, 50).forEach((_, entity) => model.related(entity)); // kept until then
  model.append(later);
  assert.ok(!model.isWaiting);
  for (const name of ["entities", "parents", "children", "numbers", "lineOf", "values", "unseen"]) {
    assert.deepEqual(model[name], whole[name], name);
  }
  whole.entities.forEach((_, entity) => {
    assert.deepEqual(model.related(entity), whole.related(entity));
  });
  for (const { id } of whole.stages) {
    assert.deepEqual(model.text(id), whole.text(id));
    assert.deepEqual(model.size(id), whole.size(id));
  }
  assert.deepEqual([...model.nodesOf.keys()].sort(), [...whole.nodesOf.keys()].sort());
  assert.equal(model.operations.late, "a word");
  assert.ok(model.notes.includes("a note"));
});

test("until then a stage has a place, kernels, columns and views, and says what it waits for", () => {
  const { store } = opened(() => {}, { stage: "asm", unit: 1, view: "machine" });
  assert.deepEqual([store.state.stage, store.state.unit, store.state.view], ["asm", 1, "machine"]);
  assert.equal(store.state.columns[2], "asm");
  assert.deepEqual(store.model.text("asm").map((row) => row.text), [COMING]);
  assert.deepEqual(store.model.size("asm"), { nodes: 0, lines: 0 });
});

test("Python is asked once it answers; what comes is taken in, whoever waits sees its lines", async () => {
  const { host, later, store } = opened(answer({}), { stage: "asm", selected: "llvm:1:3" });
  await settled();
  assert.deepEqual(host.sent, ["ping", "arrive"]);
  assert.ok(store.model.isWaiting);
  const before = store.model.revision;
  host.set("later", packed(later));
  await settled();
  assert.ok(!store.model.isWaiting);
  assert.ok(store.model.revision > before);
  assert.equal(store.state.unit, store.unitFor(store.state));
  host.set("later", packed(later)); // once more changes nothing
  await settled();
  assert.equal(store.model.entities.length, new Set(store.model.entities).size);
});

test("a state that follows what arrives waits for it", async () => {
  const { host, later, store, arrival } = opened(answer({}));
  const name = later.entities.find((it) => it.startsWith("asm:"));
  await settled();
  host.set("later", packed(later));
  const heard = [];
  store.subscribe((state) => heard.push(state.selected));
  arrival.adopt({ selected: name });
  assert.equal(store.state.selected, "");
  await settled();
  assert.deepEqual(heard, [name]); // nobody was told of a state without it in between
  arrival.adopt({ selected: "" });
  assert.equal(store.state.selected, "");
});

test("without Python the stages say that they were not made, and why", async () => {
  const { store } = opened(() => {}, {}, false);
  assert.match(store.model.waiting, /was not compiled yet\. No Python kernel/);
  assert.ok(!store.model.isComing);
  assert.match(store.model.text("asm")[0].text, /No Python kernel/);
});

test("a kernel that ends, or an explorer that is closed, leaves words behind", async () => {
  const { host, store } = opened(answer({}));
  await settled();
  assert.ok(store.model.isComing);
  host.values.ended = true;
  host.fire("change:ended");
  assert.match(store.model.waiting, /closed in Python/);
  assert.ok(!store.model.isComing);
});

test("a failure of Python is told", async () => {
  const { store } = opened((host, { id, name }) => host.fire("msg:custom", name === "ping"
    ? { kind: "answer", id, result: "pong" } : { kind: "failure", id, words: "LLVM is away" }));
  await settled();
  assert.equal(store.model.waiting, "This was not compiled yet. LLVM is away");
});

test("a stage that could not be made says why", () => {
  const { wire, later } = cut();
  const model = new Model(wire);
  const made = later.stages.map((it) =>
    (it.id === "asm" ? { ...it, units: [], missing: "no target" } : it));
  model.append({ ...later, stages: made });
  assert.deepEqual(model.text("asm").map((row) => row.text), ["no target"]);
  assert.equal(model.stageById.get("asm").missing, "no target");
});

test("nothing but stages counts as arrived", async () => {
  assert.equal(await arrived({}), null);
  assert.equal(await arrived(undefined), null);
  assert.equal(await arrived(packed({})), null);
  assert.deepEqual((await arrived(packed({ stages: [] }))).stages, []);
});

test("a page that is closed hears no more", async () => {
  const { host, later, store, arrival } = opened(answer({}));
  arrival.close();
  host.set("later", packed(later));
  await settled();
  assert.ok(store.model.isWaiting);
});

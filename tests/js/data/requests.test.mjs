// Questions to Python and their answers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Requests } from "../../../svodviz/js/data/requests.js";

/** A model that notes what is sent; `tell` is what Python says, `status` what its kernel does. */
function host() {
  const sent = [];
  const listeners = new Map();
  const slots = new Set();
  const values = {};
  const statusChanged = {
    connect: (slot) => slots.add(slot),
    disconnect: (slot) => slots.delete(slot),
  };
  return {
    sent,
    slots,
    listeners,
    widget_manager: { kernel: { statusChanged } },
    tell: (message) => listeners.get("msg:custom")?.(message),
    lose: () => listeners.get("comm_live_update")?.(),
    status: (words) => slots.forEach((slot) => slot(null, words)),
    end: () => {
      values.ended = true;
      listeners.get("change:ended")?.();
    },
    get: (name) => values[name],
    send: (message) => sent.push(message),
    on: (event, found) => listeners.set(event, found),
    off: (event) => listeners.delete(event),
  };
}

test("without a kernel the reader is told so", async () => {
  await assert.rejects(new Requests({ on() {}, off() {} }).ask("anything"), /No Python kernel/);
});

test("it is live after the first answer", async () => {
  const model = host();
  const requests = new Requests(model);
  const calls = [];
  requests.onLive(() => calls.push("early"));
  assert.deepEqual(calls, []);
  model.tell({ id: model.sent[0].id, kind: "answer", result: "pong" });
  await Promise.resolve();
  requests.onLive(() => calls.push("late"));
  assert.deepEqual(calls, ["early", "late"]);
});

test("answers reach the one who asked, whatever their order", async () => {
  const model = host();
  const requests = new Requests(model);
  const words = [];
  const first = requests.ask("double", { number: 1 }, (it) => words.push(it));
  const second = requests.ask("double", { number: 2 });
  const [, one, two] = model.sent;
  model.tell({ id: one.id, kind: "progress", words: "half way" });
  model.tell({ id: two.id, kind: "answer", result: 4 });
  model.tell({ id: one.id, kind: "failure", words: "too small" });
  assert.equal(await second, 4);
  await assert.rejects(first, /too small/);
  assert.deepEqual(words, ["half way"]);
  assert.deepEqual(one, { kind: "request", id: one.id, name: "double", arguments: { number: 1 } });
});

test("what nobody asked is not heard", () => {
  const model = host();
  new Requests(model).close();
  model.tell({ id: 99, kind: "answer" });
});

test("closing ends what waits", async () => {
  const requests = new Requests(host());
  const waiting = requests.ask("anything");
  requests.close();
  await assert.rejects(waiting, /closed/);
});

test("the end of a kernel is reported, and so is its return", async () => {
  const model = host();
  const requests = new Requests(model);
  model.tell({ id: model.sent[0].id, kind: "answer", result: "pong" });
  await Promise.resolve();
  const asked = requests.ask("slow");
  model.lose();
  await assert.rejects(asked, /kernel .* has ended/);
  await assert.rejects(requests.ask("other"), /run its cell again/);
  assert.equal(requests.isLive, false);
  assert.equal(model.sent.length, 3); // both greetings and the question
  model.tell({ id: model.sent[2].id, kind: "answer", result: "pong" });
  await Promise.resolve();
  assert.equal(requests.isLive, true);
});

test("one of a saved notebook asks nobody", async () => {
  const model = host();
  const requests = new Requests(model, false);
  await assert.rejects(requests.ask("anything"), /No Python kernel/);
  assert.match(requests.obstacle, /what was recorded/);
  assert.deepEqual([model.sent, model.listeners.size, model.slots.size], [[], 0, 0]);
});

for (const status of ["restarting", "autorestarting", "terminating", "dead"]) {
  test(`a kernel that is ${status} answers no more`, async () => {
    const model = host();
    const requests = new Requests(model);
    const losses = [];
    requests.onLost(() => losses.push(requests.obstacle));
    const asked = requests.ask("slow");
    model.status("busy");
    assert.deepEqual(losses, []);
    model.status(status);
    model.lose(); // a restart is told in both ways, and heard once
    await assert.rejects(asked, /has ended/);
    assert.equal(losses.length, 1);
  });
}

test("an explorer that Python closes answers no more, nor does a second view of it", async () => {
  const model = host();
  const requests = new Requests(model);
  const asked = requests.ask("slow");
  model.end();
  await assert.rejects(asked, /closed in Python/);
  const later = new Requests(model);
  await assert.rejects(later.ask("anything"), /closed in Python/);
  assert.equal(model.sent.length, 2); // the greeting and the question
});

test("closing leaves no listener, and what is asked later is refused", async () => {
  const model = host();
  const requests = new Requests(model);
  requests.close();
  assert.deepEqual([model.listeners.size, model.slots.size], [0, 0]);
  await assert.rejects(requests.ask("anything"), /closed/);
});

test("what was recorded is shown without a kernel", async () => {
  const recorded = { 'double {"number":2}': 4 };
  const model = { ...host(), get: (name) => (name === "recorded" ? recorded : undefined) };
  assert.equal(await new Requests(model, false).ask("double", { number: 2 }), 4);
});

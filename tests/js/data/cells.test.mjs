import assert from "node:assert/strict";
import { test } from "node:test";

import { Cells, failureOf } from "../../../svodviz/js/data/cells.js";

/** A notebook whose kernel takes what it is asked to execute, and answers with `messages`. */
function notebook(texts, messages = [], reply = { status: "ok" }) {
  const asked = [];
  const cells = texts.map((text, at) => {
    const shared = { text, getSource: () => shared.text,
      setSource: (given) => { shared.text = given; }, executionState: "idle" };
    const outputs = { rows: [{ old: true }], toJSON: () => outputs.rows,
      clear: () => { outputs.rows = []; }, add: (row) => outputs.rows.push(row) };
    return { id: `id${at}`, type: "code", sharedModel: shared, outputs, executionCount: null };
  });
  const requestExecute = (content, dispose, metadata) => {
    asked.push({ content, metadata });
    const future = {};
    future.done = Promise.resolve().then(() => {
      messages.forEach(([kind, content]) =>
        future.onIOPub({ header: { msg_type: kind }, content }));
      return { content: reply };
    });
    return future;
  };
  const manager = { kernel: { requestExecute },
    context: { model: { cells: { length: cells.length, get: (at) => cells[at] } } } };
  return { manager, cells, asked };
}

test("a text is written into its cell, and run as that cell", async () => {
  const said = [["execute_input", { execution_count: 7 }], ["status", {}],
    ["stream", { name: "stdout", text: "hello", transient: { of: "the message" } }]];
  const { manager, cells, asked } = notebook(["a = 1", "def f(x):\n    return x\n"], said);
  const found = new Cells(manager).find("def f(x):\n    return x");
  assert.equal(found, cells[1]);
  assert.equal(await new Cells(manager).run(found, "def f(x):\n    return x + x"), null);
  assert.equal(found.sharedModel.text, "def f(x):\n    return x + x");
  assert.equal(asked[0].content.code, "def f(x):\n    return x + x");
  assert.equal(asked[0].content.store_history, true);
  assert.deepEqual(asked[0].metadata, { cellId: "id1" });
  assert.equal(found.executionCount, 7);
  assert.deepEqual(found.outputs.rows,
    [{ output_type: "stream", name: "stdout", text: "hello" }]);
  assert.equal(found.sharedModel.executionState, "idle");
});

test("a cell is found by what it was, unless the notebook has changed it since", async () => {
  const { manager, cells } = notebook(["one", "two"]);
  const known = new Cells(manager);
  await known.run(known.find("one"), "one, edited");
  assert.equal(known.find("one"), cells[0]);
  cells[0].sharedModel.text = "typed in the notebook";
  assert.equal(known.find("one"), undefined);
  assert.equal(known.find("two"), cells[1]);
});

test("outputs with widgets stay where they are", async () => {
  const { manager, cells } = notebook(["one"], [["stream", { text: "x" }]]);
  const shown = [{ data: { "application/vnd.jupyter.widget-view+json": { model_id: "a" } } }];
  cells[0].outputs.rows = shown;
  const known = new Cells(manager);
  await known.run(known.find("one"), "two");
  assert.equal(cells[0].outputs.rows, shown);
});

test("without a kernel to be reached nothing is run", async () => {
  for (const manager of [null, undefined, {}, { kernel: {} }]) {
    const cells = new Cells(manager);
    assert.equal(cells.areReachable, false);
    assert.equal(cells.find("one"), undefined);
  }
  const { manager, cells } = notebook(["one"]);
  assert.equal(new Cells(manager).areReachable, true);
  manager.kernel = null;
  await assert.rejects(new Cells(manager).run(cells[0], "two"), /kernel/);
});

test("an error has its line, of the cell and not of what it called", async () => {
  const error = { status: "error", ename: "ValueError", evalue: "no", traceback: [
    "\u001b[31mValueError\u001b[39m  Traceback", "\u001b[36mCell In[5], line 3\u001b[39m\n   1 a",
    "File /lib/there.py:9, in f()", "Cell In[2], line 8, in g()"] };
  const { manager, cells } = notebook(["one"], [["error", error]], error);
  assert.deepEqual(await new Cells(manager).run(cells[0], "two"),
    { words: "ValueError: no", line: 3 });
  assert.equal(cells[0].outputs.rows[0].output_type, "error");
  assert.deepEqual(failureOf({ ename: "SyntaxError", evalue: "invalid syntax (830808.py, line 2)",
    traceback: [] }), { words: "SyntaxError: invalid syntax, line 2", line: 2 });
  assert.deepEqual(failureOf({}), { words: "Error: ", line: 0 });
});

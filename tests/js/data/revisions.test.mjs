import assert from "node:assert/strict";
import { test } from "node:test";

import { Revisions } from "../../../svodviz/js/data/revisions.js";

const CELL = { name: "cell 2", first: 0, lines: 1, text: "f = 1", why: "" };
const FILE = { name: "net.py", first: 2, lines: 1, text: "", why: "it is a file" };

/** What anywidget gives, in a notebook with one cell; `run` is what its kernel does. */
function host(live, run = () => ({ status: "ok" })) {
  const values = { revision: 2, live: { first: 1, count: 3, words: "", names: ["f"], problem: null,
    cells: [CELL, FILE], cell: 0, ...live } };
  const listeners = [];
  const shared = { text: CELL.text, getSource: () => shared.text,
    setSource: (text) => { shared.text = text; } };
  const cell = { id: "a", type: "code", sharedModel: shared };
  const made = {
    values, shared, saved: 0,
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; },
    save_changes: () => { made.saved += 1; },
    on: (_, listener) => listeners.push(listener),
    off: (_, listener) => listeners.splice(listeners.indexOf(listener), 1),
    tell: () => listeners.forEach((listener) => listener()),
    widget_manager: {
      context: { model: { cells: { length: 1, get: () => cell } } },
      kernel: { requestExecute: () => ({ done: Promise.resolve().then(() =>
        ({ content: run(made) })) }) },
    },
  };
  return made;
}

test("another revision is asked for by its number, of those that there are", () => {
  const given = host();
  const revisions = new Revisions(given);
  revisions.turn(-1);
  assert.deepEqual([revisions.number, given.saved], [1, 1]);
  revisions.turn(-1);
  assert.deepEqual([revisions.number, given.saved], [1, 1]);
  assert.equal(revisions.canTurn(2), true);
  assert.equal(revisions.canTurn(3), false);
});

test("a widget of before has one revision, and nothing to edit", () => {
  const given = host();
  given.get = () => undefined;
  const revisions = new Revisions(given);
  assert.deepEqual([revisions.number, revisions.areSeveral, revisions.row.cells], [1, false, []]);
});

test("what is typed is kept until it ran", async () => {
  const given = host({}, (it) => {
    Object.assign(it.values, { revision: 4,
      live: { ...it.values.live, count: 4, cells: [{ ...CELL, text: "f = 2" }] } });
    return { status: "ok" };
  });
  const revisions = new Revisions(given);
  revisions.edit(CELL);
  assert.equal(revisions.edited, CELL);
  revisions.keep(CELL, "f = 2");
  revisions.edit(null);
  assert.equal(revisions.edited, undefined);
  assert.equal(revisions.draftOf(CELL), "f = 2");
  revisions.edit(CELL);
  await revisions.run(CELL);
  assert.equal(given.shared.text, "f = 2");
  assert.deepEqual([revisions.words, revisions.isRunning, revisions.drafts.size], ["", false, 0]);
  assert.equal(revisions.edited.text, "f = 2"); // the editor goes on in the next revision
});

test("an error leaves the draft, and the cell is found all the same", async () => {
  const given = host({}, () => ({ status: "error", ename: "NameError", evalue: "g" }));
  const revisions = new Revisions(given);
  revisions.edit(CELL);
  revisions.keep(CELL, "f = g");
  await revisions.run(CELL);
  assert.equal(revisions.failure.words, "NameError: g");
  assert.equal(revisions.draftOf(CELL), "f = g");
  assert.equal(revisions.edited, CELL);
  assert.equal(revisions.obstacle(CELL), "");
});

test("what is typed and run while another text runs is run after it", async () => {
  const texts = [];
  const given = host({}, (it) => {
    texts.push(it.shared.text);
    if (it.shared.text === "f = g") return { status: "error", ename: "NameError", evalue: "g" };
    const count = it.values.live.count + 1;
    Object.assign(it.values, { revision: count,
      live: { ...it.values.live, count, cells: [{ ...CELL, text: it.shared.text }] } });
    return { status: "ok" };
  });
  const revisions = new Revisions(given);
  revisions.edit(CELL);
  for (const text of ["f = g", "f = 2", "f = 3"]) {
    const [cell] = revisions.row.cells;
    revisions.keep(cell, text);
    const first = revisions.run(cell);
    revisions.keep(cell, `${text} + 1`);
    revisions.run(cell);
    await first;
  }
  assert.deepEqual(texts, ["f = g", "f = g + 1", "f = 2", "f = 2 + 1", "f = 3", "f = 3 + 1"]);
  assert.equal(revisions.drafts.size, 0);
});

test("where Python made nothing of it, what is typed by then is kept", async () => {
  const given = host({}, (it) => {
    it.values.live = { ...it.values.live, problem: { place: "cell 3:1", text: "", words: "no" } };
    return { status: "ok" };
  });
  const revisions = new Revisions(given);
  revisions.edit(CELL);
  revisions.keep(CELL, "f = x @ x");
  const run = revisions.run(CELL);
  revisions.keep(CELL, "f = 4");
  await run;
  assert.deepEqual([revisions.draftOf(CELL), revisions.edited, revisions.words], ["f = 4", CELL, ""]);
});

test("a run that changed nothing says so; what cannot run says what to do", async () => {
  const given = host();
  const revisions = new Revisions(given);
  await revisions.run(CELL);
  assert.match(revisions.words, /did not change: f is the same program/);
  given.shared.text = "typed in the notebook";
  assert.match(revisions.obstacle(CELL), /another text by now/);
  given.widget_manager.kernel = null;
  assert.match(revisions.obstacle(CELL), /paste it into its cell/);
});

test("who listens hears of news, and no more after the end", () => {
  const given = host();
  const revisions = new Revisions(given);
  let heard = 0;
  revisions.onChange(() => { heard += 1; });
  given.tell();
  revisions.close();
  given.tell();
  assert.equal(heard, 1);
});

test("changes arrive packed, and are read", async () => {
  const given = host();
  given.values.changes = { asm: { count: 1, units: [] } };
  const revisions = new Revisions(given);
  await revisions.read();
  assert.equal(revisions.changes.asm.count, 1);
});

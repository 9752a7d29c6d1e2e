import assert from "node:assert/strict";
import { test } from "node:test";

import { Editions } from "../../../svodviz/js/data/editions.js";

const CELL = { name: "cell 2", first: 0, lines: 1, text: "f = 1", why: "" };
const FILE = { name: "net.py", first: 2, lines: 1, text: "", why: "it is a file" };

/** What anywidget gives, in a notebook with one cell; `run` is what its kernel does. */
function host(live, run = () => ({ status: "ok" })) {
  const values = { edition: 2, live: { first: 1, count: 3, words: "", names: ["f"], problem: null,
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

test("another edition is asked for by its number, of those that there are", () => {
  const given = host();
  const editions = new Editions(given);
  editions.turn(-1);
  assert.deepEqual([editions.number, given.saved], [1, 1]);
  editions.turn(-1);
  assert.deepEqual([editions.number, given.saved], [1, 1]);
  assert.equal(editions.canTurn(2), true);
  assert.equal(editions.canTurn(3), false);
});

test("a widget of before has one edition, and nothing to edit", () => {
  const given = host();
  given.get = () => undefined;
  const editions = new Editions(given);
  assert.deepEqual([editions.number, editions.areSeveral, editions.row.cells], [1, false, []]);
});

test("what is typed is kept until it ran", async () => {
  const given = host({}, (it) => {
    Object.assign(it.values, { edition: 4,
      live: { ...it.values.live, count: 4, cells: [{ ...CELL, text: "f = 2" }] } });
    return { status: "ok" };
  });
  const editions = new Editions(given);
  editions.edit(CELL);
  assert.equal(editions.edited, CELL);
  editions.keep(CELL, "f = 2");
  editions.edit(null);
  assert.equal(editions.edited, undefined);
  assert.equal(editions.draftOf(CELL), "f = 2");
  editions.edit(CELL);
  await editions.run(CELL);
  assert.equal(given.shared.text, "f = 2");
  assert.deepEqual([editions.words, editions.isRunning, editions.drafts.size], ["", false, 0]);
  assert.equal(editions.edited.text, "f = 2"); // the editor goes on in the next edition
});

test("an error leaves the draft, and the cell is found all the same", async () => {
  const given = host({}, () => ({ status: "error", ename: "NameError", evalue: "g" }));
  const editions = new Editions(given);
  editions.edit(CELL);
  editions.keep(CELL, "f = g");
  await editions.run(CELL);
  assert.equal(editions.failure.words, "NameError: g");
  assert.equal(editions.draftOf(CELL), "f = g");
  assert.equal(editions.edited, CELL);
  assert.equal(editions.obstacle(CELL), "");
});

test("what is typed and run while another text runs is run after it", async () => {
  const texts = [];
  const given = host({}, (it) => {
    texts.push(it.shared.text);
    if (it.shared.text === "f = g") return { status: "error", ename: "NameError", evalue: "g" };
    const count = it.values.live.count + 1;
    Object.assign(it.values, { edition: count,
      live: { ...it.values.live, count, cells: [{ ...CELL, text: it.shared.text }] } });
    return { status: "ok" };
  });
  const editions = new Editions(given);
  editions.edit(CELL);
  for (const text of ["f = g", "f = 2", "f = 3"]) {
    const [cell] = editions.row.cells;
    editions.keep(cell, text);
    const first = editions.run(cell);
    editions.keep(cell, `${text} + 1`);
    editions.run(cell);
    await first;
  }
  assert.deepEqual(texts, ["f = g", "f = g + 1", "f = 2", "f = 2 + 1", "f = 3", "f = 3 + 1"]);
  assert.equal(editions.drafts.size, 0);
});

test("where Python made nothing of it, what is typed by then is kept", async () => {
  const given = host({}, (it) => {
    it.values.live = { ...it.values.live, problem: { place: "cell 3:1", text: "", words: "no" } };
    return { status: "ok" };
  });
  const editions = new Editions(given);
  editions.edit(CELL);
  editions.keep(CELL, "f = x @ x");
  const run = editions.run(CELL);
  editions.keep(CELL, "f = 4");
  await run;
  assert.deepEqual([editions.draftOf(CELL), editions.edited, editions.words], ["f = 4", CELL, ""]);
});

test("a run that changed nothing says so; what cannot run says what to do", async () => {
  const given = host();
  const editions = new Editions(given);
  await editions.run(CELL);
  assert.match(editions.words, /did not change: f is the same program/);
  given.shared.text = "typed in the notebook";
  assert.match(editions.obstacle(CELL), /another text by now/);
  given.widget_manager.kernel = null;
  assert.match(editions.obstacle(CELL), /paste it into its cell/);
});

test("who listens hears of news, and no more after the end", () => {
  const given = host();
  const editions = new Editions(given);
  let heard = 0;
  editions.onChange(() => { heard += 1; });
  given.tell();
  editions.close();
  given.tell();
  assert.equal(heard, 1);
});

test("changes arrive packed, and are read", async () => {
  const given = host();
  given.values.changes = { asm: { count: 1, units: [] } };
  const editions = new Editions(given);
  await editions.read();
  assert.equal(editions.changes.asm.count, 1);
});

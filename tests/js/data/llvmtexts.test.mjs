// Texts between LLVM's passes: edits applied, and what is shown of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { differing, edited, sizeOf, textsOf } from "../../../svodviz/js/data/llvmtexts.js";

const rows = (words) => [...words].map((text, index) => [text, index + 1]);
const change = (kind, edits) => ({ name: "p", title: "P", on: "k", kind, purpose: "", edits });
const plain = (shown) => shown.map((it) => (it.left ? `…${it.left}` : `${it.sign}${it.text}`));

test("edits are applied from top to bottom", () => {
  const edits = [[0, 1, [["X"]]], [2, 2, []], [5, 0, [["Y"], ["Z"]]]];
  assert.deepEqual(edited(rows("abcdef"), edits).map(([text]) => text), [..."XbeYZf"]);
  assert.deepEqual(sizeOf(change("IR", edits)), { removed: 3, added: 3 });
});

test("each kind of text goes on where it was left, machine code begins with nothing", () => {
  const run = {
    start: rows("ab"),
    changes: [
      change("IR", [[0, 1, [["A"]]]]),
      change("machine", [[0, 0, [["mov"]]]]),
      change("IR", [[1, 1, [["B"]]]]),
    ],
  };
  const texts = textsOf(run).map(({ before, after }) =>
    [before, after].map((it) => it.map(([text]) => text).join("")));
  assert.deepEqual(texts, [["ab", "Ab"], ["", "mov"], ["Ab", "AB"]]);
});

test("what is far from every edit is counted, not shown", () => {
  const found = differing(rows("abcdefghij"), [[4, 1, [["E"]]]], 2);
  assert.deepEqual(plain(found), ["…2", "c", "d", "−e", "+E", "f", "g", "…3"]);
  assert.deepEqual(found.map((it) => it.number), [0, 3, 4, 0, 5, 6, 7, 0]);
});

test("edits that are near to each other share the lines between them", () => {
  const edits = [[2, 1, []], [5, 1, [["F"]]]];
  assert.deepEqual(plain(differing(rows("abcdefgh"), edits, 2)),
    ["a", "b", "−c", "d", "e", "−f", "+F", "g", "h"]);
});

test("the whole text has every line once", () => {
  const edits = [[1, 1, [["B"], ["C"]]]];
  const whole = differing(rows("abcdef"), edits, Infinity);
  assert.deepEqual(plain(whole), ["a", "−b", "+B", "+C", "c", "d", "e", "f"]);
  assert.deepEqual(whole.filter((it) => it.number).map((it) => it.number), [1, 2, 3, 4, 5, 6, 7]);
});

test("any text before can be had back from what is shown, whatever the edits", () => {
  let seed = 7;
  const random = (below) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % below; };
  for (let round = 0; round < 200; round++) {
    const before = rows("abcdefghijklmnop".slice(0, 1 + random(16)));
    const edits = [];
    for (let at = random(4); at < before.length; at += 2 + random(5)) {
      const removed = Math.min(random(3), before.length - at);
      const added = rows("XYZ".slice(0, removed ? random(4) : 1 + random(3)));
      edits.push([at, removed, added]);
      at += removed;
    }
    const whole = differing(before, edits, Infinity);
    const text = (keep) => whole.filter((it) => keep(it.sign)).map((it) => it.text).join("");
    assert.equal(text((sign) => sign !== "+"), before.map(([it]) => it).join(""));
    assert.equal(text((sign) => sign !== "−"), edited(before, edits).map(([it]) => it).join(""));
    for (const context of [0, 1, 3]) {
      const shown = differing(before, edits, context);
      const left = shown.reduce((sum, it) => sum + (it.left || 0), 0);
      assert.equal(shown.filter((it) => !it.left).length + left, whole.length);
    }
  }
});

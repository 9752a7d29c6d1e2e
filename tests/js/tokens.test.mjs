// Words, numbers, registers and comments of a line.

import assert from "node:assert/strict";
import { test } from "node:test";

import { tokens } from "../../svodviz/js/tokens.js";

const LINES = [
  "%v1 = load <8 x float>, ptr %p, align 32  ; lowered 10", "x = y # 1", "store out[i*32] = h",
  "    vfmadd231ps zmm0, zmm8, dword ptr [rsi + 4*rax]{1to16}", "", "</script>", '"open',
];

for (const line of LINES) {
  test(`nothing is lost of ${JSON.stringify(line)}`, () => {
    assert.equal(tokens(line).map(([text]) => text).join(""), line);
  });
}

test("each piece has its kind", () => {
  const kinds = Object.fromEntries(tokens('%v1 = load "a" 0x1f zmm3 name ; why'));
  const found = ["%v1", "load", '"a"', "0x1f", "zmm3", "; why"].map((text) => kinds[text]);
  assert.deepEqual(found,
    ["register", "keyword", "string", "number", "register", "comment"]);
});

test("a hash before a digit is a place, not a comment", () => {
  assert.ok(tokens("call #1").every(([, kind]) => kind !== "comment"));
});

test("in words for people only numbers stand out", () => {
  const line = "its value was asked for in memory; 128 times, %2";
  assert.deepEqual(tokens(line, false).filter(([, kind]) => kind), [["128", "number"], ["2", "number"]]);
  assert.equal(tokens(line, false).map(([text]) => text).join(""), line);
});

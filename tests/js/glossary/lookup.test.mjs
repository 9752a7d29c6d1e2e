// A word has one meaning in a language, with an example that has the word, or one of its kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ARM } from "../../../svodviz/js/glossary/arm.js";
import { FIELD } from "../../../svodviz/js/glossary/field.js";
import { LLVM } from "../../../svodviz/js/glossary/llvm.js";
import { explain, glossary, wordsOf } from "../../../svodviz/js/glossary/lookup.js";
import { CHOICES, GRAPHS, LOOPS, LOWERED } from "../../../svodviz/js/glossary/ours.js";
import { X86 } from "../../../svodviz/js/glossary/x86.js";

test("an instruction is explained by its parts", () => {
  assert.match(explain("vaddps", "x86").sentence, /^adds float32 lanes$/);
  const fused = explain("vfnmadd213sd", "x86").sentence;
  for (const words of ["minus a product plus", "one float64", "(2 and 1)", "(3)"]) {
    assert.ok(fused.includes(words), words);
  }
  assert.match(explain("jne", "x86").sentence, /not equal$/);
  assert.match(explain("b.lt", "arm").sentence, /less, signed$/);
  assert.match(explain("olt", "llvm").sentence, /less, and no NaN/);
});

test("patterns take whole words, and none is there twice", () => {
  for (const rows of [X86, ARM, LLVM]) {
    for (const [pattern] of rows) {
      assert.ok(pattern.source.startsWith("^"), pattern.source);
      assert.ok(!pattern.flags.includes("g"), "it would keep a place between words");
    }
    assert.equal(new Set(rows.map(([pattern]) => pattern.source)).size, rows.length);
  }
  for (const rows of [FIELD, CHOICES, GRAPHS, LOOPS, LOWERED]) {
    assert.equal(new Set(rows.map(([word]) => word)).size, rows.length);
  }
});

test("a word means what it means in its own language", () => {
  assert.match(explain("load", "llvm").sentence, /^reads memory/);
  assert.match(explain("tile", "loops").sentence, /^partitions a loop/);
  assert.equal(explain("tile", "llvm"), null);
  assert.equal(explain("vaddps", "arm"), null);
  assert.equal(explain("constructor", "words"), null);
  assert.equal(explain("anything", "no language"), null);
});

test("numbered names are explained by their kind", () => {
  assert.equal(explain("in7", "loops").word, "in7");
  assert.equal(explain("in7", "loops").sentence, explain("in1", "loops").sentence);
  assert.match(explain("at12", "loops").sentence, /offset of the part/);
});

test("of assembly the instruction counts, of other lines every word once", () => {
  const words = (line, language) => wordsOf(line, language).map(({ word }) => word);
  assert.deepEqual(words("    vmovups ymm0, ymmword ptr [rsi]", "x86"), ["vmovups"]);
  assert.deepEqual(words(".LBB0_2:", "x86"), []);
  assert.deepEqual(words("ret:", "x86"), []);
  assert.deepEqual(words("  %v = load float, ptr %p  ; store", "llvm"), ["load", "float", "ptr"]);
  assert.deepEqual(words("for i0 in 64   lanes", "loops"), ["for", "lanes"]);
  assert.deepEqual(words("", "llvm"), []);
});

test("the glossary lists each word once, with words and an example", () => {
  for (const [title, entries] of glossary()) {
    assert.ok(entries.length > 5, title);
    for (const { word, sentence, example } of entries) {
      assert.ok(word && sentence.length > 3 && example, `${title}: ${word}`);
      assert.ok(!/undefined|null/.test(sentence), sentence);
    }
  }
});

// Keywords, numbers, registers and comments of a line: each language has its own.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assemblyOf, languageOf, quotesOf, tokens } from "../../../svodviz/js/kit/tokens.js";

const ALL = ["python", "graph", "kernels", "loops", "lowered", "llvm", "instructions", "x86", "arm",
  "riscv", "wasm", "nvptx", "words"];
const LINES = [
  "%v1 = load <8 x float>, ptr %p, align 32  ; lowered 10", "x = y # 1", "store out[i*32] = h",
  "    vfmadd231ps zmm0, zmm8, dword ptr [rsi + 4*rax]{1to16}", "", "</script>", '"open', "it's",
];

/** "kind text" of all that stands out. */
function coloured(line, language) {
  return tokens(line, language).filter(([, kind]) => kind).map(([text, kind]) => `${kind} ${text}`);
}

for (const language of ALL) {
  test(`nothing is lost of lines of ${language}`, () => {
    for (const line of LINES) {
      assert.equal(tokens(line, language).map(([text]) => text).join(""), line);
    }
  });
}

// [language, line, what stands out]
const CASES = [
  ["python", "y = x.T.reshape(n // 1); z = y % 2  # a; b // c",
    ["number 1", "number 2", "comment # a; b // c"]],
  ["python", "u = 'a # b' if x%w else r\"c\\\"d\"",
    ["string 'a # b'", "keyword if", "keyword else", 'string r"c\\"d"']],
  ["python", "load = range(define)", []],
  ["graph", "%4 = permute %3 (1,0)   f32[32,32]   it's;#1.py:15",
    ["register %4", "register %3", "number 1", "number 0", "number 32", "number 32", "number 1",
      "number 15"]],
  ["loops", "out[i0//4 + i0%3] = %29 % %30", ["number 4", "number 3", "register %29",
    "register %30"]],
  ["loops", "  %5 = in1[(i0 + 1)%3 + i1[2]%4]*%2//8 if i0%%6 < 50 else 0 f32",
    ["register %5", "number 1", "number 3", "number 2", "number 4", "register %2", "number 8",
      "keyword if", "register %6", "number 50", "keyword else", "number 0"]],
  ["lowered", " 12  %16 = idiv %11 %3 i64", ["number 12", "register %16", "register %11",
    "register %3"]],
  ["llvm", "define void @k0(ptr %\"a b\") #0 { ; why // not",
    ["keyword define", "keyword ptr", 'register %"a b"', "number 0", "comment ; why // not"]],
  ["llvm", 'attributes #0 = { "a"="x;y" }',
    ["keyword attributes", "number 0", 'string "a"', 'string "x;y"']],
  ["instructions", "  $zmm0 = VADDPSZrr killed %12:vr512, $rax ; def",
    ["register $zmm0", "register %12", "register $rax", "comment ; def"]],
  ["x86", "  vmovups zmm0 {k1}, dword ptr [r8d + 4*rax - 0x1f]{1to16} # why",
    ["register zmm0", "register k1", "keyword ptr", "register r8d", "number 4", "register rax",
      "number 0x1f", "comment # why"]],
  ["x86", "k0:", []],
  ["arm", "  stp d15, d14, [sp, #-80]! // spill", ["register d15", "register d14", "register sp",
    "number 80", "comment // spill"]],
  ["arm", "  fmla z0.s, p0/m, z1.s, z2.s", ["register z0", "register p0", "register z1",
    "register z2"]],
  ["arm", "  mov x8, xzr; add w1, w2, #1", ["register x8", "register xzr", "register w1",
    "register w2", "number 1"]],
  ["riscv", "  vfmacc.vf v8, fa5, v16, v0.t # 512-byte", ["register v8", "register fa5",
    "register v16", "register v0", "comment # 512-byte"]],
  ["wasm", "  local.set 3 # in", ["number 3", "comment # in"]],
  ["nvptx", "  @%p1 bra $L__BB0_1; // loop", ["register %p1", "comment // loop"]],
  ["nvptx", "  mov.b32 %r1494, 0f00000000;", ["register %r1494", "number 0f00000000"]],
  ["words", "its value was asked for in memory; 128 times, %2 # // 'a",
    ["number 128", "number 2"]],
];

for (const [language, line, expected] of CASES) {
  test(`${language}: ${line.trim()}`, () => assert.deepEqual(coloured(line, language), expected));
}

test("each stage has its language", () => {
  const stages = ["source", "graph", "kernels", "schedule", "loops", "lowered", "llvm", "optimized"];
  assert.deepEqual(stages.map((id) => languageOf(id)),
    ["python", "graph", "kernels", "words", "loops", "lowered", "llvm", "llvm"]);
  assert.deepEqual(["x86", "arm", "riscv", ""].map((host) => languageOf("asm", host)),
    ["x86", "arm", "riscv", "words"]);
});

test("each machine's assembly has its language", () => {
  const machines = ["x86-avx2", "arm-neon", "arm-sve", "riscv-v", "wasm", "nvptx", "vax"];
  assert.deepEqual(machines.map(assemblyOf),
    ["x86", "arm", "arm", "riscv", "wasm", "nvptx", "words"]);
});

test("a string of Python goes over lines, and what stands in it is no code", () => {
  const lines = ["def f(x):", '    """Not a', "", "    for # loop", '    """; return 1', "y = ''",
    "z = '''a''' + r'''b", "if ''' + 2", 'w = """in one""" if x else 3'];
  const quotes = quotesOf(lines, "python");
  assert.deepEqual(quotes, ["", "", '"""', '"""', '"""', "", "", "'''", ""]);
  const seen = (n) => tokens(lines[n], "python", quotes[n]).filter(([, kind]) => kind);
  assert.deepEqual(seen(3), [["    for # loop", "string"]]);
  assert.deepEqual(seen(4), [['    """', "string"], ["return", "keyword"], ["1", "number"]]);
  assert.deepEqual(seen(7), [["if '''", "string"], ["2", "number"]]);
  assert.deepEqual(seen(8).map(([, kind]) => kind), ["string", "keyword", "keyword", "number"]);
  assert.deepEqual(quotesOf(lines, "loops"), lines.map(() => ""));
});

// Opcodes, types and marks of LLVM IR, a sentence and an example each. Pure.

/** @typedef {import("./entries.js").Pattern} Pattern */

const CONDITIONS = new Map([["eq", "equal"], ["ne", "not equal"], ["lt", "less"],
  ["le", "less or equal"], ["gt", "greater"], ["ge", "greater or equal"]]);

/** @type {Pattern[]} */
export const LLVM = [
  [/^define$/, () => "a function with its body: one for each kernel", "define void @k0(ptr %out)"],
  [/^declare$/, () => "a function that is defined elsewhere: an intrinsic, or of a library",
    "declare float @llvm.fabs.f32(float)"],
  [/^phi$/, () => "a value that depends on the preceding block: a loop counter or an accumulator",
    "%i = phi i64 [ 0, %entry ], [ %next, %body ]"],
  [/^br$/, () => "jumps to a block: always, or to one of two by a condition",
    "br i1 %more, label %body, label %exit"],
  [/^label$/, () => "names the block to jump to", "br label %body"],
  [/^(un)?switch$/, () => "jumps to one of several blocks",
    "switch i64 %n, label %other [ … ]"],
  [/^unreachable$/, () => "is never reached", "unreachable"],
  [/^ret$/, () => "ends the function", "ret void"],
  [/^load$/, () => "reads memory: one value, or a vector of neighbours",
    "%v = load <8 x float>, ptr %p, align 4"],
  [/^store$/, () => "writes memory: one value, or a vector of neighbours",
    "store <8 x float> %v, ptr %p, align 4"],
  [/^getelementptr$/, () => "computes an address from a pointer and an index; touches no memory",
    "%p = getelementptr inbounds float, ptr %in1, i64 %i"],
  [/^inbounds$/, () => "the address stays inside its object: LLVM may rely on it",
    "getelementptr inbounds"],
  [/^alloca$/, () => "memory on the stack: scratch of a kernel", "%tile = alloca [4096 x float]"],
  [/^(add|sub|mul|sdiv|udiv|srem|urem)$/, (verb) => `integer arithmetic: ${verb}; s is signed,`
    + ` u unsigned,`
    + " rem the remainder", "%j = add i64 %i, 1"],
  [/^f(add|sub|mul|div|rem|neg)$/, (verb) => `arithmetic of floats: ${verb}`,
    "%y = fmul <8 x float> %a, %b"],
  [/^(shl|lshr|ashr)$/, (verb) => `shifts bits ${verb === "shl" ? "left" : "right"}`
    + `${verb === "ashr" ? ", keeping the sign" : ""}`, "%s = lshr i32 %x, 23"],
  [/^(and|or|xor)$/, (verb) => `works on bits, of truths too: ${verb}`, "%b = and i1 %a, %c"],
  [/^(icmp|fcmp)$/, (which) => `compares ${which === "icmp" ? "integers or pointers" : "floats"}`,
    "%c = icmp slt i64 %i, 64"],
  [/^([su])(lt|le|gt|ge)$/, (sign, how) => `the comparison: ${CONDITIONS.get(how)}, `
    + `${sign === "s" ? "signed" : "unsigned"}; of floats u is: or a NaN among them`, "icmp slt"],
  [/^([ou])(eq|ne|lt|le|gt|ge)$/, (kind, how) => `the comparison of floats:`
    + ` ${CONDITIONS.get(how)}, `
    + `${kind === "o" ? "and no NaN" : "or a NaN"} among them`, "fcmp olt"],
  [/^(uno|ord)$/, (how) => `whether ${how === "uno" ? "a" : "no"} NaN is compared`, "fcmp uno"],
  [/^(eq|ne)$/, (how) => `the comparison: ${CONDITIONS.get(how)}`, "icmp eq"],
  [/^select$/, () => "one of two values by a condition, without a branch",
    "%m = select i1 %c, float %a, float %b"],
  [/^call$/, () => "calls a function; most are intrinsics, which become instructions",
    "call float @llvm.fma.f32(float %a, float %b, float %c)"],
  [/^(extractelement|insertelement)$/, (verb) =>
    `${verb === "extractelement" ? "takes one lane out of"
    : "puts one lane into"} a vector`, "extractelement <8 x float> %v, i64 0"],
  [/^shufflevector$/, () => "picks lanes of two vectors in any order",
    "shufflevector <4 x float> %a, <4 x float> %b, <4 x i32> zeroinitializer"],
  [/^(fpext|fptrunc)$/, (verb) => `converts a float to a`
    + ` ${verb === "fpext" ? "wider" : "narrower"} one`,
    "%d = fpext float %x to double"],
  [/^(sext|zext|trunc)$/, (verb) => verb === "trunc" ? "drops the upper bits of an integer"
    : `widens an integer with ${verb === "sext" ? "its sign" : "zeros"}`, "%w = zext i8 %b to i64"],
  [/^([su])itofp$|^fpto([su])i$/, () => "converts between integers and floats",
    "%f = sitofp i32 %i to float"],
  [/^bitcast$/, () => "the same bits as another type", "%b = bitcast float %x to i32"],
  [/^(inttoptr|ptrtoint)$/, () => "an address as a number, or back", "%n = ptrtoint ptr %p to i64"],
  [/^freeze$/, () => "fixes a poison value: one value for all uses", "%y = freeze i1 %x"],
  [/^ptr$/, () => "the type of an address", "ptr %in1"],
  [/^i(\d+)$/, (bits) => `the type of an integer of ${bits} bit${bits === "1" ? ": a truth" : "s"}`,
    "i64 %i"],
  [/^(half|float|double|bfloat)$/, (name) => `the type of a float: ${name === "half" ? 16
    : name === "double" ? 64 : name === "float" ? 32 : "16, brain float,"} bits`, "float %x"],
  [/^splat$/, () => "one value in every lane", "splat (float 1.000000e+00)"],
  [/^zeroinitializer$/, () => "zeros in every part", "<8 x float> zeroinitializer"],
  [/^(poison|undef)$/, () => "no value in particular: LLVM may take any", "<8 x float> poison"],
  [/^(nuw|nsw)$/, (how) => `this never overflows, ${how === "nuw" ? "unsigned" : "signed"}:`
    + ` LLVM may`
    + " rely on it", "add nuw nsw i64 %i, 1"],
  [/^(contract|reassoc|fast|nnan|ninf|nsz|arcp|afn)$/, (how) => `a permission for this float`
    + ` operation:`
      + ` ${{ contract: "a product and a sum become one", reassoc: "sums take another order",
      nnan: "no NaN is there", ninf: "no infinity is there", nsz: "-0 is 0",
      arcp: "a division becomes a product", afn: "functions are approximate" }[how] ?? "anything"}`,
    "fadd reassoc float %a, %b"],
  [/^align$/, () => "by how many bytes the address can be divided", "load float, ptr %p, align 4"],
  [/^(noalias|readonly|writeonly|nocapture|captures|nonnull|dereferenceable)$/, (how) => ({
    noalias: "no other pointer leads to this memory", readonly: "this memory is only read",
    writeonly: "this memory is only written" })[how] ?? "what is known of a pointer",
    "ptr noalias readonly %in1"],
  [/^(nounwind|willreturn|mustprogress|norecurse|nofree|nosync)$/, () => "what is known of a"
    + " function",
    "nounwind"],
  [/^fneg$/, () => "the negative of a float", "fneg float %x"],
  [/^llvm\.fma(?:\.\w+)?$|^llvm\.fmuladd(?:\.\w+)?$/, () => "a product and a sum, rounded once",
    "call float @llvm.fma.f32(…)"],
  [/^llvm\.(?:x86\.avx512(?:bf16)?\.v?p?dp\w+|aarch64\.neon\.\w*dot)(?:\.\w+)*$/, () => "adds"
    + " products of small types, several in each lane, to sums",
    "call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(…)"],
  [/^llvm\.masked\.(load|store|gather|scatter)(?:\.\w+)*$/, (verb) => `${verb}s only the lanes`
    + ` whose mask`
    + " is set", "call <8 x float> @llvm.masked.load.v8f32.p0(…)"],
  [/^llvm\.(fabs|floor|ceil|trunc|rint|round|roundeven|sqrt|copysign|nearbyint)(?:\.\w+)?$/,
    (name) => `an intrinsic, often one instruction: ${name}`, "call float @llvm.sqrt.f32(float"
      + " %x)"],
  [/^llvm\.(s|u)?(max|min|maximum|minimum|maxnum|minnum|maximumnum|minimumnum)(?:\.\w+)?$/,
    (_sign, name) => `the ${name.startsWith("max") ? "greater" : "lesser"} of two values`,
    "call i64 @llvm.smax.i64(i64 %a, i64 %b)"],
  [/^llvm\.vector\.reduce\.(\w+)(?:\.\w+)?$/, (name) => `reduces all lanes to one: ${name}`,
    "call float @llvm.vector.reduce.fadd.v8f32(…)"],
  [/^llvm\.prefetch(?:\.\w+)?$/, () => "prefetches memory that will be read later",
    "call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1)"],
  [/^llvm\.loop(\.[\w.]+)?$/, () => "a hint for LLVM: what to do with a loop, or not to do",
    "!{!\"llvm.loop.unroll.disable\"}"],
  [/^llvm\.(dbg|lifetime|assume|memcpy|memset)(?:\.\w+)*$/, (name) => `an intrinsic: ${name}`,
    "call void @llvm.memset.p0.i64(…)"],
];

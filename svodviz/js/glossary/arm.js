// Instructions of AArch64 with NEON and SVE, a sentence and an example each. Pure.

/** @typedef {import("./entries.js").Pattern} Pattern */

const CONDITIONS = new Map([["eq", "equal"], ["ne", "not equal"], ["lt", "less, signed"],
  ["le", "less or equal, signed"], ["gt", "greater, signed"], ["ge", "greater or equal, signed"],
  ["lo", "below, unsigned"], ["ls", "below or equal, unsigned"], ["hi", "above, unsigned"],
  ["hs", "above or equal, unsigned"], ["mi", "negative"], ["pl", "not negative"],
  ["vs", "unordered: a NaN was compared"], ["vc", "ordered"], ["cc", "no carry"], ["cs", "carry"]]);
const ROUND = new Map([["m", "down"], ["p", "up"], ["z", "towards zero"], ["n", "to the nearest"],
  ["a", "to the nearest, ties away from zero"], ["x", "to the nearest"], ["i", "as the mode"
    + " says"]]);

/** @type {Pattern[]} */
export const ARM = [
  [/^[su]{1,2}dot$|^bfdot$/, () => "adds the products of 4 bytes, or of 2 bfloat16, to each"
    + " 32-bit sum", "sdot v0.4s, v1.16b, v2.4b[0]"],
  [/^fmla$|^fmad$/, () => "adds a product to a sum, lane by lane, rounded once",
    "fmla v0.4s, v1.4s, v2.s[0]"],
  [/^fmls$|^fmsb$|^fnm(la|ls|ad|sb)$/, () => "a product and a sum in one instruction, with signs"
    + " changed", "fmls v0.4s, v1.4s, v2.4s"],
  [/^fn?m(add|sub)$/, () => "a product and a sum of single numbers, rounded once",
    "fmadd s0, s1, s2, s3"],
  [/^f(add|sub|mul|div|divr|subr|nmul)$/, (verb) => `arithmetic of floats: ${verb}`,
    "fadd v0.4s, v1.4s, v2.4s"],
  [/^f(max|min)(nm)?(p|v)?$/, (verb, nan, fold) => [
    `the ${verb === "max" ? "greater" : "lesser"} of two floats`,
    nan ? ", a NaN counting as missing" : "", fold === "v" ? ", over all lanes" : "",
  ].join(""), "fmax v0.4s, v1.4s, v2.4s"],
  [/^faddp$|^fadd[va]$|^addp$/, () => "adds neighbouring lanes, or all lanes", "faddp v0.4s,"
    + " v1.4s, v2.4s"],
  [/^f(abs|neg|sqrt)$/, (verb) => `of each float: ${verb === "abs" ? "the absolute value"
    : verb === "neg" ? "the negative" : "the square root"}`, "fsqrt v0.4s, v1.4s"],
  [/^frint([mpznaxi])$/, (way) => `rounds floats to whole numbers, ${ROUND.get(way)}`,
    "frintm v0.4s, v1.4s"],
  [/^fcvt(n|l)2?$/, (way) => `${way === "n" ? "narrows" : "widens"} floats; 2 is for the upper`
    + ` half`,
    "fcvtl v0.2d, v1.2s"],
  [/^fcvtz?[su]?$|^fcvt[nmpa][su]$/, () => "converts floats, to integers or to another width",
    "fcvtzs v0.4s, v1.4s"],
  [/^[su]cvtf$/, () => "converts integers to floats", "scvtf v0.4s, v1.4s"],
  [/^(f|f?ac|)cm(eq|ne|gt|ge|lt|le|hi|hs|lo|ls|tst|uo|p\w+)$|^cm(tst)$|^fcm\w+$/, (_kind, how) =>
    `compares lane by lane: all ones, or a set predicate, where`
      + ` ${CONDITIONS.get(how) ?? "it is so"}`,
    "cmgt v0.4s, v1.4s, v2.4s"],
  [/^fcmpe?$/, () => "compares two floats for the branch that follows", "fcmp s0, s1"],
  [/^cmp$|^cmn$|^tst$|^ccmp$/, () => "compares two integers for the branch that follows",
    "cmp x0, #64"],
  [/^b$/, () => "jumps", "b .LBB0_4"],
  [/^b\.(\w+)$/, (how) => `jumps where the last comparison was: `
    + `${CONDITIONS.get(how) ?? how}`, "b.ne .LBB0_2"],
  [/^cbn?z$/, () => "jumps where a register is zero (or is not)",
    "cbz x0, .LBB0_3"],
  [/^tbn?z$/, () => "jumps where one bit is zero (or is not)",
    "tbz w0, #3, .LBB0_3"],
  [/^blr?$/, () => "calls a function: of LLVM's run time or of the C library", "bl expf"],
  [/^ret$/, () => "returns to the caller", "ret"],
  [/^ld[npu]?r?$|^ldr[bh]$|^ldrs[bhw]$|^ldur\w*$|^ldp(sw)?$|^ldnp$/, () => "loads a register,"
    + " or two (p), from memory", "ldr q0, [x1, #16]"],
  [/^st[npu]?r?$|^str[bh]$|^stur\w*$|^stp$|^stnp$/, () => "stores a register, or two (p), to"
    + " memory",
    "str q0, [x0], #16"],
  [/^ld([1-4])(r?)([bhwd]?)$|^ld1r([bhwd])$|^ld1s[bhw]$/, () => "loads a vector: 1 as it is, 2 to 4"
    + " interleaved, r one value for every lane", "ld1w { z0.s }, p0/z, [x1, x2, lsl #2]"],
  [/^st([1-4])([bhwd]?)$/, () => "stores a vector, of the lanes whose predicate is set",
    "st1w { z0.s }, p0, [x0]"],
  [/^prfm$|^prf[bhwd]$/, () => "prefetches memory; nothing waits for it",
    "prfm pldl1keep, [x1, #256]"],
  [/^adrp?$/, () => "the address of something near, or of its page", "adrp x8, .LCPI0_0"],
  [/^(m(?:add|sub|neg|la|ls|ad|sb)|[su]mlal2?)$/,
    (verb) => `a product and a sum of integers: ${verb}`,
    "madd x0, x1, x2, x3"],
  [/^(adds?|subs?|mul|negs?|[su]div|[su]mulh|[su]mull2?|abs)$/,
    (verb) => `integer arithmetic: ${verb}`, "add x0, x1, x2, lsl #2"],
  [/^add(pl|vl)$|^rdvl$|^cnt[bhwd]$|^inc[bhwd]$|^dec[bhwd]$/, () => "counts by the length of a"
    + " vector, which the processor says", "addvl sp, sp, #-2"],
  [/^addv$|^[su]addlv$|^[su](max|min)v$/, () => "reduces all lanes to one", "addv s0, v0.4s"],
  [/^[su](max|min)p?$/, () => "the greater or lesser of two integers, lane by lane",
    "smax v0.4s, v1.4s, v2.4s"],
  [/^(and|orr|eor|orn|bic|mvn|mvni|not|eon|ands|bics)$/, (verb) => `works on bits: ${verb}`,
    "eor v0.16b, v1.16b, v2.16b"],
  [/^(bsl|bit|bif|sel)$/, () => "takes each bit or lane from one of two vectors, as a mask says",
    "bsl v0.16b, v1.16b, v2.16b"],
  [/^(csel|csinc|csinv|csneg|cset|csetm|cinc|fcsel)$/, () => "chooses by the last comparison,"
    + " without a branch", "csel x0, x1, x2, lt"],
  [/^(lsl|lsr|asr|ror|shl|shrn2?|[su]sh[lr]|[su]shll2?|[su]sra|sli|sri)$/,
    () => "shifts each integer", "ushr v0.4s, v1.4s, #23"],
  [/^([su]bfx|[su]bfiz|bfi|extr?)$/,
    () => "shifts, or takes a stretch of bits or lanes", "ushr v0.4s, v1.4s, #23"],
  [/^(mov|movi|movk|movn|movz|fmov|dup|umov|smov|ins|cpy|fdup|fcpy)$/, () => "moves a value, or a"
    + " constant, to a register; dup: to every lane", "dup v0.4s, v1.s[0]"],
  [/^movprfx$/, () => "joined with the next instruction: makes it write elsewhere than to its first"
    + " operand", "movprfx z0, z1"],
  [/^(zip|uzp|trn)[12]$/, () => "interleaves two vectors, takes them apart, or transposes pairs",
    "zip1 v0.4s, v1.4s, v2.4s"],
  [/^(tbl|tbx|rev\d*|splice|compact|ext|insr|last[ab])$/, () => "puts lanes in another order",
    "tbl v0.16b, { v1.16b }, v2.16b"],
  [/^(xtn|[su]qxtn|sqxtun)2?$/, () => "narrows integers; 2 is for the upper half", "xtn v0.4h,"
    + " v1.4s"],
  [/^[su]unpk(lo|hi)$|^[su]xt[lbhw]2?$|^[su]extend$|^punpk(lo|hi)$/, () => "widens integers, or"
    + " predicates, of the lower or upper half", "uunpklo z0.s, z1.h"],
  [/^ptrue$|^pfalse$|^ptest$|^p(first|next)$/, () => "sets or tests the predicate that says which"
    + " lanes take part", "ptrue p0.s"],
  [/^while(lo|lt|le|ls)$/, () => "sets a lane of a predicate for each iteration that is left",
    "whilelo p0.s, x0, x1"],
  [/^index$/, () => "a vector that counts up", "index z0.s, #0, #1"],
  [/^(clz|cnt|rbit|cls)$/, () => "counts or reverses bits", "clz x0, x1"],
  [/^(nop|brk|hint|bti)$/, () => "does nothing, or stops: padding and traps", "nop"],
];

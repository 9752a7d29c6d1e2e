// Instructions of x86-64 as the compiler's kernels use them, a sentence and an example each. Pure.

/** @typedef {import("./entries.js").Pattern} Pattern */

/** The operands of a kind of instruction, by the letters it ends with. */
const FLOATS = new Map([["ps", "float32 lanes"], ["pd", "float64 lanes"], ["ss", "one float32"],
  ["sd", "one float64"]]);
const INTEGERS = new Map([["b", "bytes"], ["w", "16-bit integers"], ["d", "32-bit integers"],
  ["q", "64-bit integers"]]);
const VERBS = new Map([["add", "adds"], ["sub", "subtracts"], ["mul", "multiplies"],
  ["div", "divides"], ["max", "takes the greater of each pair of"],
  ["min", "takes the lesser of each pair of"], ["sqrt", "takes square roots of"]]);
const BITS = new Map([["and", "the bits that both have"], ["andn", "the bits of the second that"
  + " the first lacks"], ["or", "the bits that either has"], ["xor", "the bits in which the two"
  + " differ: of a register with itself it is zero"]]);
const JUMPS = new Map([["e", "equal"], ["ne", "not equal"], ["l", "less, signed"],
  ["le", "less or equal, signed"], ["g", "greater, signed"], ["ge", "greater or equal, signed"],
  ["b", "below, unsigned"], ["be", "below or equal, unsigned"], ["a", "above, unsigned"],
  ["ae", "above or equal, unsigned"], ["s", "negative"], ["ns", "not negative"],
  ["p", "unordered: a NaN was compared"], ["np", "ordered"], ["o", "overflowed"],
  ["no", "not overflowed"]]);
const WIDTHS = new Map([["bw", "bytes to 16 bits"], ["bd", "bytes to 32 bits"],
  ["bq", "bytes to 64 bits"], ["wd", "16 bits to 32"], ["wq", "16 bits to 64"],
  ["dq", "32 bits to 64"]]);
const KINDS = new Map([["ps", "float32"], ["pd", "float64"], ["ss", "float32"],
  ["sd", "float64"], ["ph", "float16"], ["dq", "int32"], ["udq", "uint32"], ["qq", "int64"],
  ["uqq", "uint64"], ["si", "an integer register"], ["usi", "an unsigned integer register"]]);

const float = (/** @type {string} */ end) => FLOATS.get(end) ?? end;
const whole = (/** @type {string} */ end) => INTEGERS.get(end) ?? end;

/** @type {Pattern[]} */
export const X86 = [
  [/^v?(add|sub|mul|div|max|min|sqrt)(ps|pd|ss|sd)$/,
    (verb, end) => `${VERBS.get(verb)} ${float(end)}`, "vaddps ymm0, ymm1, ymm2"],
  [/^vf(n?)m(add|sub)(132|213|231)(ps|pd|ss|sd)$/,
    (negative, verb, order, end) => `fused multiply-${verb}: ${negative ? "minus " : ""}a product`
      + ` ${verb === "add" ? "plus" : "minus"} a third operand, rounded once, of ${float(end)};`
      + ` ${order} says which operands are multiplied (${order[0]} and ${order[1]}) and which is`
      + ` ${verb === "add" ? "added" : "subtracted"} (${order[2]})`,
    "vfmadd231ps ymm0, ymm1, ymm2     ymm0 += ymm1 * ymm2"],
  [/^v?(andn?|or|xor)(ps|pd)$/, (verb, end) => `${BITS.get(verb)}, in ${float(end)}`,
    "vxorps xmm0, xmm0, xmm0          zeros"],
  [/^vp(andn?|or|xor)([dq]?)$/, (verb) => `${BITS.get(verb)}, in a whole vector`,
    "vpxor xmm0, xmm0, xmm0"],
  [/^vpternlog([dq])$/, () => "any function of the bits of three vectors: a table of 8 bits says"
    + " what comes out of each combination", "vpternlogd zmm0, zmm1, zmm2, 202"],
  [/^v?mov(u|a)(ps|pd)$/, (how, end) => `moves a vector of ${float(end)}, from, to or between `
    + `registers; ${how === "a" ? "memory has to be aligned to the vector" : "memory may have any"
    + " alignment"}`, "vmovups ymm0, ymmword ptr [rsi + 4*rax]"],
  [/^v?movdq(u|a)\d*$/, (how) => `moves a vector of integers; ${how === "a" ? "memory has to be "
    + "aligned to the vector" : "memory may have any alignment"}`,
    "vmovdqu ymm0, ymmword ptr [rsi]"],
  [/^v?movnt(ps|pd|dq)$/, () => "stores a vector past the caches: what is written is not read soon",
    "vmovntps ymmword ptr [rdi], ymm0"],
  [/^v?mov(ss|sd)$/, (end) => `moves ${float(end)}`, "vmovss xmm0, dword ptr [rsi]"],
  [/^v?mov(d|q)$/, (end) => `moves ${end === "d" ? 32 : 64} bits between a general register,`
    + " memory and the lowest lane of a vector", "vmovq xmm0, rax"],
  [/^v?mov(sh|sl|d)dup$/, (which) => `copies the ${which === "sh" ? "odd" : "even"} lanes over`
    + " their neighbours", "vmovshdup xmm1, xmm0"],
  [/^vpmovmskb$|^vmovmskp[sd]$/, () => "collects the topmost bit of each lane in a general"
    + " register",
    "vpmovmskb eax, ymm0"],
  [/^vpmov([sz])x(bw|bd|bq|wd|wq|dq)$/, (how, end) => `widens integers, ${WIDTHS.get(end)}, with `
    + `${how === "s" ? "their sign" : "zeros"}`, "vpmovzxbd ymm0, qword ptr [rsi]"],
  [/^vpmov([su]*)(qd|qw|qb|dw|db|wb)$/, (how) =>
    `narrows integers${how ? ", with saturation" : ""}`,
    "vpmovdb xmmword ptr [rdi], zmm0"],
  [/^vpmov([bwdq])2m$|^vpmovm2([bwdq])$/, () => "moves the signs of the lanes to a mask, or back",
    "vpmovd2m k1, zmm0"],
  [/^vp(add|sub)([bwdq])$/, (verb, end) => `${VERBS.get(verb)} ${whole(end)}`,
    "vpaddd ymm0, ymm1, ymm2"],
  [/^vpmul(l[wdq]|udq|dq|hu?w)$/, () => "multiplies integers: the low (l), high (h) or whole"
    + " products",
    "vpmulld ymm0, ymm1, ymm2"],
  [/^vpdp(busd|wssd)$/, (kind) => "adds the products of " + (kind === "busd"
    ? "4 unsigned and 4 signed bytes" : "2 pairs of 16-bit integers") + " to each 32-bit sum",
    "vpdpbusd zmm0, zmm1, zmm2"],
  [/^vdpbf16ps$/, () => "adds the products of 2 pairs of bfloat16 to each float32 sum",
    "vdpbf16ps zmm0, zmm1, zmm2"],
  [/^vp(max|min)([su])([bwdq])$/, (verb, sign, end) => `${VERBS.get(verb)} ${whole(end)}, `
    + `${sign === "s" ? "signed" : "unsigned"}`, "vpmaxsd ymm0, ymm1, ymm2"],
  [/^vpabs([bwdq])$/, (end) => `absolute values of ${whole(end)}`, "vpabsd ymm0, ymm1"],
  [/^vpmadd(wd|ubsw)$/, () => "multiplies pairs of narrow integers and adds each pair of products",
    "vpmaddwd ymm0, ymm1, ymm2"],
  [/^vpdpbusds?$/, () => "adds four products of bytes to each 32-bit sum",
    "vpdpbusd zmm0, zmm1, zmm2"],
  [/^vps(ll|rl|ra)v?([wdq]|dq)$/, (way, end) => `shifts ${end === "dq" ? "a whole register by bytes"
    : whole(end)} ${way === "ll" ? "left" : "right"}${way === "ra" ? ", keeping the sign" : ""}`,
    "vpslld ymm0, ymm1, 23"],
  [/^vprol|^vpror/, () => "rotates the bits of each lane", "vprold zmm0, zmm1, 13"],
  [/^vpcmp(eq|gt)([bwdq])$/, (how, end) => `compares ${whole(end)}: a lane of all ones where `
    + `${how === "eq" ? "they are equal" : "the first is greater, signed"}`,
    "vpcmpgtd ymm0, ymm1, ymm2"],
  [/^vpcmp(.*)(u?[bwdq])$/, () => "compares integers lane by lane; the answer is a mask",
    "vpcmpltud k1, zmm0, zmm1"],
  [/^v(?:pt?est(n?m[bwdq])?|testp[sd])$/, () => "tests whether bits are set in common",
    "vptest ymm0, ymm0"],
  [/^v?cmp(\w*)(ps|pd|ss|sd)$/, (how, end) => `compares ${float(end)}`
    + ` (${how || "as a number says"}):`
    + " a lane of all ones, or a bit of a mask, where it is so", "vcmpltps ymm0, ymm1, ymm2"],
  [/^v?u?comis([sd])$/, (end) => `compares ${float(`s${end}`)} and sets the flags that a jump`
    + ` reads`,
    "vucomiss xmm0, xmm1"],
  [/^v?round(ps|pd|ss|sd)$|^vrndscale(ps|pd|ss|sd)$/, () => "rounds to whole numbers, in the"
    + " direction that the last operand says", "vroundps ymm0, ymm1, 9          towards -∞"],
  [/^v(scalef|getexp|getmant|rcp14|rsqrt14|range|fixupimm|reduce)(ps|pd|ss|sd)$/, (verb) =>
    `takes floats apart, or approximates: ${verb}`, "vscalefps zmm0, zmm1, zmm2     times 2^n"],
  [/^v?cvtt?(ps|pd|ss|sd|ph|dq|udq|qq|uqq|si|usi)2(ps|pd|ss|sd|ph|dq|udq|qq|uqq|si|usi)$/,
    (from, to) => `converts ${KINDS.get(from)} to ${KINDS.get(to)}`, "vcvtps2pd ymm0, xmm1"],
  [/^v?blendv?(ps|pd)$|^vpblend(vb|d|w)$|^vp?blendm/, () => "takes each lane from one of two"
    + " vectors, as a mask says", "vblendvps ymm0, ymm1, ymm2, ymm3"],
  [/^vmaskmov(ps|pd)$|^vpmaskmov[dq]$/, () => "loads or stores only the lanes whose mask is"
    + " set; the others touch no memory", "vmaskmovps ymm0, ymm1, ymmword ptr [rsi]"],
  [/^vp?gather/, () => "loads each lane from its own address: slower than a plain load",
    "vgatherdps ymm0, dword ptr [rsi + 4*ymm1], ymm2"],
  [/^vp?scatter/, () => "stores each lane to an address of its own",
    "vscatterdps dword ptr [rdi + 4*zmm1] {k1}, zmm0"],
  [/^vp?(compress|expand)/, () => "packs the lanes of a mask next to each other, or spreads them",
    "vcompressps zmm0 {k1}, zmm1"],
  [/^vp?broadcast/, () => "copies one value into every lane", "vbroadcastss ymm0, dword ptr [rsi]"],
  [/^vp?extr/, () => "takes one lane, or one half of a vector, out",
    "vextractf128 xmm0, ymm1, 1"],
  [/^vp?insert|^vpinsr[bwdq]$/, () => "puts a value in one lane, or a half, of a vector",
    "vinsertf128 ymm0, ymm1, xmm2, 1"],
  [/^vp?perm/, () => "puts lanes in another order, across the vector or inside its halves of 128"
    + " bits", "vpermilps ymm0, ymm1, 177"],
  [/^vp?shuf|^v?shufp/, () => "picks lanes of one or two vectors, inside each 128 bits",
    "vshufps ymm0, ymm1, ymm2, 136"],
  [/^vpalignr$|^valign/, () => "takes a window out of two vectors laid end to end",
    "vpalignr ymm0, ymm1, ymm2, 4"],
  [/^v?mov([lh])p[sd]$/, (half) => `moves ${half === "l" ? "the low" : "the high"} half of 128`
    + " bits between memory and a vector", "vmovlps qword ptr [rdi], xmm0"],
  [/^v?mov(lh|hl)ps$/, () => "puts the low (l) or high (h) halves of two vectors of 128"
    + " bits together", "vmovlhps xmm0, xmm1, xmm2"],
  [/^v?p?unpck/, () => "interleaves the low (l) or high (h) lanes of two vectors",
    "vunpcklpd ymm0, ymm1, ymm2"],
  [/^vpack|^v?phadd|^v?hadd/, () => "joins two vectors, halving lanes: by narrowing them, or by"
    + " adding neighbours", "vpackssdw ymm0, ymm1, ymm2"],
  [/^vzero(upper|all)$/, () => "clears the upper halves of the vector registers, so that older code"
    + " is not slowed down", "vzeroupper"],
  [/^k(mov|and|andn|or|xor|xnor|not|shift[lr]|ortest|unpck|add|test)\w*$/, () => "works on masks,"
    + " one bit for each lane", "kmovw k1, eax"],
  [/^prefetch/, () => "prefetches a cache line; nothing waits for it",
    "prefetcht0 byte ptr [rsi + 256]"],
  [/^movabs$/, () => "puts a constant of 64 bits, often an address, in a register",
    "movabs rax, offset .LCPI0_0"],
  [/^mov([sz])xd?$/, (how) => `moves an integer and widens it with ${how === "s" ? "its sign"
    : "zeros"}`, "movzx eax, byte ptr [rsi]"],
  [/^mov$/, () => "moves a value: register, memory or constant", "mov rax, qword ptr [rsp + 8]"],
  [/^lea$/, () => "computes an address, without touching memory: sums and small multiples for free",
    "lea rax, [rsi + 4*rcx + 16]"],
  [/^cmov(\w+)$/, (how) => `moves where the last comparison was: ${JUMPS.get(how) ?? how}; no`
    + ` jump is`
    + " needed", "cmovl eax, ecx"],
  [/^set(\w+)$/, (how) => `1 where the last comparison was: ${JUMPS.get(how) ?? how}; else 0`,
    "setge al"],
  [/^jmp$/, () => "jumps", "jmp .LBB0_4"],
  [/^j(n?[eglabspo]e?|ne|ge|le|ae|be)$/, (how) => `jumps where the last`
    + ` comparison was: ${JUMPS.get(how) ?? how}`, "jne .LBB0_2"],
  [/^cmp$/, () => "compares two integers for the jump that follows", "cmp rax, 64"],
  [/^test$/, () => "looks at the bits that two integers have in common, for the jump that follows",
    "test rax, rax                    is it zero?"],
  [/^(add|sub|inc|dec|neg|i?mul|mulx|i?div|adc|sbb)$/, (verb) => `integer arithmetic: ${verb}`,
    "add rax, 64"],
  [/^(and|or|xor|not|andn|bt|btr|bts)$/, (verb) => `works on the bits of an integer: ${verb}`,
    "xor eax, eax                     zero"],
  [/^(shl|shr|sar|sal|rol|ror|shlx|shrx|sarx|rorx)$/, () => "shifts or rotates the bits of an"
    + " integer",
    "shl rax, 6"],
  [/^(tzcnt|lzcnt|popcnt|bsf|bsr|blsr|bextr|bzhi|pext|pdep)$/, () => "counts or picks bits",
    "tzcnt eax, ecx"],
  [/^call$/, () => "calls a function: in a kernel, of LLVM's run time or of the C library",
    "call rax"],
  [/^ret$/, () => "returns to the caller", "ret"],
  [/^(push|pop)$/, (verb) =>
    `${verb === "push" ? "saves a register on" : "takes a register from"} the`
    + " stack", "push rbx"],
  [/^(cdqe?|cqo|cwde)$/, () => "widens an integer with its sign", "cdqe"],
  [/^(nop\w*|int3|ud2)$/, () => "does nothing, or stops: padding and traps", "nop"],
];

// Words of the compiler's own texts: graph, loops, choices, instructions. Pure.

/** @typedef {import("./entries.js").Row} Row */

/** Choices about loops, as `Options(loops=…)` takes them. @type {Row[]} */
export const CHOICES = [
  ["tile", "cuts a loop into tiles of a size: one loop over the tiles, one inside them",
    "tile i0 16 peel"],
  ["peel", "the iterations that fill no whole tile are a loop of their own", "tile i0 16 peel"],
  ["mask", "the last tile is run whole, and a mask leaves out what is not there", "tile i0 16"
    + " mask"],
  ["reorder", "puts loops in another order, the outermost first", "reorder i1.0 i0.0 i0.1"],
  ["pack", "copies what a tile reads to scratch memory, in the order in which it is read",
    "pack 2 i1.0"],
  ["cache_row", "stores the values of a row in scratch memory, instead of computing them again",
    "cache_row r3 i1"],
  ["accumulate", "adds a reduction to scratch memory, some rows at a time", "accumulate r1 8"],
  ["dot", "multiplies several elements of small types at once and adds them up", "dot r2.1 plain"],
  ["plain", "factors are multiplied as they are", "dot r2.1 plain"],
  ["shifted", "one factor is moved by 128 into the other type of 8 bits, which is taken off again",
    "dot r2.1 shifted"],
  ["unroll", "writes the iterations of a loop side by side: no jump, a register for each",
    "unroll i0.1"],
  ["vectorize", "makes the iterations of a loop the lanes of vector instructions", "vectorize"
    + " i0.1"],
  ["parallelize", "shares the iterations of a loop out over cores", "parallelize i0.0 2"],
  ["stream", "non-temporal stores: they bypass the caches, for values not read soon", "stream 0"],
  ["prefetch", "asks for the next tile's memory while this one is computed", "prefetch 1 r2 i0.0"],
];

/** Kernels as loops. @type {Row[]} */
export const LOOPS = [
  ["for", "a loop: its counter runs from 0 up to the number behind `in`, not included",
    "for i0 in 64"],
  ["in1", "the first argument that a kernel reads; in2, in3 the others", "in1[i0*64 + r1]"],
  ["out", "the argument that a kernel writes", "out[i0]"],
  ["acc", "an accumulator: what a reduction has folded so far", "acc %2 = 0.0"],
  ["reduction", "a loop whose iterations are folded into one value", "for r1 in 64   reduction"],
  ["lanes", "a loop whose iterations are the lanes of vectors", "i0.1 in 16   lanes"],
  ["unrolled", "a loop whose iterations are written side by side", "i0.1 in 4   unrolled"],
  ["dot", "a loop whose iterations are the elements of words, multiplied and added up at once",
    "r2.1 in 4   reduction   dot"],
  ["where", "one of two values, by a condition", "where((i0 < 1), %93, 0.0)"],
  ["if", "a predicate: where it is false, a load gives 0 and memory is not touched",
    "in1[i0 + -1] if i0 >= 1 else 0"],
  ["at0", "where the part begins that a call reads: one kernel serves several calls",
    "in1[i0*12 + at0]"],
];

/** Lowered instructions. @type {Row[]} */
export const LOWERED = [
  ["define_global", "a pointer that the kernel is given", "%0 = define_global out f32[64]"],
  ["define_var", "an integer that the kernel is given when it runs", "%3 = define_var n 1..64"],
  ["const", "a constant", "%4 = const 1e-5 f32"],
  ["vconst", "a constant with a value for each lane", "%9 = vconst [0.0, 1.0] f32x2"],
  ["local", "scratch memory of the kernel", "%30 = local f32[4096]"],
  ["range", "the begin of a loop: its counter", "%5 = range %4 i0"],
  ["end", "the end of a loop", "end %5"],
  ["load", "reads memory: one element, or neighbours as lanes", "%7 = load %1 %6 f32x8"],
  ["store", "writes memory: one element, or neighbours as lanes", "store %0 %6 %8"],
  ["acc", "an accumulator with its first value", "%2 = acc %1 f32"],
  ["assign", "gives an accumulator a value", "assign %2 %9"],
  ["mulacc", "adds a product to a sum, rounded once: a fused multiply-add", "%9 = mulacc %7 %8 %2"],
  ["gep", "picks lanes of a vector", "%11 = gep %10 [0] f32"],
  ["shuffle", "picks lanes of two vectors", "%12 = shuffle %10 %11 [0, 4]"],
  ["vectorize", "one vector of several values", "%13 = vectorize %11 %12"],
  ["cast", "converts a value to another type", "%14 = cast %7 f64"],
  ["bitcast", "the same bits as another type", "%15 = bitcast %7 i32"],
  ["where", "one of two values, by a condition", "%16 = where %3 %4 %5"],
  ["if", "what follows runs only where a condition holds", "if %3"],
  ["endif", "the end of what a condition guards", "endif"],
  ["dot", "adds the products of the elements of words, several in each lane",
    "%21 = dot %7 %8 %9 4 i32x16"],
  ["ptrcat", "a pointer for each lane", "%17 = ptrcat %1 %2"],
  ["custom", "a function from outside", "%18 = custom erf %7"],
  ["unroll", "how often LLVM is to unroll the next loop", "unroll 4"],
  ["idiv", "the quotient of integers, towards zero", "%19 = idiv %5 %4"],
  ["mod", "the remainder of a division", "%20 = mod %5 %4"],
  ["shl", "shifts bits left", "%21 = shl %5 %4"],
  ["shr", "shifts bits right", "%22 = shr %5 %4"],
];

/** The tensor graph and the kernel graph. @type {Row[]} */
export const GRAPHS = [
  ["buffer", "data that exist: an input, a result, or what one kernel writes for another",
    "%0 = buffer x f32[64,784]"],
  ["const", "one value everywhere", "%1 = const 1e-5 f32[64]"],
  ["reshape", "the same elements with other extents; costs nothing by itself", "%2 = reshape %1"],
  ["permute", "the axes in another order; costs nothing by itself", "%3 = permute %2 (1,0)"],
  ["expand", "repeats an axis of extent 1; costs nothing by itself", "%4 = expand %3"],
  ["pad", "puts zeros around", "%5 = pad %4 1+1"],
  ["shrink", "a part of each axis", "%6 = shrink %5 0:4 2:3"],
  ["narrow", "a part that begins where a variable says", "%7 = narrow %6 %1 axis 1 length 2"],
  ["flip", "an axis reversed", "%8 = flip %7 (0)"],
  ["reduce", "axes folded into one element: sum, max, min, prod", "%9 = reduce sum %8 axes (1)"],
  ["cast", "converts to another type", "%10 = cast %9 f16"],
  ["index", "elements at computed positions: a gather", "%11 = index %0 %10"],
  ["iota", "0, 1, 2, … along an axis", "%12 = iota i64[64]"],
  ["contiguous", "in memory, row by row: it ends a kernel", "%13 = contiguous %12"],
  ["sink", "what a program gives back", "sink %13"],
  ["call", "runs a kernel on buffers: the first is written, the others are read", "%3 = call"
    + " k0(%1, %2)"],
  ["after", "a buffer once the calls behind it have run", "%4 = after %1 [%3]"],
  ["transfer", "copies a buffer to another, or to another device", "%5 = transfer copy(%1, %2)"],
  ["bind", "gives a variable its value", "%6 = bind %5 = 8"],
];

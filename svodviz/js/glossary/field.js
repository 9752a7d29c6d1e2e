// Words of the field, as the page uses them. Pure.

/** @typedef {import("./entries.js").Row} Row */

/** @type {Row[]} */
export const FIELD = [
  ["accumulator", "a register in which a sum grows", "24 accumulators: 6 rows of 4 vectors"],
  ["affine", "a sum of multiples of loop counters", "i0*64 + i1 + 3"],
  ["arena", "one block of memory that the buffers of a program share", "arena 6,656 bytes"],
  ["arithmetic intensity", "operations for each byte moved", "0.25 flop/byte: memory decides"],
  ["AVX2", "vector instructions of x86 with 256 bits: 8 float32", "vfmadd231ps ymm0, ymm1, ymm2"],
  ["AVX-512", "vector instructions of x86 with 512 bits and masks: 16 float32", "vaddps zmm0"
    + " {k1}, zmm1, zmm2"],
  ["basic block", "instructions that run one after the other: jumps lead to its begin and leave"
    + " at its end", ".LBB0_2"],
  ["broadcast", "one value, or one row, used for all", "[64,1] + [64,10]"],
  ["cache", "small, fast memory beside a core: L1, L2 and L3, each larger and slower",
    "32 KiB, 1 MiB, 32 MiB"],
  ["callback", "work on the host between kernels, in Python", "custom host function"],
  ["constant folding", "computing at compile time what needs no data", "2 * 3 → 6"],
  ["critical path", "items of the schedule that each wait for the one before: no faster than"
    + " their sum", "k0 → k3 → k4"],
  ["CSE", "common subexpressions are computed once", "x*y + x*y → t + t"],
  ["dependency", "why one item waits for another: data, anti, output, or control", "k1 reads"
    + " what k0 wrote"],
  ["anti-dependency", "a buffer may be written only after its last reader", "read, then written"],
  ["dtype", "the type of the elements", "f32 is float32, i64 is int64"],
  ["FLOP", "one operation on floats; a fused multiply-add is two", "2·n³ for a matrix product"],
  ["FMA", "fused multiply-add: a product and a sum, rounded once", "a*b + c"],
  ["fusion", "several operations in one kernel, so that what lies between is never in memory",
    "exp(x) * 2"],
  ["gather", "reading elements at computed positions", "x[indices]"],
  ["IR", "intermediate representation: a program between source and machine code",
    "graph, loops, LLVM IR"],
  ["iteration", "one pass through the body of a loop", "for i0 in 64 has 64"],
  ["kernel", "a function that computes one buffer from others", "k0(out, in1, in2)"],
  ["lane", "one element of a vector register", "8 lanes of float32 in 256 bits"],
  ["latency", "cycles from an instruction's begin until its result can be used", "4 for an fma"],
  ["throughput", "how many instructions of a kind end in each cycle", "2 fma per cycle"],
  ["loop-invariant", "the same in each iteration: computed once, before the loop", "1 / n"],
  ["memory bound", "as slow as its data arrive: more computing would cost nothing", "x + y"],
  ["compute bound", "as slow as its arithmetic", "a large matrix product"],
  ["NEON", "vector instructions of ARM with 128 bits: 4 float32", "fmla v0.4s, v1.4s, v2.4s"],
  ["operand", "what an operation reads", "a and b of a + b"],
  ["peak", "the moment at which most memory is in use, or the most a machine can do", "peak 193"
    + " KiB"],
  ["predicate", "a mask: which lanes take part", "p0 of SVE, k1 of AVX-512"],
  ["prefetch", "asking for memory before it is needed", "prefetcht0"],
  ["register", "memory inside the core: what instructions compute with", "16 vector registers"
    + " in AVX2"],
  ["reduction", "folding an axis into one element", "sum, max"],
  ["roofline", "the most that a kernel could do: what computing or memory allows, whichever is"
    + " less", "intensity × bandwidth"],
  ["rewrite", "replacing a part of a program by an equal one", "x * 1 → x"],
  ["scatter", "writing elements to computed positions", "x[indices] = y"],
  ["schedule", "kernels and copies in an order, with what each waits for", "k0, k1, copy, k2"],
  ["SIMD", "one instruction, many data: vectors", "vaddps adds 8 pairs"],
  ["slack", "how much later an item could run without delaying the end", "slack 0: critical"],
  ["spill", "a register's value in memory, for lack of registers", "mov qword ptr [rsp + 8], rax"],
  ["SSA", "each value is written once, so what it is follows from its name", "%3 = fadd %1, %2"],
  ["stride", "how far apart in memory two neighbours of an axis are, in elements",
    "strides (784, 1)"],
  ["SVE", "vector instructions of ARM whose length the processor says", "ld1w { z0.s }, p0/z,"
    + " [x1]"],
  ["tile", "a block of iterations whose data fit in registers or a cache", "6 rows by 4 vectors"],
  ["trip count", "how many iterations a loop has", "for r1 in 784: 784"],
  ["vectorization", "iterations as lanes of vector instructions", "16 iterations, one instruction"],
];

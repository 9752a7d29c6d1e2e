"""The glossary: one row per concept. The page, docs/glossary.md and the test of words share it.

`python -m tools.glossary` writes the page's and the document's part from these rows.
"""

from typing import NamedTuple


class Concept(NamedTuple):
    """A concept: its word in the field, one sentence, an example, where it is.

    `code` is a file or folder of the repository, `page` the id of a view or "inspector"; either is
    "" where there is none. `refused` are regular expressions of other words for it, which no text
    of the project uses.
    """

    word: str
    sentence: str
    example: str
    code: str = ""
    page: str = ""
    refused: tuple[str, ...] = ()


CONCEPTS = (
    Concept("accumulator", "a register in which a reduction collects its result",
            "24 accumulators: 6 rows of 4 vectors", "compiler/lowered/accumulate.py", "text"),
    Concept("activation", "a value of the forward pass; the backward pass may need it again",
            "h = relu(x @ w)", "compiler/graph/sweep.py", "memory"),
    Concept("affine", "a sum of constant multiples of loop counters", "i0*64 + i1 + 3",
            "compiler/loops/symbolic.py", "text"),
    Concept("alias", "two names for the same memory", "x[1:] and x", "compiler/graph/storage.py"),
    Concept("anti-dependency", "write after read (WAR): a buffer may be overwritten only after its "
            "last reader", "k1 writes what k0 read", "compiler/schedule/dependencies.py",
            "timeline"),
    Concept("arena", "one block of memory that holds the buffers of a program at planned offsets",
            "arena 6,656 bytes", "compiler/run/allocation.py", "memory"),
    Concept("arithmetic intensity", "operations per byte moved between memory and processor",
            "0.25 FLOP/byte: memory bound", "compiler/schedule/analysis", "run",
            (r"\boperations for each byte\b",)),
    Concept("AVX-512", "vector instructions of x86 with 512 bits and masks: 16 float32",
            "vaddps zmm0 {k1}, zmm1, zmm2", "compiler/machines", "machine"),
    Concept("AVX2", "vector instructions of x86 with 256 bits: 8 float32",
            "vfmadd231ps ymm0, ymm1, ymm2", "compiler/machines", "machine"),
    Concept("backward pass", "the part of a training step that computes gradients, from the loss "
            "to the parameters", "loss.backward()", "compiler/graph/differentiate.py", "graph",
            (r"\bways? (there and )?back\b",)),
    Concept("basic block", "instructions that run one after another: jumps enter at its first and "
            "leave at its last", ".LBB0_2", "compiler/llvm/looking", "machine"),
    Concept("broadcast", "one value, or one row, used for all", "[64,1] + [64,10]",
            "compiler/graph/extents.py", "graph"),
    Concept("cache", "small, fast memory next to a core: L1, L2 and L3, each larger and slower",
            "32 KiB, 1 MiB, 32 MiB", "compiler/machines", "playground"),
    Concept("callback", "work on the host between kernels, in Python", "custom host function",
            "compiler/custom.py", "graph"),
    Concept("compute bound", "limited by arithmetic, not by memory", "a large matrix product",
            "compiler/schedule/analysis", "run"),
    Concept("conflict miss", "a cache miss because too many lines map to the same set",
            "rows 4,096 bytes apart", "compiler/playground", "playground"),
    Concept("constant folding", "computing at compile time what needs no data", "2 * 3 → 6",
            "compiler/graph/simplify.py", "graph"),
    Concept("counted loop", "a loop in the graph with a known number of iterations; `repeat` here, "
            "`fori_loop` or `scan` elsewhere", "repeat(step, 10, state)",
            "compiler/schedule/iterations.py", "graph"),
    Concept("critical path", "the longest chain of items that each wait for the one before: no "
            "schedule is faster than its sum", "k0 → k3 → k4", "compiler/schedule/analysis",
            "timeline"),
    Concept("CSE", "common subexpression elimination: equal expressions are computed once",
            "x*y + x*y → t + t", "compiler/graph/cse.py", "graph"),
    Concept("dependency", "why one item waits for another: read after write (RAW, data), write "
            "after read (WAR, anti), write after write (WAW, output), or control",
            "k1 reads what k0 wrote", "compiler/schedule/dependencies.py", "timeline"),
    Concept("dilation", "the distance between the taps of a window", "dilation 2: every other row",
            "compiler/nn"),
    Concept("dtype", "the type of the elements", "f32 is float32, i64 is int64",
            "compiler/core/dtypes.py", "inspector"),
    Concept("fission", "splitting a fused kernel into several", "one kernel of 3 loops → 2",
            "compiler/schedule/fission.py", "fusion"),
    Concept("FLOP", "one floating-point operation; a fused multiply-add counts as two",
            "2·n³ for a matrix product", "compiler/loops/count.py", "run"),
    Concept("FMA", "fused multiply-add: a product and a sum, rounded once", "a*b + c",
            "compiler/llvm/operations.py", "machine"),
    Concept("forward pass", "the part of a training step that computes the loss from the inputs",
            "loss = cross_entropy(model(x), y)", "compiler/graph/differentiate.py", "graph",
            (r"\bways? there\b",)),
    Concept("fusion", "several operations in one kernel, so that values between them never reach "
            "memory", "exp(x) * 2", "compiler/schedule/partition.py", "fusion"),
    Concept("gather", "reading elements at computed positions", "x[indices]",
            "compiler/graph/kinds/joins.py", "graph"),
    Concept("IR", "intermediate representation: the program between source and machine code",
            "graph, loops, LLVM IR", "compiler/README.md", "columns"),
    Concept("iteration", "one execution of the body of a loop", "for i0 in 64 has 64",
            "compiler/loops/nodes.py", "text"),
    Concept("kernel", "a function that computes one buffer from others", "k0(out, in1, in2)",
            "compiler/schedule/outline.py", "text"),
    Concept("lane", "one element of a vector register", "8 lanes of float32 in 256 bits",
            "compiler/loops/transforms/vectorize.py", "text"),
    Concept("latency", "cycles from the issue of an instruction until its result can be used",
            "4 for an FMA", "compiler/machines", "machine"),
    Concept("LICM", "loop-invariant code motion: what is the same in each iteration is computed "
            "once, before the loop", "1 / n", "compiler/loops/placement.py", "text"),
    Concept("lineage", "the history of one value through all stages: its line, nodes, loops and "
            "instructions", "line 3 → %4 → k0 → vfmadd231ps", "compiler/core/lineage.py",
            "inspector", (r"\bbiograph(y|ies)\b",)),
    Concept("live range", "the part of a program between a value's definition and its last use",
            "steps 2 to 5", "compiler/schedule/analysis", "memory", (r"\bdead since\b",)),
    Concept("loop coalescing", "two perfectly nested loops become one", "64 × 784 → 50176",
            "compiler/loops/coalesce.py", "text"),
    Concept("loop-invariant", "the same in each iteration of a loop", "1 / n",
            "compiler/loops/placement.py", "text"),
    Concept("memory bound", "limited by memory bandwidth: more arithmetic would cost no time",
            "x + y", "compiler/schedule/analysis", "run"),
    Concept("NEON", "vector instructions of ARM with 128 bits: 4 float32",
            "fmla v0.4s, v1.4s, v2.4s", "compiler/machines", "machine"),
    Concept("operand", "a value that an operation reads", "a and b of a + b",
            "compiler/core/node.py", "inspector"),
    Concept("padding", "elements added around a value", "pad 1 on each side",
            "compiler/graph/nodes.py", "graph"),
    Concept("peak", "the highest rate that the machine reaches, or the most memory in use at once",
            "peak 193 KiB", "compiler/machines", "memory"),
    Concept("predicate", "a condition per lane or access: where it is false nothing is read or "
            "written", "p0 of SVE, k1 of AVX-512", "compiler/loops/nodes.py", "text"),
    Concept("prefetch", "requesting memory before it is needed", "prefetcht0",
            "compiler/loops/transforms/prefetch.py", "machine"),
    Concept("provenance", "the lines and nodes that a node was derived from", "%7 from line 3",
            "compiler/core/trace.py", "inspector"),
    Concept("reduction", "combining the elements of an axis into one", "sum, max",
            "compiler/graph/nodes.py", "graph"),
    Concept("register", "storage inside the core that instructions compute with",
            "16 vector registers in AVX2", "compiler/lowered/registers.py", "machine"),
    Concept("rematerialisation", "computing an activation again in the backward pass instead of "
            "storing it", "checkpoint(block)", "compiler/graph/sweep.py", "memory"),
    Concept("revision", "the state of an explored program after a cell was run again",
            "explorer.revisions", "svodviz/widget", "", (r"\beditions?\b",)),
    Concept("rewrite", "replacing a part of a program by an equal one", "x * 1 → x",
            "compiler/graph/rewrite.py", "graph"),
    Concept("roofline", "the highest rate that arithmetic and memory bandwidth allow a kernel",
            "intensity × bandwidth", "compiler/findings", "run",
            (r"\b(its|the|their|whose) roofs?\b",)),
    Concept("scatter", "writing elements to computed positions", "x[indices] = y",
            "compiler/graph/kinds/joins.py", "graph"),
    Concept("schedule", "kernels and copies in an order, with the dependencies of each",
            "k0, k1, copy, k2", "compiler/schedule", "timeline"),
    Concept("shard", "the part of a tensor that one device holds", "rows 0 to 511 on CPU:0",
            "compiler/graph/shard.py", "graph"),
    Concept("share of peak", "a kernel's rate divided by the machine's highest", "0.8 of 229 "
            "GFLOP/s", "compiler/ask", "run"),
    Concept("SIMD", "single instruction, multiple data: vectors", "vaddps adds 8 pairs",
            "compiler/loops/transforms/vectorize.py", "machine"),
    Concept("slack", "how much later an item could run without delaying the end",
            "slack 0: critical", "compiler/schedule/analysis", "timeline"),
    Concept("spill", "a register's value stored on the stack for lack of registers; a reload reads "
            "it back", "mov qword ptr [rsp + 8], rax", "compiler/llvm/looking", "machine",
            (r"\baccess(es)? to the stack\b",)),
    Concept("split reduction", "a long reduction as parallel partial reductions and a final one",
            "16 × 65536, then 16", "compiler/graph/split_reduction.py", "graph",
            (r"\btwo.stage\b",)),
    Concept("SSA", "static single assignment: each value has one definition", "%3 = fadd %1, %2",
            "compiler/lowered/instructions.py", "text"),
    Concept("stride", "the distance in memory between two neighbours along an axis, in elements",
            "strides (784, 1)", "compiler/graph/strides.py", "inspector"),
    Concept("strided", "with a stride other than 1: consecutive reads are not next to each other",
            "a column of a row-major matrix", "compiler/findings/strided.py", "inspector",
            (r"\bcrosswise\b",)),
    Concept("SVE", "vector instructions of ARM whose length is set by the processor",
            "ld1w { z0.s }, p0/z, [x1]", "compiler/machines", "machine"),
    Concept("throughput", "how many instructions of a kind complete per cycle", "2 FMA per cycle",
            "compiler/machines", "machine"),
    Concept("tile", "a block of iterations whose data fit into registers or a cache",
            "6 rows by 4 vectors", "compiler/loops/transforms/tile.py", "text"),
    Concept("topological level", "the items whose dependencies all lie in earlier levels: they may "
            "run at the same time", "level 1: k1, k2", "compiler/schedule/kahn.py", "timeline",
            (r"\bwaves?\b",)),
    Concept("trace", "the recorded steps of an execution, to be replayed", "every memory access",
            "compiler/playground", "playground", (r"\bfilms?\b",)),
    Concept("transposed convolution", "the adjoint of a convolution: each input element adds to a "
            "window of the output", "conv_transpose2d", "compiler/tensors"),
    Concept("trip count", "the number of iterations of a loop", "for r1 in 784: 784",
            "compiler/loops/nodes.py", "text"),
    Concept("vectorization", "iterations as lanes of vector instructions",
            "16 iterations, one instruction", "compiler/loops/transforms/vectorize.py", "text"),
    Concept("virtual register", "a register before register allocation assigns a physical one",
            "%5", "compiler/lowered/registers.py", "text", (r"\bimaginary register",)),
)  # fmt: skip

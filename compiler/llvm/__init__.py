"""From lowered programs to LLVM IR text and machine code.

In order: each imports only what stands before it.

    cache.py          machine code and tuning results cached on disk
    level.py          the level of optimisation for a kernel
    unlocked.py       LLVM's two long calls without the GIL, so that threads compile in parallel
    jit.py            machine code from LLVM IR text
    answer.py         runs one LLVM request and exits
    apart.py          LLVM requests in a separate process
    types.py          LLVM types and constants of our element types
    writer.py         the lines of one LLVM function, with the instructions they belong to
    control.py        control flow as LLVM IR
    conversions.py    LLVM IR for conversions
    extremes.py       max and min of floats in vectors, as IEEE 754's maximum and minimum
    mathematics/      exp, exp2, log, log2, sin, cos, tan, tanh, erf and pow as LLVM IR
    vectors.py        LLVM IR for vectors
    routines.py       the remainder of floats, and integer powers
    dots.py           LLVM IR for sums of products of small types
    operations.py     LLVM IR for each operation of the table
    scratch.py        LLVM IR for scratch memory, on the stack or behind an argument
    neighbours.py     adjacent scalar loads merged into one vector load
    emit.py           lowered instructions as the text of one LLVM module
    flow.py           control flow of a text of instructions
    foreign.py        checks of LLVM IR that users wrote
    source.py         stage 7: the LLVM IR of one kernel as generated
    looking/          inspection of LLVM: pass by pass, assembly, code for other machines
    thunk.py          one signature for all kernels, so that one driver can run any of them
"""

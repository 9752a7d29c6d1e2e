"""One program with all its stages: what `compile` returns.

In order: each imports only what stands before it.

    latest_lines.py  the user's line of each scalar of a kernel
    codegen.py       questions about LLVM's work on a program's kernels
    decisions.py     every choice the compiler made about a program, in words
    summary.py       a few lines about what was compiled
    compilation.py   `compile`, and the `Compilation` that it returns: all questions
    effect.py        two compilations with different passes, side by side
"""

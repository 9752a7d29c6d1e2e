"""One program with all its stages: what `compile` returns.

In order: each imports only what stands before it.

    latest_lines.py  for each scalar of a kernel the line that it is there for
    codegen.py       questions about LLVM's work on a program's kernels
    decisions.py     every choice the compiler made about a program, in words
    exchanges.py     what workers of a cluster exchange in a program
    summary.py       a few lines that say what was compiled
    compilation.py   `compile`, and the `Compilation` that it returns: all questions
    effect.py        what other passes did to a program
"""

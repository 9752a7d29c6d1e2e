"""The stages of one program, from the user's lines to machine code, each computed on first use.

In order: each imports only what stands before it.

    running.py   runs a program once, as machine code, on its own data or on others
    listings.py  the texts that LLVM makes of a program's kernels
    stages.py    a program with all its stages
"""

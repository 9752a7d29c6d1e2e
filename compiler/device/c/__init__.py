"""A kernel as C, for reading.

In order: each imports only what stands before it.

    operations.py  C for each operation, conversion and constant
    source.py      a kernel as C11 source, for reading and for machines without LLVM
"""

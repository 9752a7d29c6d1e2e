"""Operations: one table row each, with all its properties.

In order: each imports only what stands before it.

    bounds.py       interval bounds of integer results
    c_text.py       C code of operations, as entries of their rows
    functions.py    functions that users register, and each use of one with its types
    row.py          one row of the operation tables
    derivatives.py  derivatives of operations, as entries of their rows
    composed.py     derivatives of functions composed of several rows
    llvm_text.py    LLVM IR of operations, as entries of their rows
    references.py   reference functions where NumPy leaves the result undefined
    words.py        small types with packed dot-product instructions
    table.py        the operation tables
    random_bits.py  random bits: Threefry-2x32 with 20 rounds
    updates.py      how a scatter combines old and new elements
"""

"""Operations: one row for each, with everything that is known of it.

In order: each imports only what stands before it.

    bounds.py       what is known of an integer before it is computed
    c_text.py       C of operations, as entries of their rows
    functions.py    functions from outside: what users register, and each use of one with its types
    row.py          one row of the operation tables
    derivatives.py  derivatives of operations, as entries of their rows
    composed.py     derivatives of functions that are made of several rows
    llvm_text.py    LLVM IR of operations, as entries of their rows
    references.py   what the operations mean where NumPy leaves it open
    words.py        which small types are multiplied several at a time, and summed in 32 bits
    table.py        the operation tables
    random_bits.py  random bits: Threefry-2x32 with 20 rounds
    updates.py      what a scatter does where it writes
"""

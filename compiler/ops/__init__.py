"""Operations: one row for each, with everything that is known of it.

In order: each imports only what stands before it.

    functions.py    functions from outside: what users register, and each use of one with its types
    references.py   what the operations mean where NumPy leaves it open
    table.py        the operation tables
    random_bits.py  random bits: Threefry-2x32 with 20 rounds
    updates.py      what a scatter does where it writes
"""

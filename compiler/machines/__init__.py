"""Machines: what is known of the one at hand and of others, and what loops are chosen by.

In order: each imports only what stands before it.

    model.py       the machine model: widths, caches, and how fast one core computes and moves data
    named.py       named machines, a row each
    processors.py  processors that this host can be treated as, with their LLVM features
    system.py      the differences between operating systems: Linux and macOS
    measured.py    the file of what was measured on this machine
    at_hand.py     the machine at hand, with where each figure comes from
"""

"""Machines: models of this machine and of others, by which loops are chosen.

In order: each imports only what stands before it.

    model.py       the machine model: widths, caches, and how fast one core computes and moves data
    named.py       named machines, a row each
    processors.py  processors that code can be generated for on this host, as LLVM knows them
    system.py      differences between operating systems: Linux and macOS
    measured.py    the file of measurements of this machine
    at_hand.py     the model of this machine, with the origin of each figure
"""

"""Settings: of a compilation, and of the machine that it is for.

In order: each imports only what stands before it.

    machine.py  the machine model: how fast one core computes and moves data
    options.py  settings of one compilation
"""

"""A search, by measurement, over the loop choices of each kernel of a program.

In order: each imports only what stands before it.

    duel.py              a duel of two kernels: is one faster by more than the noise
    trials.py            the trials of a search for one kernel, each with the one it was made of
    search.py            the loops of one kernel, changed choice by choice as long as there is time
    neighbours.py        the choices that differ from some choices in one thing
    workbench.py         a workbench: one kernel with data of its own, on which choices are compiled
    progress.py          a line that says how far a search is, where somebody looks
    tuning.py            the result of a search for one kernel
    remembered.py        results of searches, remembered by kernel
    search_kernel.py     the search for one kernel, for so many seconds
    search_elsewhere.py  the same on the workers of a cluster, several at once
    tune.py              for each kernel of a program, the loop choices that measure best
"""

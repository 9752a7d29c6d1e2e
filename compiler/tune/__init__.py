"""A search, by measurement, over the loop choices of each kernel of a program.

In order: each imports only what stands before it.

    duel.py              compares two kernels: is one faster by more than the noise
    trials.py            the trials of a search for one kernel, each with its parent
    search.py            changes the loop choices of one kernel, one by one, until the time is over
    neighbours.py        the choices that differ from given ones by one move
    workbench.py         compiles and measures choices for one kernel on data of its own
    progress.py          a progress line in terminals and notebooks
    tuning.py            the result of a search for one kernel
    remembered.py        results of searches, remembered by kernel
    search_kernel.py     the search for one kernel, for a number of seconds
    search_elsewhere.py  the same on the workers of a cluster, several in parallel
    tune.py              for each kernel of a program, the loop choices that measure best
"""

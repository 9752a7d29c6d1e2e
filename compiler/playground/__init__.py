"""The playground: one kernel with choices of one's own, tried, timed, and seen through a cache.

In order: each imports only what stands before it.

    sites.py           the instructions of a kernel that access memory, and where that memory is
    accesses.py        what memory a kernel touches, in program order, without computing any value
    caches.py          the levels that are simulated, and what a simulation counted
    count_flops.py     float operations of one run of a kernel, all predicates and branches true
    lru.py             a cache that is set-associative and forgets what was used least recently
    simulate_cache.py  the accesses of a kernel, in order
    access_trace.py    a trace of a kernel's memory accesses, to be replayed
    point.py           one kernel with some choices: whether they are legal, what it takes
    playground.py      one kernel of a compiled program, on which choices of loops are tried
    roofs.py           the most that this machine computes and moves, measured
"""

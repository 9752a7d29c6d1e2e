"""The costs of a schedule: work, memory traffic, critical path, and the memory plan.

In order: each imports only what stands before it.

    places.py           an arena: free gaps, best-fit allocation, the reason for each place
    alive_together.py   for each buffer the largest buffers with overlapping live ranges
    footprint.py        the bytes that a schedule needs, by item and by live ranges
    levels.py           the topological levels of a schedule
    share.py            the memory plan: buffers with disjoint live ranges share an arena
    reuse.py            reuse distances: bytes touched between two uses of the same memory
    buffer_layout.py    memory layouts and live ranges of buffers
    traffic.py          the traffic of a kernel between the levels of the memory hierarchy
    work.py             the machine-independent work of a kernel, and the time `estimate`
    roof.py             the roofline bound of a kernel
    costs.py            the costs of each item, and the critical path
    own_work.py         the share of each tensor node in the work of its kernel
    iteration_space.py  the iteration space of a kernel, its hints and its context
    fused_work.py       the work of a fused kernel, from that of two kernels
    opportunities.py    pairs of kernels that could be fused, and what that would save
"""

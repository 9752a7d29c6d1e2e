"""The costs of a schedule: work, bytes, critical path, places in memory.

In order: each imports only what stands before it.

    places.py           places in an arena
    alive_together.py   for each buffer the largest whose memory it cannot use
    footprint.py        how many bytes a schedule needs, item by item and by liveness
    waves.py            the waves of a schedule: items of one wait for earlier ones only
    share.py            places for the buffers a program makes, in one arena
    reuse.py            how many bytes are touched between two touches of the same memory
    buffer_layout.py    how the elements of a buffer lie in memory, and when it is needed
    traffic.py          what a kernel's loops move from and to the levels of memory
    work.py             what running one kernel takes, whatever the machine, and `estimate`
    roof.py             what a kernel would take at the machine's best
    costs.py            what each item costs, and the critical path
    own_work.py         what each tensor node does of a kernel's work
    iteration_space.py  the iteration space of a kernel, and what surrounds it
    fused_work.py       the work of one kernel in place of two
    opportunities.py    pairs of kernels that could be one, what that would save
"""

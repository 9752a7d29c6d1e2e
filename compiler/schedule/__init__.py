"""Stages 3 and 4: the kernel graph, and the schedule of its calls.

In order: each imports only what stands before it.

    access.py        the parameters that a kernel body reads and writes
    kinds.py         the nodes of the kernel graph
    items.py         the schedule: ordered items with dependencies and analysis
    demand.py        demands: the readers of a value, with their kernels and indices
    padding.py       the padding of convolutions: stored once, or predicated in each load
    sources.py       the storage that a kernel-graph node names, and the calls it waits for
    regions.py       regions of transfers: the elements that are copied
    pitch.py         the region of a stored value that a copy reads
    repeating.py     the costs of recomputing a value at each use, and of storing it
    partition.py     fusion: decides which values are written to memory
    carry.py         loop states that get one new row per iteration are updated in place
    analysis/        the costs of a schedule: work, bytes, critical path, memory plan
    titles.py        readable names of kernels
    calls.py         the kernel graph as a stage
    kahn.py          topological sorting: Kahn's algorithm, first-in first-out, ids ascending
    nesting.py       loops around calls: which calls a range repeats, how ranges nest
    prepare.py       a kernel graph with loops as a flat list of invocations
    dependencies.py  the earlier runs that each run of a call waits for
    in_place.py      decides if a value may overwrite its own inputs element by element
    hazards.py       copies that keep old values readable where a buffer is overwritten (WAR)
    host.py          work of the host between kernels
    operations.py    the schedule operation for each run of a call
    interpret.py     runs the kernel graph call by call, and the schedule item by item, on NumPy
    strict/          strict schedules: written by hand, instantiated on memory
    order.py         the calls of a kernel graph as schedule items, in dependency order
    general_body.py  one body for several that differ only in the offsets of their reads
    outlined.py      the kernel graph while it is built
    iterations.py    the loop of a `Repeat` as calls that a range of the kernel graph repeats
    outline.py       the fused region of each stored value becomes the body of a call
    fission.py         kernel fission: a kernel that is slower than its parts is split
    deduplicate.py   bodies that differ only in the offsets of their reads become one
    printer.py       the printed form and the picture of a schedule
    verify_items.py  the invariants of the schedule
    verify.py        the invariants of the kernel graph and of the schedule
"""

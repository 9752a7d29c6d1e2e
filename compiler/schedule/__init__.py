"""Stages 3 and 4: the kernel graph, and the schedule of its calls.

In order: each imports only what stands before it.

    access.py        which parameters a kernel body reads and which it writes
    kinds.py         the nodes of the kernel graph
    items.py         the schedule: items in an order, with dependencies, analysis
    demand.py        demands: who reads a value, in which kernel, under which index
    padding.py       zeros around an image that slides past weights
    sources.py       what the sources of kernel-graph nodes stand for
    regions.py       regions of transfers: which elements are copied
    pitch.py         what a copy reads
    repeating.py     what a value costs that is computed wherever it is read
    partition.py     decides which values are written to memory
    carry.py         of a loop's state that gets one row in each iteration, the row is carried over
    analysis/        what a schedule costs: work, bytes, critical path, places in memory
    titles.py        what kernels are called, for readers
    calls.py         the kernel graph as a stage
    kahn.py          Kahn's algorithm, first-in first-out, ids ascending
    nesting.py       loops around calls: which calls a range repeats, how ranges nest
    prepare.py       a kernel graph with loops as a flat list of invocations
    dependencies.py  what each run of a call has to wait for
    in_place.py      whether a value may be written over what it reads, element by element
    hazards.py       what reads a buffer that the program writes reads the value it had before
    host.py          what the host does between kernels
    operations.py    the operation that each run of a call is
    strict/          strict schedules: written by hand, instantiated on memory
    interpret.py     runs the kernel graph call by call, and the schedule item by item, on NumPy
    order.py         the calls of a kernel graph as schedule items, in dependency order
    general_body.py  one body for several that differ only in where they read
    outlined.py      a kernel graph in the making
    iterations.py    the loop of a `Repeat` as calls that a range of the kernel graph repeats
    outline.py       the region of each realized value becomes the body of a call
    fission.py         a kernel whose loops take longer than those of its parts is cut
    deduplicate.py   bodies that differ only in the part that they read become one
    printer.py       the printed form and the picture of a schedule
    verify_items.py  the invariants of the schedule
    verify.py        the invariants of the kernel graph and of the schedule
"""

"""Stage 5: one kernel as scalar expressions over ranges.

In order: each imports only what stands before it.

    axis_names.py          the names of loop axes and of their parts
    choices.py             how the loops of one kernel are transformed, as data
    nodes.py               kernel loops
    by_hand.py             scalar nodes for launch sizes written by hand
    placement.py           the loop nest of a body
    alive.py               register pressure: the most values of a body live at once
    symbolic.py            integer expressions as sums of multiples
    dots.py                sums of products that dot-product instructions compute
    indices.py             index arithmetic: bounds of axes
    invariants.py          the invariants of a kernel's loops, as `verify.py` checks them
    predicated.py          the index of a predicated load, simplified with bounds
    pick.py                a sum with at most one nonzero term becomes that term
    simplify.py            simplifies index arithmetic
    transforms/            the loop transformations: a pass for each kind of choice
    choosing/              heuristics that choose transformations: a file per kind of kernel
    split.py               splits an axis that indices divide into several axes
    coalesce.py            loop coalescing: two perfectly nested loops become one
    count.py               the work of a kernel's loops
    index.py               lowers a kernel body to scalar expressions
    interpreted_memory.py  memory as the interpreters see it
    interpret.py           the NumPy interpreter of a kernel's loops
    printer.py             the printed form and the picture of a kernel's loops
    space.py               the iteration space of a kernel
    verify_accesses.py     invariants 8 and 9 of `invariants.py`
    verify_nests.py        invariants 11 to 14 of `invariants.py`
    verify.py              checks the invariants of a kernel's loops
"""

"""Stage 5: one kernel as scalar expressions over ranges.

In order: each imports only what stands before it.

    choices.py             how the loops of one kernel are transformed, as data
    nodes.py               kernel loops
    by_hand.py             scalar nodes that no lowering makes: for launch sizes written by hand
    placement.py           the loop nest of a body
    alive.py               the most values of a body that are needed at once
    symbolic.py            integer expressions as sums of multiples
    dots.py                sums of products that one instruction takes several of at once
    indices.py             index arithmetic: bounds of axes
    invariants.py          the invariants of a kernel's loops, as `verify.py` checks them
    predicated.py          the index of a predicated load, simplified with bounds
    pick.py                a sum of which one iteration at most counts is that iteration
    simplify.py            index arithmetic is brought to sums
    transforms/            the passes over loops: one for each kind of choice
    choosing/              who decides what is done to loops: a function for each kind of kernel
    split.py               an axis that indices divide becomes several
    coalesce.py            two neighbouring loops become one where no index tells them apart
    count.py               the work of a kernel's loops
    index.py               a kernel body becomes scalar expressions
    interpreted_memory.py  memory as the interpreters see it
    interpret.py           the NumPy interpreter of a kernel's loops
    printer.py             the printed form and the picture of a kernel's loops
    space.py               the iteration space of a kernel, read off its loops
    verify_accesses.py     invariants 8 and 9 of `invariants.py`
    verify_nests.py        invariants 11 to 14 of `invariants.py`
    verify.py              check the invariants of a kernel's loops, which `invariants.py` lists
"""

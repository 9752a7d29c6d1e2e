"""Composite kinds and effects: nodes that say everything about themselves in one class.

In order: each imports only what stands before it.

    composite.py  kinds of nodes that say everything about themselves, in one class each
    effects.py    the tensor nodes whose order counts
    shaping.py    small graphs that many kinds and methods need
    sliding.py    windows over any number of axes, made of movement alone
    scan.py       a reduction that keeps what it has after each element
    joins.py      kinds that bring tensors together
    phases.py     what is spread, a correlation for each remainder of a position by the step
    correlate.py  sums of products of windows and weights
    markers.py    kinds that compute nothing
    placement.py  nodes that say where a value is
    gradient.py   gradients until they are operations
    repeat.py     a step repeated: the state after so many iterations
    kernel.py     a kernel that a user wrote
    views.py      elements of memory that exists, under another shape, in another order
    by_hand.py    kinds that only `GraphBuilder` makes: for graphs written by hand
"""

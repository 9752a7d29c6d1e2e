"""Composite kinds and effects: kinds of nodes that are each defined completely by one class.

In order: each imports only what stands before it.

    composite.py  the base class of composite kinds
    effects.py    nodes with side effects or a fixed order: scatter, external functions, assignment
    shaping.py    helpers that build small graphs: reshape, cast, pad, count along an axis
    sliding.py    sliding windows over any number of axes, by movement alone
    scan.py       scans: reductions that return all partial results
    joins.py      kinds that combine tensors: concatenation, contraction, gather
    phases.py     a strided transposed convolution as one correlation for each phase
    correlate.py  convolutions and transposed convolutions
    markers.py    kinds that compute nothing and mark a value
    placement.py  copies to devices, and sharded values
    gradient.py   gradients, before they are expanded into operations
    repeat.py     counted loops: the state after a number of iterations
    kernel.py     a kernel that a user wrote
    views.py      strided and masked views of existing memory
    by_hand.py    kinds that only `GraphBuilder` creates: for graphs written by hand
"""

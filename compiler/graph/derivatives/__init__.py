"""Derivatives of the kinds of tensor nodes: from a node's cotangent to those of its operands.

In order: each imports only what stands before it.

    rules.py      which rule a kind has, and what has none
    elements.py   operations on elements, casts, reductions, scans
    movement.py   elements moved: back to where they came from
    memory.py     elements read and written at positions
    placement.py  values on other devices, in shards
    together.py   several operations whose derivative together is simpler
    loops.py      a loop, backwards through its iterations
"""

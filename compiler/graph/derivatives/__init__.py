"""Derivative rules of the kinds of nodes: the cotangents of operands from that of the node (VJPs).

In order: each imports only what stands before it.

    rules.py      the registry: the rule of each kind, and kinds without one
    elements.py   operations on elements, casts, reductions, scans
    movement.py   elements moved: back to where they came from; other devices and shards
    memory.py     elements read and written at positions
    together.py   groups of operations with a simpler joint derivative
    loops.py      a loop, differentiated backwards through its iterations
"""

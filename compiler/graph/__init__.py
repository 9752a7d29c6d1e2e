"""Stage 1 and 2: the tensor graph, its passes, and how it is verified, printed and run.

In order: each imports only what stands before it.

    bits.py         constants as bits: 0.0 and -0.0 differ, a NaN equals itself, with its payload
    devices.py      the devices of tensors, by name; operands have to be on the same one
    extent.py       an extent known only at run time, and sums and products of such extents
    extents.py      which axes have a dynamic extent, and how operations propagate it
    nodes.py        the kinds of nodes of the tensor graph
    kinds/          composite kinds and effects
    writable.py     the kinds that have a written form
    words.py        how printed programs and pictures name tensor nodes
    parts.py        parts of a tensor that an Assign or a Store writes
    rewrite.py      the rewrite engine: applies rules until none matches
    storage.py      conversion between storage types and compute types, by bit arithmetic
    widen.py        types without machine instructions are computed in a wider type, then rounded
    verify.py       the invariants of the tensor graph
    builder.py      tensor graphs written by hand
    decompose.py    operations become those that machines have an instruction for
    dependence.py   the index under which each node is read, propagated from users to sources
    derivatives/    one derivative rule per kind: the cotangents of operands from that of the node
    sweep.py        reverse-mode differentiation: one sweep, step by step
    differentiate.py  gradients become operations, by reverse sweeps from results to inputs
    interpret.py    the NumPy reference interpreter of the tensor graph
    cse.py          equal expressions written on different lines become one node
    strides.py      the strides of a value: distances in memory between its elements, by axis
    alike.py        repetition in a program: equal calls, and iterations of Python loops
    scopes.py       the public calls of a program and the functions around them, as a tree
    partners.py     which backward-pass nodes belong to which forward-pass nodes
    modules.py      the modules of a model, or a program's functions, as a tree
    printer.py      the printed form and the picture of a tensor graph
    reshard.py      changes how a value is sharded
    collectives.py  all-reduce, all-gather and their relatives, by rings, trees and halving
    shard_loops.py  a loop over sharded values becomes one loop over each device's shards
    shard.py        operations on sharded values become operations on each device's shard
    simplify.py     algebraic simplification that never changes a bit of the answer
    forward_stores.py  readers of a value that is assigned in place read the assigned buffer
    split_reduction.py  a long reduction with few results is split into parts for several cores
"""

"""Stage 1 and 2: the tensor graph, its passes, and how it is verified, printed and run.

In order: each imports only what stands before it.

    bits.py         constants as bits: 0.0 and -0.0 differ, a NaN equals itself, with its payload
    devices.py      where tensors are: the names of devices, and whether operands are in one place
    extent.py       an extent known only when the program runs, and sums and products of such
    extents.py      which axes have one, and how it passes on
    nodes.py        the tensor graph: what is to be computed
    kinds/          composite kinds and effects
    writable.py     the kinds that have a written form
    words.py        how printed programs and pictures name tensor nodes
    parts.py        parts of a tensor that an Assign or a Store writes
    rewrite.py      the one rewrite engine
    storage.py      types of storage to and from the type they are computed in, by their bits
    widen.py        what no machine computes in is computed in a wider type, each result rounded
    verify.py       the invariants of the tensor graph
    builder.py      tensor graphs written by hand
    decompose.py    operations that are no machine instruction become those that are
    dependence.py   under which index a node is read, by axis, pushed from a node to its sources
    derivatives/    a rule for each kind: from its cotangent to those of its operands
    sweep.py        a reverse sweep, step by step
    differentiate.py  gradients become operations, by sweeps from results to inputs
    interpret.py    the NumPy reference interpreter of the tensor graph
    cse.py          equal expressions written on different lines become one node
    strides.py      how far apart in memory the elements of a value are, along each axis
    alike.py        what in a program is alike: calls, and iterations written in Python
    scopes.py       the public calls of a program and the functions around them, as a tree
    partners.py     which nodes are the way back of which
    modules.py      the modules of a model, or a program's functions, as a tree
    printer.py      the printed form and the picture of a tensor graph
    reshard.py      other shards of the same value
    collectives.py  rings, trees and halvings: workers get what all of them have together
    shard_loops.py  a loop over values in shards becomes one loop over each device's shards
    shard.py        operations on values in shards become operations on each device's shard
    simplify.py     algebra that never changes a bit of the answer
    forward_stores.py  what is written in place is read where it was written
    split_reduction.py  a long reduction with few results is cut into parts that cores can share
"""

"""forward_stores: readers of a value that is assigned in place read the assigned buffer.

    Before:  %0 = buffer mean          f32[4]
             %1 = neg %0               f32[4]
             %2 = assign %0 %1         f32[4]
             %3 = exp %1               f32[4]
             sink %2 %3
    After:   %0 = buffer mean          f32[4]
             %1 = neg %0               f32[4]
             %2 = assign %0 %1         f32[4]
             %3 = exp %2               f32[4]
             sink %2 %3

A value with two readers would be stored in a temporary and then copied to the buffer. An example
is the state of an optimiser, which the update of a parameter reads too. If the other readers load
from the buffer instead, the value is computed directly in place: no temporary, no copy.

The pass skips results of the program; values assigned to a part of a buffer, or not computed by
the program; and buffers that are written again, or whose old value has other readers (it would
have to be copied first).

Relies on: an Assign is a value: that of its target afterwards (`kinds/effects.py`).
Ensures: the same values; a value forwarded in this way has no reader but its Assign.
"""

from typing import Any

from compiler.core.node import toposort, users
from compiler.core.trace import Match, Provenance
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Buffer, Cast, Elementwise, Reduce, Sink, TensorNode

MOST = 64
"""The most readers of an old value that are visited: the state of an optimiser has few, a
parameter is read by the whole network. Not measured."""
ALGEBRA = "after t := x, t is x"


def forward_stores(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with readers of assigned values reading the Assign instead."""
    order: list[TensorNode] = toposort([root])
    assigns = [node for node in order if isinstance(node, Assign)]
    reading = users(order) if assigns else {}
    written: dict[TensorNode, Assign] = {}
    for each in assigns:
        if each.sources[1] not in written and _is_reread(each, reading):
            written[each.sources[1]] = each
    if not written:
        return root
    done: dict[TensorNode, TensorNode] = {}
    for node in _assigned_at_once(order, written):
        sources = [done[s] if written.get(s) in (None, node) else done[written[s]]
                   for s in node.sources]  # fmt: skip
        rebuilt = done[node] = node.with_sources(tuple(sources))
        if rebuilt is node:
            continue
        provenance.rebuilt(rebuilt, node)
        if matches is not None and any(s in written for s in node.sources):
            matches.append(Match("forward_stores", ALGEBRA, "", node, rebuilt))
    return done[root]


def _is_reread(assign: Assign, reading: dict[TensorNode, list[TensorNode]]) -> bool:
    """True if the value has other readers and these may read the target after the assign."""
    target, value = assign.sources
    others = [node for node in reading[value] if node is not assign]
    is_computed = isinstance(value, Elementwise | Cast | Reduce) and isinstance(target, Buffer)
    if not others or not is_computed or assign.parts:
        return False
    if any(isinstance(node, Sink) for node in others):
        return False
    is_written_again = any(isinstance(node, Assign) for node in reading[assign])
    return not is_written_again and _is_read_for(value, assign, reading)


def _is_read_for(
    value: TensorNode, assign: Assign, reading: dict[TensorNode, list[TensorNode]]
) -> bool:
    """True if the old value of the target is only used to compute the new one."""
    seen: set[TensorNode] = set()
    stack = [assign.sources[0]]
    while stack:
        readers = {n for n in reading[stack.pop()] if n is not value and n is not assign} - seen
        if len(seen) > MOST or any(isinstance(n, Sink | Assign) for n in readers):
            return False
        seen |= readers
        stack += readers
    return True


def _assigned_at_once(
    order: list[TensorNode], written: dict[TensorNode, Assign]
) -> list[TensorNode]:
    """The nodes in topological order, with each assign immediately after its value."""
    moved: set[TensorNode] = set(written.values())
    result: dict[TensorNode, None] = {}
    for node in order:
        if node in moved:
            continue
        result[node] = None
        if node in written:
            result |= dict.fromkeys((written[node].sources[0], written[node]))
    return list(result)

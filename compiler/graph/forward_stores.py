"""forward_stores: what is written in place is read where it was written.

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

A value with two readers is written to memory of its own, and then copied to where it belongs. So
would be the state of an optimiser, which the step of a parameter reads too. Read from there, it is
computed where it is written: no second memory, no copy.

Left alone: a result of the program; what is assigned to a part of a buffer, or not computed by the
program; a buffer whose old value something else reads, which would have to be copied first, or
that is written again.

Relies on: an assign is a value, that of its target afterwards (`kinds/effects.py`).
Ensures: the same values; no value that is assigned so has another reader.
"""

from typing import Any

from compiler.core.node import toposort, users
from compiler.core.trace import Match, Provenance
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Buffer, Cast, Elementwise, Reduce, Sink, TensorNode

MOST = 64
"""Readers of an old value that are looked at: those of a state are few, those of a parameter the
whole network. Not measured."""
ALGEBRA = "after t := x, t is x"


def forward_stores(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with values that are assigned read where they were assigned."""
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
        made = done[node] = node.with_sources(tuple(sources))
        if made is node:
            continue
        provenance.rebuilt(made, node)
        if matches is not None and any(s in written for s in node.sources):
            matches.append(Match("forward_stores", ALGEBRA, "", node, made))
    return done[root]


def _is_reread(assign: Assign, reading: dict[TensorNode, list[TensorNode]]) -> bool:
    """Whether other readers of the value may read the target instead, after the assign."""
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
    """Whether all that reads the old value of the target leads to the new one only."""
    seen: set[TensorNode] = set()
    stack = [assign.sources[0]]
    while stack:
        found = {n for n in reading[stack.pop()] if n is not value and n is not assign} - seen
        if len(seen) > MOST or any(isinstance(n, Sink | Assign) for n in found):
            return False
        seen |= found
        stack += found
    return True


def _assigned_at_once(
    order: list[TensorNode], written: dict[TensorNode, Assign]
) -> list[TensorNode]:
    """The nodes, sources first, each assign right behind its value."""
    moved: set[TensorNode] = set(written.values())
    result: dict[TensorNode, None] = {}
    for node in order:
        if node in moved:
            continue
        result[node] = None
        if node in written:
            result |= dict.fromkeys((written[node].sources[0], written[node]))
    return list(result)

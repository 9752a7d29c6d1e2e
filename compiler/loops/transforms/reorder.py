"""reorder: the loops of a nest in another order; elsewhere "interchange" or "permutation".

    Choice:  reorder i1 i0
    Before:  for i0 in 8
               for i1 in 4
                 %0 = in1[i1*8 + i0]
                 out[i0*4 + i1] = %0
    After:   for i1 in 4
               for i0 in 8
                 %0 = in1[i1*8 + i0]
                 out[i0*4 + i1] = %0

In each nest the named axes are permuted among their own positions into the given order; axes that a
nest does not have are skipped. Updates keep their order.

Relies on: `tile` has created the axes.
Ensures: the same elements; sums over the axes are added in another order. Nests that begin with
the same loops are adjacent, and so share them.
"""

from typing import Any

from compiler.core.trace import Match, Provenance
from compiler.loops.choices import Choices, Reorder
from compiler.loops.nodes import Body, Range, ScalarNode, Store
from compiler.loops.placement import Nest, operands_of
from compiler.loops.transforms.axes import axes, find, rebuilt, record, refuse, remade


def reorder(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the axes of every Reorder in its order."""
    for choice in choices.of(Reorder):
        if len(set(choice.axes)) < len(choice.axes):
            refuse(choice, "an axis is named twice", "each axis once")
        by_name = axes(body)
        wanted_axes = [find(by_name, name, choice, choices) for name in choice.axes]
        wanted = [axis for axis in wanted_axes if axis is not None]
        serial = next((axis for axis in wanted if axis.role == "serial"), None)
        if serial is not None:
            refuse(choice, f"{serial.name} is the order of updates: it stays", "other axes")
        reordered = _together(_ordered(body, wanted, provenance), provenance)
        record(matches, choice, body, reordered)
        body = reordered
    return body


def _ordered(body: Body, wanted: list[Range], provenance: Provenance[Any]) -> Body:
    """Every nest with its axes that are in `wanted` in that order."""

    def change(node: ScalarNode, sources: tuple[ScalarNode, ...]) -> ScalarNode:
        if not isinstance(node, Nest):
            return node.with_sources(sources)
        new = dict(zip(node.sources, sources, strict=True))
        queue = iter([axis for axis in wanted if axis in node.ranges])
        loops = [next(queue) if r in wanted else r for r in node.ranges]
        return remade(node, tuple(new[s] for s in operands_of(node)), loops)

    return rebuilt(body, change, provenance)


def _together(body: Body, provenance: Provenance[Any]) -> Body:
    """The stores, with those that begin with the same loops adjacent."""
    if not all(isinstance(n, Store) for n in body.sources):
        return body
    rows: list[tuple[Range, ...]] = [n.ranges for n in body.sources if isinstance(n, Store)]
    first: dict[tuple[Range, ...], int] = {}
    for place, ranges in enumerate(rows):
        for depth in range(len(ranges) + 1):
            first.setdefault(ranges[:depth], place)
    keys = [[first[ranges[:d]] for d in range(len(ranges) + 1)] for ranges in rows]
    order = sorted(range(len(rows)), key=lambda place: keys[place])
    body_in_order = Body(tuple(body.sources[place] for place in order))
    if body_in_order is not body:
        provenance.rebuilt(body_in_order, body)
    return body_in_order

"""cache_row: values that several passes over a row compute are stored once in scratch memory.

    Choice:  cache_row r3 i1
    Before:  for i0 in 4
               acc %0 = -inf
               for r2 in 64   reduction
                 %1 = in1[i0*64 + r2]
                 %0 = max(%0, %1)
               acc %2 = 0.0
               for r3 in 64   reduction
                 %3 = in1[i0*64 + r3]
                 %4 = %3 - %0
                 %5 = exp(%4)
                 %2 = sum(%2, %5)
               for i1 in 64
                 %6 = in1[i0*64 + i1]
                 %7 = %6 - %0
                 %8 = exp(%7)
                 %9 = %8 / %2
                 out[i0*64 + i1] = %9
    After:   local0 f32[64]   scratch
             for i0 in 4
               acc %0 = -inf
               for r2 in 64   reduction
                 %1 = in1[i0*64 + r2]
                 %0 = max(%0, %1)
               for i4 in 64
                 %2 = in1[i0*64 + i4]
                 %3 = %2 - %0
                 %4 = exp(%3)
                 local0[i4] = %4
               acc %5 = 0.0
               for r3 in 64   reduction
                 %6 = local0[r3]
                 %5 = sum(%5, %6)
               for i1 in 64
                 %7 = local0[i1]
                 %8 = %7 / %5
                 out[i0*64 + i1] = %8

The two axes have the same extent, and the values are equal except for the axis. The row stays in a
near cache while it is needed; this pays where the value is expensive to compute.

Relies on: axes are not tiled yet, so that all passes over a row have the same loops.
Ensures: the same values.
"""

from typing import Any

from compiler.core.node import toposort, users
from compiler.core.trace import Match, Provenance
from compiler.loops.choices import CacheRow, Choices
from compiler.loops.nodes import After, Body, Load, Local, Range, ScalarNode, Store, Update
from compiler.loops.placement import dependencies
from compiler.loops.transforms.axes import (
    axes,
    copied,
    find,
    next_number,
    record,
    refuse,
    swapped,
    swapped_body,
)
from compiler.loops.transforms.staging import local_numbers, own_memory


def cache_row(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the values of every CacheRow stored in scratch memory."""
    for choice in choices.of(CacheRow):
        axis = find(axes(body), choice.axis, choice, choices)
        into = find(axes(body), choice.into, choice, choices)
        if axis is None or into is None:
            continue
        if axis is into or axis.sources != into.sources:
            refuse(choice, f"{axis.name} and {into.name} are not two axes of one extent")
        before = body
        while pairs := repeated(body, axis, into):
            value, again = pairs[0]
            body = _kept(body, (value, axis), (again, into), provenance)
        if body is before:
            refuse(choice, f"nothing is computed along {axis.name} and again along {into.name}")
        record(matches, choice, before, body)
    return body


def repeated(body: Body, axis: Range, into: Range) -> list[tuple[ScalarNode, ScalarNode]]:
    """The largest expressions along `axis` that are also computed along `into`, in pairs."""
    order: list[ScalarNode] = toposort([body])
    needs, nodes, readers = dependencies(body), set(order), users(order)
    twins: dict[ScalarNode, ScalarNode] = {axis: into}
    for node in order:
        along = node is not axis and axis in needs[node] and not isinstance(node, Store | Update)
        if not along:
            continue
        twin = node.with_sources(tuple(twins.get(s, s) for s in node.sources))
        if twin in nodes and twin is not node:
            twins[node] = twin
    del twins[axis]
    return [
        (node, twin)
        for node, twin in twins.items()
        if _is_computed(node) and not any(reader in twins for reader in readers[node])
    ]


def _is_computed(node: ScalarNode) -> bool:
    """True if a value is more than a load or an index."""
    return not isinstance(node, Load) and node.bounds is None


def _kept(
    body: Body,
    first: tuple[ScalarNode, Range],
    second: tuple[ScalarNode, Range],
    provenance: Provenance[Any],
) -> Body:
    """`body` with one value and its equal along `into` read from a row of scratch memory."""
    (value, axis), (twin, into) = first, second
    cached = Range(axis.sources, next_number(body), "normal")
    copied(cached, axis, provenance)
    memories = local_numbers(body)
    local = Local((), next(memories), value.dtype, axis.extent)
    moved = {**own_memory(body, [axis], memories), axis: cached}
    computed = swapped(value, moved, provenance, True)
    row = After((local, Store((local, cached, computed, cached))))
    loads: dict[ScalarNode, ScalarNode] = {
        value: Load((row, axis)), twin: Load((row, into)),
    }  # fmt: skip
    return swapped_body(body, loads, provenance)

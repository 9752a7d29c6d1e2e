"""Levels of ranges: a range at another level, and what keeps its turns from being lanes."""

from typing import Any

from compiler.loops.axes import swapped_body
from compiler.loops.nodes import Alu, Body, Const, Custom, Level, Range, ScalarNode, Store, Update
from compiler.loops.placement import dependencies
from compiler.node import toposort
from compiler.trace import Provenance

SCALAR_FOR_INTEGERS = frozenset(("idiv", "mod", "pow"))
"""Operations that have no good form on vectors of integers."""


def at_level(
    body: Body, axis: Range, level: Level, provenance: Provenance[Any], tasks: int = 0
) -> Body:
    """`body` with `axis` at another level."""
    made = Range(axis.sources, axis.number, axis.role, 0, level, axis.part, tasks)
    return swapped_body(body, {axis: made}, provenance)


def length(axis: Range) -> int | None:
    """The extent, where it is a constant."""
    return axis.extent if isinstance(axis.sources[0], Const) else None


def fills_scratch(body: Body, axis: Range) -> bool:
    """Whether scratch memory is filled anew in each turn of `axis`: then these stay apart."""
    needs = dependencies(body)
    effects = (n for n in needs if isinstance(n, Store | Update) and n not in body.sources)
    return any(axis in needs[effect] for effect in effects)


def obstacle(body: Body, axis: Range) -> str:
    """What keeps the turns of `axis` from being lanes; empty where nothing does."""
    needs = dependencies(body)
    order: list[ScalarNode] = toposort([body])
    for node in order:
        below = frozenset[Range]().union(needs[node], *(needs[s] for s in node.sources))
        if axis not in below:
            continue
        other = next((r.name for r in below if r.level == "vector" and r is not axis), "")
        if other:
            return f"a value depends on {other} as well, whose turns are lanes already"
        if isinstance(node, Custom):
            return f"{node.name} is a function from outside"
        if isinstance(node, Alu) and not _has_vectors(node):
            return f"{node.op} of {node.sources[-1].dtype.name} has no good form on vectors"
    return ""


def _has_vectors(node: Alu) -> bool:
    return node.op not in SCALAR_FOR_INTEGERS or node.sources[-1].dtype.is_float

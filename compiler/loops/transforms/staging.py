"""Staging: the axes of a tile in scratch memory, and the loops that fill it."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.loops import nodes
from compiler.loops.choices import Choices, Unroll, Vectorize
from compiler.loops.invariants import MOST_SIDE_BY_SIDE
from compiler.loops.nodes import Body, ScalarNode, index
from compiler.loops.placement import dependencies
from compiler.loops.transforms.axes import copied, next_number


def axes_inside(
    body: Body, node: ScalarNode, at: nodes.Range | None, needed: frozenset[nodes.Range]
) -> tuple[nodes.Range, ...] | None:
    """The axes of stores inside `at` among those that `node` needs, outermost first.

    None if a store that uses `node` is not inside `at`, or has other axes.
    """
    inside: list[nodes.Range] = []
    outside: set[nodes.Range] = set()
    for store in body.sources:
        if not isinstance(store, nodes.Store) or node not in _below(store):
            continue
        if at is not None and at not in store.ranges:
            return None
        first = store.ranges.index(at) + 1 if at is not None else 0
        inside += [r for r in store.ranges[first:] if r not in inside]
        outside |= set(store.ranges[:first])
    if needed & outside & set(inside):
        return None
    return tuple(r for r in inside if r in needed)


def _below(store: nodes.Store) -> set[ScalarNode]:
    """Every node that a store depends on."""
    order: list[ScalarNode] = toposort([store])
    return set(order)


def variable_axis(dims: Iterable[nodes.Range]) -> nodes.Range | None:
    """An axis with a variable extent, if any: a tile must not have one."""
    return next((r for r in dims if not isinstance(r.sources[0], nodes.Const)), None)


def own_loops(
    numbers: Iterator[int],
    dims: Sequence[nodes.Range],
    levels: Sequence[nodes.Level],
    provenance: Provenance[Any],
    role: nodes.Role = "normal",
) -> tuple[nodes.Range, ...]:
    """New ranges of the extents of `dims`, with the next of `numbers`."""
    loops = tuple(
        nodes.Range((index(old.extent),), next(numbers), role, 0, level)
        for old, level in zip(dims, levels, strict=True)
    )
    for new, old in zip(loops, dims, strict=True):
        copied(new, old, provenance)
    return loops


def levels_of(
    dims: Sequence[nodes.Range], in_order: Sequence[bool], choices: Choices
) -> list[nodes.Level]:
    """The levels of loops that fill scratch memory along `dims`: the same as those that read it.

    Lanes are contiguous elements, along one axis.
    """
    unrolled = {choice.axis for choice in choices.of(Unroll)}
    lanes = {choice.axis for choice in choices.of(Vectorize)}
    result: list[nodes.Level] = []
    for each, is_in_order in zip(dims, in_order, strict=True):
        is_short, trips = 1 <= each.extent <= MOST_SIDE_BY_SIDE, each.extent
        is_vector = each.name in lanes and is_in_order and trips & (trips - 1) == 0
        if is_short and is_vector and "vector" not in result:
            result.append("vector")
        else:
            result.append("unroll" if is_short and each.name in unrolled else "loop")
    return result


def free_numbers(body: Body) -> Iterator[int]:
    """Numbers that no range has."""
    return itertools.count(next_number(body))


def local_numbers(body: Body) -> Iterator[int]:
    """Numbers that no scratch memory has."""
    used = (n.number for n in toposort([body]) if isinstance(n, nodes.Local))
    return itertools.count(1 + max(used, default=-1))


def own_memory(
    body: Body, moved: Iterable[ScalarNode], numbers: Iterator[int]
) -> dict[ScalarNode, ScalarNode]:
    """New scratch memory for a copy of nodes in which the ranges `moved` are replaced.

    Memory that is filled in each iteration of these ranges needs a counterpart in the copy.
    """
    held = [n for n in toposort([body]) if isinstance(n, nodes.Local)]
    if not held:
        return {}
    needs, ranges = dependencies(body), set(moved)
    locals_inside = [n for n in held if needs[n] & ranges]
    return {old: nodes.Local((), next(numbers), old.element, old.size) for old in locals_inside}

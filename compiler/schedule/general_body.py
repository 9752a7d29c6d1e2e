"""general_body: one body for several that differ only in where the parts begin that they read.

    relu(%1[:, 0:1])  and  relu(%1[:, 1:2])     relu(%1[:, at0 : at0 + 1]), at0 = 0 and at0 = 1

Parts that begin at the same places in all bodies share a variable. Each body is compared once, by
its structure, in time linear in its nodes.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.core.node import toposort
from compiler.graph.nodes import Narrow, Shrink, Sink, Store, TensorNode, Variable
from compiler.schedule.access import slots_of

Order: TypeAlias = list[TensorNode]
Begins: TypeAlias = tuple[int, ...]
"""Where a part begins in each of several bodies."""


@dataclass(frozen=True, slots=True)
class General:
    """A body that serves several calls, with what it takes to stand for one of them."""

    body: Sink
    values: tuple[tuple[Variable, int], ...]
    """Where its parts begin for this call."""
    made: Mapping[TensorNode, tuple[TensorNode, ...]]
    """For each node of the call's own body those in its place here."""


def general_bodies(bodies: Iterable[Sink]) -> dict[Sink, General]:
    """What stands for each of the bodies that are equal to another but for where they read."""
    groups: dict[tuple[object, ...], list[Order]] = {}
    for body in bodies:
        order: Order = toposort([body])
        if any(isinstance(node, Shrink) for node in order) and not _is_in_place(body):
            groups.setdefault(_structure(order), []).append(order)
    found: dict[Sink, General] = {}
    for orders in groups.values():
        if len(orders) > 1:
            found |= _one_of(orders)
    return found


def _is_in_place(body: Sink) -> bool:
    """Whether a body writes parts of what it is given, or reads what it writes."""
    read, written = slots_of(body)
    stores = (store for store in body.sources if isinstance(store, Store))
    return bool(written & read) or any(store.parts for store in stores)


def _structure(order: Order) -> tuple[object, ...]:
    """A body without the places where its parts begin."""
    number = {node: place for place, node in enumerate(order)}
    return tuple(
        (type(node), *(number[source] for source in node.sources), *_arguments(node))
        for node in order
    )


def _arguments(node: TensorNode) -> Iterable[object]:
    """What else tells two nodes of a kind apart: of a shrink how much it leaves of each axis."""
    if isinstance(node, Shrink):
        return (node.shape,)
    return node.arguments.values()


def _one_of(orders: list[Order]) -> dict[Sink, General]:
    """One body for all of these, which differ only in their shrinks."""
    making = _Making({node.name for node in orders[0] if isinstance(node, Variable)})
    made = [making.add(same) for same in zip(*orders, strict=True)]
    body = made[-1][-1]
    assert isinstance(body, Sink)
    found: dict[Sink, General] = {}
    for place, order in enumerate(orders):
        values = tuple((v, begins[place]) for begins, v in making.variables.items())
        own = order[-1]
        assert isinstance(own, Sink)
        found[own] = General(body, values, dict(zip(order, made, strict=True)))
    return found


@dataclass(slots=True)
class _Making:
    """A body in the making, from several that differ only in their shrinks."""

    taken: set[str]
    """Names that variables of the bodies have."""
    variables: dict[Begins, Variable] = field(default_factory=dict)
    """By where the part begins in each of the bodies."""
    done: dict[TensorNode, TensorNode] = field(default_factory=dict)
    """The last node that stands for each of the first body."""

    def add(self, same: tuple[TensorNode, ...]) -> tuple[TensorNode, ...]:
        """The nodes in the place of these, one of each body."""
        first = same[0]
        sources = tuple(self.done[source] for source in first.sources)
        made: tuple[TensorNode, ...] = (first.with_sources(sources),)
        if isinstance(first, Shrink):
            made = self._part(made[0].sources[0], [n for n in same if isinstance(n, Shrink)])
        self.done[first] = made[-1]
        return made

    def _part(self, source: TensorNode, same: list[Shrink]) -> tuple[TensorNode, ...]:
        """The part of `source` that each of these takes: cut where they agree, and narrowed."""
        begins = list(zip(*([begin for begin, _ in node.bounds] for node in same), strict=True))
        moving = [axis for axis, each in enumerate(begins) if len(set(each)) > 1]
        bounds = tuple(
            (0, source.shape[axis]) if axis in moving else pair
            for axis, pair in enumerate(same[0].bounds)
        )
        is_cut = not moving or bounds != tuple((0, extent) for extent in source.shape)
        made: list[TensorNode] = [Shrink((source,), bounds)] if is_cut else []
        for axis in moving:
            operands = (made[-1] if made else source, self._variable(begins[axis]))
            made.append(Narrow(operands, axis, same[0].shape[axis]))
        return tuple(made)

    def _variable(self, begins: Begins) -> Variable:
        """The variable of the parts that begin there."""
        if begins not in self.variables:
            name = next(n for n in map("at{}".format, itertools.count()) if n not in self.taken)
            self.taken.add(name)
            self.variables[begins] = Variable((), name, min(begins), max(begins))
        return self.variables[begins]

"""general_body: one kernel body for several that differ only in the offsets of their reads.

    relu(%1[:, 0:1])  and  relu(%1[:, 1:2])     relu(%1[:, at0 : at0 + 1]), at0 = 0 and at0 = 1

Slices with the same offsets in all bodies share a variable. Bodies are grouped by their structure,
in time linear in their nodes.
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
"""The offset of a slice in each of several bodies."""


@dataclass(frozen=True, slots=True)
class General:
    """A body that serves several calls, with the values for one of them."""

    body: Sink
    values: tuple[tuple[Variable, int], ...]
    """The offsets of the slices of this call."""
    made: Mapping[TensorNode, tuple[TensorNode, ...]]
    """For each node of the call's original body, the nodes that replace it."""


def general_bodies(bodies: Iterable[Sink]) -> dict[Sink, General]:
    """The general body for each body that differs from another one only in offsets of reads."""
    groups: dict[tuple[object, ...], list[Order]] = {}
    for body in bodies:
        order: Order = toposort([body])
        if any(isinstance(node, Shrink) for node in order) and not _is_in_place(body):
            groups.setdefault(_structure(order), []).append(order)
    general: dict[Sink, General] = {}
    for orders in groups.values():
        if len(orders) > 1:
            general |= _one_of(orders)
    return general


def _is_in_place(body: Sink) -> bool:
    """True if a body writes slices of its parameter, or reads the parameter it writes."""
    read, written = slots_of(body)
    stores = (store for store in body.sources if isinstance(store, Store))
    return bool(written & read) or any(store.parts for store in stores)


def _structure(order: Order) -> tuple[object, ...]:
    """The structure of a body, without the offsets of its slices."""
    number = {node: place for place, node in enumerate(order)}
    return tuple(
        (type(node), *(number[source] for source in node.sources), *_arguments(node))
        for node in order
    )


def _arguments(node: TensorNode) -> Iterable[object]:
    """The arguments that distinguish nodes of one kind: of a shrink only the extents it leaves."""
    if isinstance(node, Shrink):
        return (node.shape,)
    return node.arguments.values()


def _one_of(orders: list[Order]) -> dict[Sink, General]:
    """One general body for bodies that differ only in the offsets of their shrinks."""
    making = _Making({node.name for node in orders[0] if isinstance(node, Variable)})
    nodes = [making.add(same) for same in zip(*orders, strict=True)]
    body = nodes[-1][-1]
    assert isinstance(body, Sink)
    bodies: dict[Sink, General] = {}
    for place, order in enumerate(orders):
        values = tuple((v, begins[place]) for begins, v in making.variables.items())
        last = order[-1]
        assert isinstance(last, Sink)
        bodies[last] = General(body, values, dict(zip(order, nodes, strict=True)))
    return bodies


@dataclass(slots=True)
class _Making:
    """A general body while it is built, from several that differ only in their shrinks."""

    taken: set[str]
    """The names of variables in the bodies."""
    variables: dict[Begins, Variable] = field(default_factory=dict)
    """The variables by their offsets in the bodies."""
    done: dict[TensorNode, TensorNode] = field(default_factory=dict)
    """The replacement of each node of the first body."""

    def add(self, same: tuple[TensorNode, ...]) -> tuple[TensorNode, ...]:
        """The nodes that replace `same`, which has the corresponding node of each body."""
        first = same[0]
        sources = tuple(self.done[source] for source in first.sources)
        nodes: tuple[TensorNode, ...] = (first.with_sources(sources),)
        if isinstance(first, Shrink):
            nodes = self._part(nodes[0].sources[0], [n for n in same if isinstance(n, Shrink)])
        self.done[first] = nodes[-1]
        return nodes

    def _part(self, source: TensorNode, same: list[Shrink]) -> tuple[TensorNode, ...]:
        """The slice of `source` for these shrinks: common bounds by Shrink, the others by Narrow.
        """
        begins = list(zip(*([begin for begin, _ in node.bounds] for node in same), strict=True))
        moving = [axis for axis, each in enumerate(begins) if len(set(each)) > 1]
        bounds = tuple(
            (0, source.shape[axis]) if axis in moving else pair
            for axis, pair in enumerate(same[0].bounds)
        )
        is_cut = not moving or bounds != tuple((0, extent) for extent in source.shape)
        parts: list[TensorNode] = [Shrink((source,), bounds)] if is_cut else []
        for axis in moving:
            operands = (parts[-1] if parts else source, self._variable(begins[axis]))
            parts.append(Narrow(operands, axis, same[0].shape[axis]))
        return tuple(parts)

    def _variable(self, begins: Begins) -> Variable:
        """The variable of the slices with these offsets."""
        if begins not in self.variables:
            name = next(n for n in map("at{}".format, itertools.count()) if n not in self.taken)
            self.taken.add(name)
            self.variables[begins] = Variable((), name, min(begins), max(begins))
        return self.variables[begins]

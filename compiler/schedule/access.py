"""The parameters that a kernel body reads, and those that it writes: the targets of its Stores.

A stored value may read the parameter that it is written to: then the kernel works in place.
"""

from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

from compiler.core.node import toposort
from compiler.graph.nodes import Param, Sink, TensorNode

SynchronizationKind = Literal["barrier", "fence", "event"]
Scope = Literal["threadgroup", "device", "system"]
Slots: TypeAlias = tuple[frozenset[int], frozenset[int]]
"""The positions read, and those written."""

_by_body: "WeakKeyDictionary[Sink, Slots]" = WeakKeyDictionary()


def slots_of(body: Sink) -> Slots:
    """The Params that a kernel body reads, and those it writes, by slot."""
    slots = _by_body.get(body)
    if slots is None:
        slots = _by_body[body] = _slots(body)
    return slots


def _slots(body: Sink) -> Slots:
    values: list[TensorNode] = toposort([store.sources[1] for store in body.sources])
    read = frozenset(node.slot for node in values if isinstance(node, Param))
    targets = (store.sources[0] for store in body.sources)
    return read, frozenset(node.slot for node in targets if isinstance(node, Param))

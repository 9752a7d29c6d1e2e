"""own_work: the share of each tensor node in its kernel's work: time, operations and bytes.

    Before:  k0 computes   %2 = expand %0        %4 = exp %3          %0, %1 in memory
                           %3 = add %1 %2        %5 = reduce sum %4
    After:   %2  time     0  operations     0  read    0  written  0     its bytes are read by %3
             %3  time  1000  operations  1000  read 4040  written  0
             %4  time 12000  operations 12000  read    0  written  0
             %5  time  1000  operations  1000  read    0  written  4

These are weights within the kernel: a node's share of a cost is the kernel's cost times the node's
weight, divided by the sum of the weights, so that the shares sum to the kernel's cost. Constants,
inputs and movement have no weight. If no node of a kernel does any work, for example in a copy, its
results have all of it.

Relies on: `computed` are the nodes of one kernel; for a loop, those of one iteration.
Ensures: the weights of each kind sum to more than 0 if a kernel computes anything.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from compiler.graph.nodes import Bitcast, Buffer, Cast, TensorNode, Threefry
from compiler.graph.words import kind
from compiler.ops.table import OPS
from compiler.schedule.analysis.costs import operations_of

AT_REST = frozenset(("const", "buffer", "control"))
"""Kinds that take no time: they exist before anything runs, or are a place in memory."""
MOVEMENT = "movement"
"""The kind that only changes indices: its bytes count for the nodes that read through it."""
RANDOM = 115
"""The operations of a random word, `ops/random_bits.py`: 20 rounds of an addition, a rotation
(three) and an exclusive or; five times three additions of keys."""


@dataclass(frozen=True, slots=True)
class OwnWork:
    """The weights of one node within its kernel: of time, operations, bytes read and written."""

    time: int = 0
    operations: int = 0
    read: int = 0
    written: int = 0

    @property
    def is_any(self) -> bool:
        """True if the node does any work."""
        return bool(self.time or self.operations or self.read or self.written)


WHOLE = OwnWork(1, 1, 1, 1)
"""The weights of a node that does all the work of a kernel."""


def own_work(
    computed: Iterable[TensorNode], held: Collection[TensorNode]
) -> dict[TensorNode, OwnWork]:
    """The weights of the nodes that a kernel computes; `held` are the stored ones."""
    computed = _in_order(dict.fromkeys(computed))
    if all(kind(node) in AT_REST for node in computed):
        return dict.fromkeys(computed, WHOLE)
    read = _read(computed, held)
    rows = {
        node: OwnWork(_time(node), operations_of(node), read.get(node, 0),
                      node.nbytes if node in held and kind(node) not in AT_REST else 0)
        for node in computed
    }  # fmt: skip
    rows = {node: row for node, row in rows.items() if kind(node) not in AT_REST}
    ends = _ends(rows, held)
    for field in ("time", "operations", "read", "written"):
        if not any(getattr(row, field) for row in rows.values()):
            rows |= {node: replace(rows[node], **{field: max(1, node.nbytes)}) for node in ends}
    return {node: row for node, row in rows.items() if row.is_any}


def _in_order(nodes: Mapping[TensorNode, None]) -> list[TensorNode]:
    """The nodes in topological order."""
    inside = {node: [s for s in node.sources if s in nodes] for node in nodes}
    return list(TopologicalSorter(inside).static_order())


def _ends(rows: Mapping[TensorNode, OwnWork], held: Collection[TensorNode]) -> list[TensorNode]:
    """The nodes that a kernel stores; if none, those that nothing in it reads."""
    written = [node for node in rows if node in held]
    if written:
        return written
    inside = {source for node in rows for source in node.sources}
    return [node for node in rows if node not in inside]


def _time(node: TensorNode) -> int:
    """Elementary operations of a node, including conversions and random bits."""
    match node:
        case Bitcast():
            return 0
        case Cast():
            return node.size * OPS["add"].cost
        case Threefry():
            return node.size * RANDOM
    return operations_of(node)


def _read(
    computed: Sequence[TensorNode], held: Collection[TensorNode]
) -> dict[TensorNode, int]:
    """The bytes that each node loads from memory, directly or through movement."""
    inside = frozenset(computed)
    users: dict[TensorNode, list[TensorNode]] = {}
    for node in computed:
        for source in dict.fromkeys(node.sources):
            users.setdefault(source, []).append(node)
    bytes_read: dict[TensorNode, int] = {}
    for node in computed:
        outside = (s for s in dict.fromkeys(node.sources) if s not in inside)
        bytes_read[node] = bytes_read.get(node, 0) + sum(
            s.nbytes for s in outside if isinstance(s, Buffer) or s in held
        )
        if kind(node) == MOVEMENT and node in users and bytes_read[node]:
            _pass_on(node, users[node], bytes_read)
    return bytes_read


def _pass_on(node: TensorNode, users: list[TensorNode], bytes_read: dict[TensorNode, int]) -> None:
    """Distribute the bytes of a movement node to the nodes that read through it."""
    nbytes = bytes_read.pop(node)
    each, rest = divmod(nbytes, len(users))
    for place, user in enumerate(users):
        bytes_read[user] = bytes_read.get(user, 0) + each + (place < rest)

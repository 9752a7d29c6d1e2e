"""collectives: all-reduce and all-gather between workers of a cluster, in the fewest bytes.

    Before:  %2 = joint %0 %1 add                   f32[4]      (partial sums of DASK and DASK:1)
             %3 = received %2 on DASK               f32[4]
             %4 = received %2 on DASK:1             f32[4]
    After:   a ring: each sends half of its own to the other, adds what it got to the half that it
             kept, and sends that sum

An all-reduce of B bytes over n workers moves at least 2 (n - 1) B bytes: n - 1 of the n values
have to be sent to be summed, and the sum has to be sent to n - 1 workers. An all-gather moves to
each worker what it lacks. All algorithms here move exactly these bytes; they differ in how the
bytes are distributed over the workers, and in the number of steps.

    ring      n (n - 1) transfers to reduce and as many to gather; each worker sends to the next
              one, 2 (n - 1) / n of B in all. For up to `RING` workers
    halving   the same bytes in n log n transfers (recursive halving, then doubling): two halves of
              the workers exchange halves of the value, then each half does so. For more workers
    tree      2 (n - 1) transfers of B in 2 log n steps: for small values, and for one reader
    doubling  the second half of halving, for small values or many workers
    direct    each shard is sent to each reader: where not all workers read

The graph fixes which value is added to which. So every run gives the same bits, whatever the order
in which its transfers arrive.

Relies on: `shard` made a Joint of values on different workers, none with variable extents.
Ensures: no Joint and no Received is left; a value received on a device is computed there.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.text import counted
from compiler.core.trace import Match, Provenance
from compiler.graph.devices import Devices
from compiler.graph.kinds.placement import Copy, Joint, Received
from compiler.graph.kinds.shaping import reshaped, shrunk
from compiler.graph.nodes import Pairs, Shape, TensorNode, elementwise
from compiler.graph.reshard import REAPPLIED, Moves, even_lengths, held, joined, stored_bytes
from compiler.graph.rewrite import RuleSet, make_rule, rewrite
from compiler.ops.table import REDUCTIONS

SMALL = 512 << 10
"""Bytes below which a value is sent along a tree: split into parts, its transfers would be bound
by latency. A round figure: 0.3 ms per transfer at 2 GB/s."""
RING = 32
"""The most workers in a ring, which has n (n - 1) transfers: 992 for 32 workers. No
figure on record."""

Kind = Literal["all-reduce", "reduce", "all-gather", "gather"]
Algorithm = Literal["ring", "halving", "doubling", "tree", "direct"]
Results: TypeAlias = dict[str, TensorNode]
"""The value that each device gets."""


@dataclass(frozen=True, slots=True)
class Collective:
    """One exchange between workers: kind, algorithm, bytes moved and the fewest bytes possible.

    Inside a loop, it counts the transfers and bytes of all iterations.
    """

    kind: Kind
    devices: Devices
    algorithm: Algorithm
    transfers: int
    moved: int
    """Bytes of all transfers."""
    bound: int
    """The lower bound: bytes that every algorithm has to move."""
    busiest: int
    """The bytes sent, or received, by the device that sends or receives most."""
    node: TensorNode
    """One of its transfers, after the pass."""
    line: Origin | None = None
    """The line of the program that needs it."""

    def times(self, count: int) -> "Collective":
        """The exchange repeated `count` times: its counts multiplied."""
        sums = self.transfers, self.moved, self.bound, self.busiest
        transfers, moved, bound, busiest = (count * each for each in sums)
        return replace(self, transfers=transfers, moved=moved, bound=bound, busiest=busiest)

    def __str__(self) -> str:
        sign = "=" if self.moved == self.bound else "where"
        where = f" ({self.line.place})" if self.line else ""
        return (
            f"{self.kind} over {len(self.devices)} devices by {self.algorithm}: moved "
            f"{self.moved:,} {sign} {self.bound:,} bytes at least, "
            f"{counted(self.transfers, 'transfer')}{where}"
        )


@dataclass(slots=True)
class _Exchange:
    """One Joint while the pass runs: its readers, and, after the first one, their results."""

    moves: Moves
    why: str
    readers: list[str] = field(default_factory=list)
    sent: dict[TensorNode, tuple[str, str]] = field(default_factory=dict)
    """The copies, each with its source and target device."""
    results: Results = field(default_factory=dict)

    def send(self, node: TensorNode, device: str) -> TensorNode:
        """`node` on `device`: a copy unless it is there already."""
        copied = self.moves.copy(node, device, self.why)
        copy = copied
        while isinstance(copy, REAPPLIED):
            copy = copy.sources[0]
        if copied is not node and isinstance(copy, Copy):
            self.sent[copy] = copy.sources[0].devices[0], device
        return copied

    def received(self, joint: Joint, line: Origin | None) -> Results:
        """received(joint(x…), d) = all of x… as transfers and sums bring them to d"""
        if not self.results:
            wanted = set(self.readers)
            inside = [device for device in joint.devices if device in wanted]
            self.readers = list(dict.fromkeys((*inside, *self.readers)))
            algorithm = algorithm_of(joint, self.readers)
            run = (_REDUCED if joint.op else _GATHERED)[algorithm]
            self.results = run(self, joint)
            self.moves.collectives.append(replace(self.row(joint, algorithm), line=line))
        return self.results

    def row(self, joint: Joint, algorithm: Algorithm) -> Collective:
        """The counts of the exchange, after its copies were created."""
        kind: Kind = "all-reduce" if joint.op else "all-gather"
        if len(self.readers) == 1:
            kind = "reduce" if joint.op else "gather"
        load: Counter[tuple[str, bool]] = Counter()
        for copy, (source, target) in self.sent.items():
            load[source, True] += copy.nbytes
            load[target, False] += copy.nbytes
        moved = sum(copy.nbytes for copy in self.sent)
        devices = tuple(dict.fromkeys((*joint.devices, *self.readers)))
        return Collective(
            kind, devices, algorithm, len(self.sent), moved, bound(joint, self.readers),
            max(load.values(), default=0), next(iter(self.sent), joint),
        )  # fmt: skip


def exchange(
    root: TensorNode, moves: Moves, provenance: Provenance[Any], matches: list[Match] | None
) -> TensorNode:
    """`root` with each Received computed from copies, which are recorded in `moves`."""
    numbers, exchanges = provenance.numbers, dict[int, _Exchange]()
    for node in toposort([root]):
        if isinstance(node, Received):
            (joint,) = node.sources
            why = moves.reasons.get(joint, "")
            exchanges.setdefault(numbers[joint], _Exchange(moves, why)).readers.append(node.device)

    def run(node: Received) -> TensorNode:
        (joint,) = node.sources
        assert isinstance(joint, Joint)
        lines = (each for each in provenance.of(node) if isinstance(each, Origin))
        return exchanges[numbers[joint]].received(joint, min(lines, default=None))[node.device]

    rule = make_rule(run, (Received,), _Exchange.received)
    return rewrite(root, RuleSet([rule]), provenance, matches)


def bound(joint: Joint, readers: Sequence[str]) -> int:
    """The fewest bytes that any algorithm moves to give `readers` the whole value."""
    if joint.op:
        is_reader = any(device in joint.devices for device in readers)
        return joint.nbytes * (len(joint.sources) - 1 + len(readers) - is_reader)
    sizes = dict(zip(joint.devices, map(stored_bytes, joint.sources), strict=True))
    return sum(sum(sizes.values()) - sizes.get(device, 0) for device in readers)


def algorithm_of(joint: Joint, readers: Sequence[str]) -> Algorithm:
    """The algorithm by which `readers`, in the order of the devices, get a value."""
    count, is_small = len(joint.sources), joint.nbytes < SMALL
    is_for_all = tuple(readers) == joint.devices
    if joint.op:
        if is_small or not is_for_all or joint.size < count:
            return "tree"
        return "ring" if count <= RING else "halving"
    is_stored = all(stored_bytes(node) == node.nbytes for node in joint.sources)
    if not is_for_all or not (is_stored or count <= RING):
        return "direct"
    return "ring" if count <= RING and not (is_small and is_stored) else "doubling"


# --- each with all ----------------------------------------------------------------------------


def _tree(moves: _Exchange, joint: Joint) -> Results:
    """Combine pairs, then pairs of pairs; broadcast the result along the same tree."""
    value_on = dict(zip(joint.devices, joint.sources, strict=True))
    root = next((device for device in moves.readers if device in value_on), joint.devices[0])
    devices = [root, *(device for device in value_on if device != root)]
    values = [value_on[device] for device in devices]
    step = 1
    while step < len(values):
        for place in range(0, len(values) - step, 2 * step):
            other = moves.send(values[place + step], devices[place])
            values[place] = _combined(joint, values[place], other)
        step *= 2
    devices = [root, *(device for device in moves.readers if device != root)]
    return _broadcast(moves, values[0], devices)


def _broadcast(moves: _Exchange, value: TensorNode, devices: Sequence[str]) -> Results:
    """Broadcast the value of the first device: each device that has it sends it on."""
    value_on = {0: value}
    step = 1 << (len(devices) - 1).bit_length()
    while step := step // 2:
        for place in range(0, len(devices) - step, 2 * step):
            value_on[place + step] = moves.send(value_on[place], devices[place + step])
    return {device: value_on[place] for place, device in enumerate(devices)}


def _ring(moves: _Exchange, joint: Joint) -> Results:
    """Reduce-scatter around a ring, then all-gather around it."""
    devices, count = joint.devices, len(joint.devices)
    flat, bounds = _flat(joint), _bounds(joint)
    owned: list[TensorNode] = []
    for part, region in enumerate(bounds):
        value = shrunk(flat[(part + 1) % count], region)
        for step in range(2, count + 1):
            place = (part + step) % count
            value = _combined(joint, moves.send(value, devices[place]), shrunk(flat[place], region))
        owned.append(held(value))
    return _whole(joint, _around(moves, devices, owned))


def _halving(moves: _Exchange, joint: Joint) -> Results:
    """Reduce-scatter by recursive halving, then all-gather by recursive doubling."""
    lengths = even_lengths(joint.size, len(joint.devices))
    owned = _halved(moves, joint, joint.devices, _flat(joint), lengths)
    parts = _doubled(moves, joint.devices, [held(part) for part in owned], 0)
    return _whole(joint, [[part] for part in parts])


def _halved(
    moves: _Exchange, joint: Joint, devices: Devices, values: list[TensorNode], lengths: Shape
) -> list[TensorNode]:
    """For each device its part of the sum of `values`; the parts have lengths `lengths`."""
    if len(devices) == 1:
        return values
    half = (len(devices) + 1) // 2
    cut, end = sum(lengths[:half]), sum(lengths)
    begins, ends = ([shrunk(v, ((a, b),)) for v in values] for a, b in ((0, cut), (cut, end)))
    left, right = begins[:half], ends[half:]
    for place, value in enumerate(begins[half:]):
        left[place] = _combined(joint, left[place], moves.send(value, devices[place]))
    for place, value in enumerate(ends[:half]):
        other = min(place, len(right) - 1)  # the last of an odd number has no partner
        sent = moves.send(value, devices[half + other])
        right[other] = _combined(joint, right[other], sent)
    return [
        *_halved(moves, joint, devices[:half], left, lengths[:half]),
        *_halved(moves, joint, devices[half:], right, lengths[half:]),
    ]


def _combined(joint: Joint, left: TensorNode, right: TensorNode) -> TensorNode:
    return elementwise(REDUCTIONS[joint.op].combine, left, right)


def _flat(joint: Joint) -> list[TensorNode]:
    """The values of the devices, flattened: an axis may have fewer elements than workers."""
    return [reshaped(node, (joint.size,)) for node in joint.sources]


def _bounds(joint: Joint) -> list[Pairs]:
    """The bounds of each device's part of the flattened value."""
    lengths = even_lengths(joint.size, len(joint.devices))
    ends = itertools.accumulate(lengths)
    return [((end - length, end),) for end, length in zip(ends, lengths, strict=True)]


def _whole(joint: Joint, parts: Sequence[Sequence[TensorNode]]) -> Results:
    """The value of each device: its parts joined, in the original shape."""
    rows = zip(joint.devices, parts, strict=True)
    return {d: reshaped(held(joined(list(row), 0)), joint.shape) for d, row in rows}


# --- each to all ------------------------------------------------------------------------------


def _ring_of_shards(moves: _Exchange, joint: Joint) -> Results:
    """All-gather around a ring: each shard goes around once."""
    shards = [held(node) for node in joint.sources]
    rows = zip(joint.devices, _around(moves, joint.devices, shards), strict=True)
    return {d: held(joined([node for node in row if node.size], joint.axis)) for d, row in rows}


def _around(
    moves: _Exchange, devices: Devices, parts: Sequence[TensorNode]
) -> list[list[TensorNode]]:
    """For each device all parts, one per device at first; each receives from its predecessor."""
    count = len(devices)
    rows = [list(parts) for _ in devices]
    for part, shard in enumerate(parts):
        for step in range(1, count if shard.size else 1):
            place = (part + step) % count
            shard = rows[place][part] = moves.send(shard, devices[place])
    return rows


def _doubling(moves: _Exchange, joint: Joint) -> Results:
    """All-gather by recursive doubling: pairs exchange shards, then pairs of pairs, …"""
    shards = [held(node) for node in joint.sources]
    rows = _doubled(moves, joint.devices, shards, joint.axis)
    return dict(zip(joint.devices, rows, strict=True))


def _doubled(
    moves: _Exchange, devices: Devices, shards: list[TensorNode], axis: int
) -> list[TensorNode]:
    """For each device the shards of all devices, concatenated."""
    if len(devices) == 1:
        return shards
    half = (len(devices) + 1) // 2
    left = _doubled(moves, devices[:half], shards[:half], axis)
    right = _doubled(moves, devices[half:], shards[half:], axis)
    exchanged = []
    for place, shard in enumerate(left):
        other = right[min(place, len(right) - 1)]  # the last of an odd number has no partner
        exchanged.append(_behind(shard, moves.send(other, devices[place]), axis))
    for place, shard in enumerate(right):
        exchanged.append(_behind(moves.send(left[place], devices[half + place]), shard, axis))
    return exchanged


def _behind(left: TensorNode, right: TensorNode, axis: int) -> TensorNode:
    """`left` and `right` concatenated in memory; an empty one is left out."""
    parts = [node for node in (left, right) if node.size] or [left]
    return held(joined(parts, axis))


def _direct(moves: _Exchange, joint: Joint) -> Results:
    """Send each shard to each reader."""
    shards = [node for node in joint.sources if node.size]
    return {
        device: joined([moves.send(node, device) for node in shards], joint.axis)
        for device in moves.readers
    }


_REDUCED = {"ring": _ring, "halving": _halving, "tree": _tree}
_GATHERED = {"ring": _ring_of_shards, "doubling": _doubling, "direct": _direct}

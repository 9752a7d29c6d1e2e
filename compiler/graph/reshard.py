"""Resharding: gives a value other shards. Parts are sliced where they are, then copied.

As few bytes as possible are moved: a part is sliced before it is copied, and movement that repeats
or reorders elements (expand, permute, reshape, flip, pad) is applied again after the copy.
"""

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from compiler.graph import nodes
from compiler.graph.devices import Devices, is_remote
from compiler.graph.extents import matching_groups
from compiler.graph.kinds.joins import AT_ONCE, Cat
from compiler.graph.kinds.placement import Copy, Device, Joint, Multi, Received
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import MOVEMENT, Pairs, Shape, TensorNode

Movement: TypeAlias = tuple[type[TensorNode], object]
REAPPLIED = (nodes.Expand, nodes.Permute, nodes.Reshape, nodes.Flip, nodes.Pad)
"""Movement that is applied again on the target of a copy, so that its result is not copied."""


@dataclass(frozen=True, slots=True)
class ShardLayout:
    """The sharding of a value on `devices`: split along `axis` into `lengths`, or replicated if
    `axis` is None."""

    devices: Devices
    axis: int | None = None
    lengths: Shape = ()

    def bounds(self, shape: Shape, place: int) -> Pairs:
        """The bounds, per axis, of the shard at `place` of a value of this shape."""
        whole = [(0, n) for n in shape]
        if self.axis is not None:
            begin = sum(self.lengths[:place])
            whole[self.axis] = begin, begin + self.lengths[place]
        return tuple(whole)


def layout_of(node: Multi) -> ShardLayout:
    """The layout of a sharded value."""
    return ShardLayout(node.devices, node.axis, () if node.axis is None else node.lengths)


def even_lengths(extent: int, count: int) -> Shape:
    """`extent` split into `count` parts that differ by at most one, the longer ones first."""
    short, longer = divmod(extent, count)
    return tuple(short + (place < longer) for place in range(count))


@dataclass(slots=True)
class Moves:
    """The copies that a pass creates, each with its reason. Those of collectives are created when
    all their readers are known (`collectives.py`)."""

    reasons: dict[TensorNode, str] = field(default_factory=dict)
    collectives: list[Any] = field(default_factory=list)
    """The exchange that replaced each Joint: a `collectives.Collective`."""
    has_joints: bool = False
    loops: dict[object, Any] = field(default_factory=dict)
    """The loops over shards (`shard_loops.py`)."""

    def copy(self, node: TensorNode, device: str, why: str) -> TensorNode:
        """`node` on `device`: the copy is made below movement that can be applied again."""
        if not node.devices or node.devices == (device,):
            return node
        node, above = _under(node)
        if node.devices != (device,):
            node = Copy((node, Device((), device)))
            self.reasons.setdefault(node, why)
        return _rebuilt(node, above)

    def whole(self, node: Multi, device: str, why: str) -> TensorNode:
        """All of a value on one device."""
        if node.axis is None:
            here = [shard for shard in node.sources if shard.devices == (device,)]
            return here[0] if here else self.copy(node.sources[0], device, why)
        shards = [shard for _, shard in node.real] or list(node.sources[:1])
        return joined([self.copy(shard, device, why) for shard in shards], node.axis)

    def shards(self, node: TensorNode, layout: ShardLayout, why: str) -> list[TensorNode]:
        """`node` in the shards of `layout`."""
        if isinstance(node, Multi) and layout_of(node) == layout:
            return list(node.sources)
        if isinstance(node, Multi) and node.axis is not None and layout.axis is None:
            received = self.received(node.sources, "", node.axis, layout.devices, why)
            if received:
                return received
        if isinstance(node, Multi) and _is_repeated(node, layout):
            return self._repeated(node, layout, why)
        return [self._shard(node, layout, place, why) for place in range(len(layout.devices))]

    def received(
        self, shards: tuple[TensorNode, ...], op: str, axis: int, devices: Devices, why: str
    ) -> list[TensorNode]:
        """The joined shards on each of `devices`; [] unless all shards are on workers."""
        places = [place for node in shards for place in node.devices or ("",)]
        is_between = len(shards) > 1 and all(map(is_remote, (*places, *devices)))
        if not is_between or any(node.extents for node in shards):
            return []
        joint = Joint(shards, op, axis)
        if not joint.size:
            return []
        self.has_joints = True
        self.reasons.setdefault(joint, why)
        return [Received((joint,), device) for device in devices]

    def _repeated(self, node: Multi, layout: ShardLayout, why: str) -> list[TensorNode]:
        """The shards of a value that is repeated along its new axis: gathered, repeated there."""
        below = Multi(tuple(s.sources[0] for s in node.sources), node.axis, node.real_mask)
        whole = self.shards(below, ShardLayout(layout.devices), why)
        shapes = (_shape(layout.bounds(node.shape, place)) for place in range(len(whole)))
        pairs = zip(whole, shapes, strict=True)
        return [w if w.shape == shape else nodes.Expand((w,), shape) for w, shape in pairs]

    def _shard(self, node: TensorNode, layout: ShardLayout, place: int, why: str) -> TensorNode:
        device, bounds = layout.devices[place], layout.bounds(node.shape, place)
        if not isinstance(node, Multi):
            return self.copy(part(node, bounds), device, why)
        if node.axis is None:
            here = node.devices.index(device) if device in node.devices else 0
            return self.copy(part(node.sources[here], bounds), device, why)
        pieces = [self.copy(piece, device, why) for piece in _pieces(node, bounds)]
        return joined(pieces, node.axis)


def _is_repeated(node: Multi, layout: ShardLayout) -> bool:
    """True if the shards, all on workers, are repeated along the axis that `layout` splits."""
    cut = layout.axis
    if node.axis in (None, cut) or cut is None or not all(map(is_remote, node.devices)):
        return False
    return all(isinstance(s, nodes.Expand) and s.sources[0].shape[cut] == 1 for s in node.sources)


def joined(pieces: list[TensorNode], axis: int) -> TensorNode:
    """The pieces concatenated, each in memory: a fused concatenation would evaluate all of them
    for every element of the whole."""
    while len(pieces) > AT_ONCE:
        groups = (pieces[at : at + AT_ONCE] for at in range(0, len(pieces), AT_ONCE))
        pieces = [in_memory(joined(group, axis)) for group in groups]
    if len(pieces) == 1:
        return pieces[0]
    return Cat(tuple(map(in_memory, pieces)), axis).expansion()


def in_memory(node: TensorNode) -> TensorNode:
    """`node`, written to memory where it is not there yet."""
    base = node
    while isinstance(base, MOVEMENT):
        base = base.sources[0]
    there = nodes.Buffer, nodes.Const, nodes.Contiguous, nodes.Param, Copy, Repeat
    return node if isinstance(base, there) else nodes.Contiguous((node,))


def held(node: TensorNode) -> TensorNode:
    """`node` in memory, where it has no more elements than a copy of it would move."""
    node, above = _under(node)
    return _rebuilt(in_memory(node), above)


def _under(node: TensorNode) -> tuple[TensorNode, list[Movement]]:
    """The node below movement that is applied again, and that movement, outermost first."""
    above: list[Movement] = []
    while isinstance(node, REAPPLIED):
        above.append((type(node), next(iter(node.arguments.values()))))
        node = node.sources[0]
    return node, above


def _pieces(node: Multi, bounds: Pairs) -> list[TensorNode]:
    """The pieces of a part of the whole, one per shard that holds some of it; else an empty one."""
    assert node.axis is not None
    begin, end = bounds[node.axis]
    pieces: list[TensorNode] = []
    start = 0
    for shard, length in zip(node.sources, node.lengths, strict=True):
        low, high = max(begin, start), min(end, start + length)
        if low < high:
            local = (low - start, high - start)
            pieces.append(part(shard, (*bounds[: node.axis], local, *bounds[node.axis + 1 :])))
        start += length
    if pieces:
        return pieces
    shape = [high - low for low, high in bounds]
    shape[node.axis] = 0
    return [nodes.Const((), 0, node.dtype, tuple(shape))]


def part(node: TensorNode, bounds: Pairs) -> TensorNode:
    """The slice [begin, end) of each axis, taken below movement that repeats or reorders."""
    above: list[Movement] = []
    while not _is_all(node.shape, bounds):
        if isinstance(node, nodes.Const):
            return _rebuilt(nodes.Const((), node.bits, node.dtype, _shape(bounds)), above)
        inner = _below(node, bounds)
        if inner is None:
            return _rebuilt(nodes.Shrink((node,), bounds), above)
        argument = node.order if isinstance(node, nodes.Permute) else _shape(bounds)
        above.append((type(node), argument))
        node, bounds = node.sources[0], inner
    return _rebuilt(node, above)


def _rebuilt(node: TensorNode, above: list[Movement]) -> TensorNode:
    """`node` under the movements `above`, outermost first, without those that change nothing."""
    for kind, argument in reversed(above):
        make: Any = kind
        rebuilt: TensorNode = make((node,), argument)
        is_nothing = kind in (nodes.Expand, nodes.Reshape) and rebuilt.shape == node.shape
        node = node if is_nothing else rebuilt
    return node


def _shape(bounds: Pairs) -> Shape:
    return tuple(end - begin for begin, end in bounds)


def _is_all(shape: Shape, bounds: Pairs) -> bool:
    return all(pair == (0, n) for pair, n in zip(bounds, shape, strict=True))


def _below(node: TensorNode, bounds: Pairs) -> Pairs | None:
    """The slice of the source that holds this slice of a movement node; None if it is no slice."""
    match node:
        case nodes.Expand():
            old = node.sources[0].shape
            pairs = zip(bounds, old, node.shape, strict=True)
            if any(n == 1 != m and begin == end for (begin, end), n, m in pairs):
                return None
            pairs = zip(bounds, old, node.shape, strict=True)
            return tuple((0, 1) if n == 1 != m else pair for pair, n, m in pairs)
        case nodes.Permute():
            table = dict(zip(node.order, bounds, strict=True))
            return tuple(table[axis] for axis in range(len(bounds)))
        case nodes.Reshape() if node.size:
            return _below_reshape(node, bounds)
    return None


def _below_reshape(node: nodes.Reshape, bounds: Pairs) -> Pairs | None:
    """The slice of the source of a reshape; None if the slice cuts an axis that it changes."""
    old = node.sources[0].shape
    result = [(0, n) for n in old]
    for new_axes, old_axes in matching_groups(node.shape, old):
        cut = [axis for axis in new_axes if bounds[axis] != (0, node.shape[axis])]
        if not cut:
            continue
        wide = [axis for axis in old_axes if old[axis] != 1]
        if len(wide) != 1 or old[wide[0]] != node.shape[cut[0]]:
            return None
        result[wide[0]] = bounds[cut[0]]
    return tuple(result)


def stored_bytes(node: TensorNode) -> int:
    """The bytes that a copy of `node` moves: the size below movement that is applied again."""
    node, _ = _under(node)
    return 0 if isinstance(node, nodes.Const) else math.prod(node.shape) * node.dtype.itemsize

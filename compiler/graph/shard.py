"""shard: operations on sharded values become operations on each device's shard, and copies.

    Before:  %0 = buffer a                          f32[2,3]
             %1 = buffer b                          f32[2,3]
             %2 = multi %0 %1 axis 0 on CPU, CPU:1  f32[4,3]
             %3 = exp %2                            f32[4,3]
             %4 = reduce sum %3 axes (0)            f32[1,3]
             sink %4
    After:   %0 = buffer a                          f32[2,3]
             %6 = exp %0                            f32[2,3]
             %9 = reduce sum %6 axes (0)            f32[1,3]
             %1 = buffer b                          f32[2,3]
             %7 = exp %1                            f32[2,3]
             %10 = reduce sum %7 axes (0)           f32[1,3]
             %11 = device CPU                       bool[]
             %12 = copy %10 %11 to CPU              f32[1,3]
             %13 = add %9 %12                       f32[1,3]
             sink %13

An empty shard takes no part in reductions and is not gathered. An all-reduce of B bytes over n
devices of one machine sends the partial results to the first device, combines them there, and
sends the result to its readers: at most 2 (n - 1) B bytes in 2 (n - 1) transfers. No algorithm
moves less in total. Workers of a cluster have one link each: `collectives.py` distributes the
transfers over these.

After this pass each shard is a value of its own with a buffer on its device: the kernel graph needs
no MStack to keep them together.

Relies on: invariant 11 of `verify.py`: only kinds of the core are left.
Ensures: no Multi and no Joint is left; a result of the program is gathered on the first of its
devices.
"""

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from compiler.core.errors import DeviceError
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.graph import nodes
from compiler.graph.devices import written
from compiler.graph.extents import matching_groups
from compiler.graph.kinds.markers import Fuse, Later
from compiler.graph.kinds.placement import Copy, Device, Multi, Unique, multi
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import Pairs, Shape, TensorNode, elementwise
from compiler.graph.reshard import Moves, ShardLayout, layout_of, stored_bytes
from compiler.graph.rewrite import Rule, RuleSet, make_rule, rewrite
from compiler.ops.table import REDUCTIONS

if TYPE_CHECKING:
    from compiler.graph.collectives import Collective

ShardRule = Callable[[Moves, Any], TensorNode | None]
MovedRule = Callable[[Moves, Any, Multi, int], TensorNode]
_TARGETS: list[tuple[ShardRule, tuple[Any, ...], Callable[..., Any]]] = []
"""For each rule: the function that runs, its kinds, and the function that describes it."""


def _on(*kinds: Any) -> Callable[[ShardRule], ShardRule]:
    """A decorator that registers a rule for nodes of these kinds that read a Multi."""

    def register(function: ShardRule) -> ShardRule:
        _TARGETS.append((function, kinds, function))
        return function

    return register


def _on_moved(kind: Any) -> Callable[[MovedRule], MovedRule]:
    """A decorator that registers a rule for a kind of movement; the rule gets the sharded axis.

    A replicated value needs no rule: it is moved on each device.
    """

    def register(function: MovedRule) -> MovedRule:
        def run(moves: Moves, node: TensorNode) -> TensorNode | None:
            source = node.sources[0]
            if not isinstance(source, Multi):
                return None
            if source.axis is None:
                return _each(node, source, None)
            return function(moves, node, source, source.axis)

        _TARGETS.append((run, (kind,), function))
        return function

    return register


def _each(node: TensorNode, source: Multi, axis: int | None) -> Multi:
    """`node`, applied to every shard of its only source."""
    return multi(tuple(node.with_sources((shard,)) for shard in source.sources), axis)


def _replaced(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _everywhere(moves: Moves, source: Multi, why: str) -> Multi:
    """The value replicated on each of its devices."""
    layout = ShardLayout(source.devices)
    return multi(tuple(moves.shards(source, layout, why)), None)


@_on(nodes.Elementwise)
def elementwise_of_shards(moves: Moves, node: nodes.Elementwise) -> TensorNode | None:
    """op(multi(a…), multi(b…)) = multi(op(a, b)…), in the layout that moves the fewest bytes"""
    layout = _cheapest(node.sources)
    return None if layout is None else _aligned(moves, node, layout, node.sources, node.op)


def _aligned(
    moves: Moves, node: TensorNode, layout: ShardLayout, operands: tuple[TensorNode, ...], name: str
) -> Multi:
    """`node` on each device, with its operands resharded to one layout."""
    why = f"{name}: its operands are laid out differently"
    columns = [moves.shards(operand, layout, why) for operand in operands]
    return multi(tuple(node.with_sources(row) for row in zip(*columns, strict=True)), layout.axis)


def _cheapest(operands: tuple[TensorNode, ...]) -> ShardLayout | None:
    """The layout of an operand for which the fewest bytes of the others have to be moved."""
    shards = [operand for operand in operands if isinstance(operand, Multi)]
    layouts = list(dict.fromkeys(layout_of(m) for m in shards if m.axis is not None))
    if not layouts:
        return layout_of(shards[0]) if shards else None

    def cost(layout: ShardLayout) -> int:
        others = (m for m in shards if m.axis is not None and layout_of(m) != layout)
        return sum(stored_bytes(shard) for m in others for shard in m.sources)

    return min(layouts, key=cost)


@_on(nodes.Cast, nodes.Bitcast, nodes.Contiguous, Fuse)
def same_place(moves: Moves, node: TensorNode) -> TensorNode | None:
    """f(multi(a…)) = multi(f(a)…) for casts, bitcasts, contiguous and fuse"""
    source = node.sources[0]
    return _each(node, source, source.axis) if isinstance(source, Multi) else None


@_on(Later)
def later(moves: Moves, node: TensorNode) -> TensorNode | None:
    """later(multi(a…), g) = multi(a…): sharded activations are stored, not recomputed"""
    return node.sources[0] if any(isinstance(s, Multi) for s in node.sources) else None


@_on(nodes.Reduce)
def reduction(moves: Moves, node: nodes.Reduce) -> TensorNode | None:
    """reduce(multi(a…)) = multi(reduce(a)…), along the cut axis combined over the devices"""
    source = node.sources[0]
    if not isinstance(source, Multi):
        return None
    if source.axis not in node.axes:
        return _each(node, source, source.axis)
    shards = source.real or ((0, source.sources[0]),)
    partial: list[TensorNode] = [node.with_sources((shard,)) for _, shard in shards]
    home = source.devices[shards[0][0]]
    why = f"all-reduce: {node.op} over axis {source.axis}, which is in shards"
    received = moves.received(tuple(partial), node.op, 0, source.devices, why)
    if received:
        return multi(tuple(received), None)
    total = partial[0]
    for other in partial[1:]:
        total = elementwise(REDUCTIONS[node.op].combine, total, moves.copy(other, home, why))
    return multi(tuple(moves.copy(total, device, why) for device in source.devices), None)


@_on(Scan)
def scan(moves: Moves, node: Scan) -> TensorNode | None:
    """scan(multi(a…)) = multi(scan(a)…), along the cut axis a whole on each device"""
    source = node.sources[0]
    if not isinstance(source, Multi):
        return None
    if source.axis != node.axis:
        return _each(node, source, source.axis)
    why = f"scan {node.op} along axis {node.axis}, which is in shards"
    return node.with_sources((_everywhere(moves, source, why),))


@_on_moved(nodes.Reshape)
def reshape(moves: Moves, node: nodes.Reshape, source: Multi, cut: int) -> TensorNode:
    """reshape(multi(a…)) = multi(reshape(a)…) where whole rows of the new axis are in a shard"""
    kept = _kept_axis(source, cut, node.new_shape)
    if kept is None:
        why = f"reshape to {node.new_shape} cuts rows of axis {cut} across shards"
        return node.with_sources((_everywhere(moves, source, why),))
    axis, lengths = kept
    shapes = (_replaced(node.new_shape, axis, length) for length in lengths)
    pairs = zip(source.sources, shapes, strict=True)
    return multi(tuple(nodes.Reshape((shard,), shape) for shard, shape in pairs), axis)


def _kept_axis(source: Multi, cut: int, new: Shape) -> tuple[int, Shape] | None:
    """The sharded axis after a reshape and the extent of each shard; None if shards would mix."""
    old = source.shape
    if not source.size:
        return None
    groups = (g for g in matching_groups(new, old) if cut in g[1])
    new_axes, old_axes = next(groups, ([], []))
    outer = [axis for axis in new_axes if new[axis] != 1] or new_axes
    if not outer or any(old[axis] != 1 for axis in old_axes if axis < cut):
        return None
    rows = math.prod(new[axis] for axis in new_axes if axis > outer[0])
    inner = math.prod(old[axis] for axis in old_axes if axis > cut)
    if any(length * inner % rows for length in source.lengths):
        return None
    return outer[0], tuple(length * inner // rows for length in source.lengths)


@_on_moved(nodes.Permute)
def permute(moves: Moves, node: nodes.Permute, source: Multi, cut: int) -> TensorNode:
    """permute(multi(a…)) = multi(permute(a)…) along the axis that the cut one became"""
    return _each(node, source, node.order.index(cut))


@_on_moved(nodes.Expand)
def expand(moves: Moves, node: nodes.Expand, source: Multi, cut: int) -> TensorNode:
    """expand(multi(a…)) = multi(expand(a)…)"""
    if source.shape[cut] != node.new_shape[cut]:
        why = f"expand repeats axis {cut}, which is in shards"
        return node.with_sources((_everywhere(moves, source, why),))
    shapes = [_replaced(node.new_shape, cut, length) for length in source.lengths]
    pairs = zip(source.sources, shapes, strict=True)
    return multi(tuple(nodes.Expand((shard,), shape) for shard, shape in pairs), cut)


@_on_moved(nodes.Pad)
def pad(moves: Moves, node: nodes.Pad, source: Multi, cut: int) -> TensorNode:
    """pad(multi(a…)) = multi(pad(a)…), the cut axis before its first and after its last shard"""
    before, after = node.widths[cut]
    places = [place for place, _ in source.real] or [0]
    shards = []
    for place, shard in enumerate(source.sources):
        padding = (before if place == places[0] else 0, after if place == places[-1] else 0)
        shards.append(nodes.Pad((shard,), _replaced(node.widths, cut, padding)))
    return multi(tuple(shards), cut)


@_on_moved(nodes.Shrink)
def shrink(moves: Moves, node: nodes.Shrink, source: Multi, cut: int) -> TensorNode:
    """shrink(multi(a…)) = multi(shrink(a)…), of the cut axis what each shard has of the part"""
    bounds, start, shards = node.bounds, 0, []
    for shard, length in zip(source.sources, source.lengths, strict=True):
        low, high = (min(max(end - start, 0), length) for end in bounds[cut])
        bounds_here: Pairs = _replaced(bounds, cut, (low, high))
        shards.append(nodes.Shrink((shard,), bounds_here))
        start += length
    return multi(tuple(shards), cut)


@_on(nodes.Flip)
def flip(moves: Moves, node: nodes.Flip) -> TensorNode | None:
    """flip(multi(a, …, z)) = multi(flip(a)…); along the cut axis multi(flip(z), …, flip(a))"""
    source = node.sources[0]
    if not isinstance(source, Multi):
        return None
    if source.axis not in node.axes:
        return _each(node, source, source.axis)
    why = f"flip of axis {source.axis}, which is in shards: the first becomes the last"
    flipped = [node.with_sources((shard,)) for shard in reversed(source.sources)]
    pairs = zip(flipped, source.devices, strict=True)
    return multi(tuple(moves.copy(shard, device, why) for shard, device in pairs), source.axis)


@_on(nodes.Index)
def index(moves: Moves, node: nodes.Index) -> TensorNode | None:
    """multi(a…)[multi(i…)] = multi(a[i]…), a whole on each device"""
    source, *positions = node.sources
    shards = [s for s in node.sources if isinstance(s, Multi)]
    if not shards:
        return None
    whole = ShardLayout(shards[0].devices)
    why = "index: any position may be read, so every device needs all of what is in shards"
    copies = moves.shards(source, whole, why)
    layout = _cheapest(tuple(positions)) or whole
    why = "index: its positions are laid out differently"
    columns = [copies, *(moves.shards(position, layout, why) for position in positions)]
    return multi(tuple(nodes.Index(row) for row in zip(*columns, strict=True)), layout.axis)


@_on(Copy)
def copy(moves: Moves, node: Copy) -> TensorNode | None:
    """copy(multi(a…), device) = all shards on the device; to several devices, each its own"""
    source, *rest = node.sources
    if not isinstance(source, Multi):
        return None
    unique = [s for s in rest if isinstance(s, Unique)]
    if len(node.devices) > 1:
        pairs = zip(source.sources, node.devices, strict=True)
        shards = [Copy((shard, Device((), device), *unique)) for shard, device in pairs]
        return multi(tuple(shards), source.axis)
    gathered = moves.whole(source, node.device, f"copy to {node.device}: asked for")
    return Copy((gathered, *rest))


@_on(Repeat)
def repeat(moves: Moves, node: Repeat) -> TensorNode | None:
    """repeat(multi(a…); f) = multi(repeat(a…; f on each device)…)"""
    if not any(isinstance(source, Multi) for source in node.sources):
        return None
    if node.loop not in moves.loops:
        with loading():  # few programs have loops over shards
            from compiler.graph.shard_loops import loop_of_shards

        moves.loops[node.loop] = loop_of_shards(moves, node, _spread)
    state: TensorNode = moves.loops[node.loop].state(node)
    return state


def _spread(root: TensorNode, provenance: Provenance[Any], moves: Moves) -> TensorNode:
    return _sharded(root, provenance, None, moves, False)


@_on(nodes.Sink)
def sink(moves: Moves, node: nodes.Sink) -> TensorNode | None:
    """sink(multi(a…)) = sink(all shards on the first device)"""
    return node.with_sources(tuple(_gathered(moves, source) for source in node.sources))


def _gathered(moves: Moves, node: TensorNode) -> TensorNode:
    why = "a result: gathered where the user reads it"
    return moves.whole(node, node.devices[0], why) if isinstance(node, Multi) else node


def _rules(moves: Moves, is_gathering: bool) -> RuleSet:
    """The rules, which record their copies in `moves`; with `is_gathering`, results are gathered.
    """
    rules: list[Rule] = [
        make_rule(functools.partial(run, moves), kinds, described)
        for run, kinds, described in _TARGETS
        if is_gathering or run is not sink
    ]
    return RuleSet(rules)


def shard(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with every operation on a sharded value performed on each device.

    Raises `DeviceError` for a kind of node that does not support shards.
    """
    return _sharded(root, provenance, matches, Moves(), True)


def _sharded(
    root: TensorNode,
    provenance: Provenance[Any],
    matches: list[Match] | None,
    moves: Moves,
    is_gathering: bool,
) -> TensorNode:
    if not any(isinstance(node, Multi) for node in toposort([root])):
        return root
    result = rewrite(root, _rules(moves, is_gathering), provenance, matches)
    _refuse_others(result)
    if not moves.has_joints:
        return result
    with loading():  # programs for workers alone have collectives
        from compiler.graph.collectives import exchange

    return exchange(result, moves, provenance, matches)


def _refuse_others(root: TensorNode) -> None:
    """Raise `DeviceError` if a node still reads a Multi: its kind has no rule."""
    for node in toposort([root]):
        for source in node.sources:
            if isinstance(source, Multi) and not isinstance(node, nodes.Sink):
                raise DeviceError(
                    type(node).__name__.lower(), "cannot be done on shards",
                    got=f"a value on {written(source.devices)}", expected="a value on one device",
                    hint=f'gather it first: .to("{source.devices[0]}")', origin=node.origin,
                )  # fmt: skip


def spread(root: nodes.Sink) -> nodes.Sink:
    """`root`, decomposed and sharded, with sharded results left as Multi nodes, not gathered."""
    result = _sharded(root, Provenance(), None, Moves(), False)
    assert isinstance(result, nodes.Sink)
    return result


def reasons(root: TensorNode) -> dict[TensorNode, str]:
    """The reason for each copy that the pass inserts into `root`."""
    moves = Moves()
    _sharded(root, Provenance(), None, moves, True)
    return moves.reasons


def collectives(root: TensorNode) -> "tuple[Collective, ...]":
    """The exchanges between workers (all-reduce, all-gather, …) that the pass inserts into `root`.
    """
    moves = Moves()
    _sharded(root, Provenance(), None, moves, True)
    return tuple(moves.collectives)

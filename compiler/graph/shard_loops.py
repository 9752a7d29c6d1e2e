"""shard_loops: a loop over sharded values becomes one loop over each device's shards.

    Before:  %2 = multi %0 %1 axis 0 on DASK, DASK:1    f32[4]
             %3 = repeat %2       8 iterations, state 0 f32[4]
               each iteration:
               %t0 = mul %2 2.0                         f32[4]
    After:   %4 = repeat %0 %1    8 iterations, state 0 f32[2]
               each iteration:
               %t0 = mul %0 2.0                         f32[2]
               %t1 = mul %1 2.0                         f32[2]
             %5 = repeat %0 %1    8 iterations, state 1 f32[2]

A state keeps the layout of its first value: at the end of each iteration the new state is
resharded to it. A state whose first value is on no device, such as zeros, gets the layout that the
step computes. Workers run their exchanges in every iteration (`collectives.py`).

Relies on: the sources of the loop are on the same devices, or on none.
Ensures: no value of the body is sharded; its nodes keep the first of their lines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compiler.core.node import toposort
from compiler.core.origin import Origin, state
from compiler.core.trace import Provenance
from compiler.graph.collectives import exchange
from compiler.graph.cse import cse
from compiler.graph.decompose import decompose
from compiler.graph.kinds.placement import Copy, Device, Multi, multi
from compiler.graph.kinds.repeat import Placed, Repeat
from compiler.graph.nodes import Param, Sink, TensorNode
from compiler.graph.reshard import Moves, ShardLayout, layout_of

Apart = Callable[[TensorNode, Provenance[Origin], Moves], TensorNode]
"""A function that shards the operations of a body; its roots may stay sharded."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over shards: its sources, its body, and the layout of each state."""

    sources: tuple[TensorNode, ...]
    body: Sink
    layouts: tuple[ShardLayout, ...]

    def state(self, node: Repeat) -> Multi:
        """The state that `node` stands for, as a sharded value."""
        layout = self.layouts[node.index]
        first = node.index * len(layout.devices)
        return multi(
            tuple(
                Repeat(self.sources, self.body, node.counter, node.count, first + place)
                for place in range(len(layout.devices))
            ),
            layout.axis,
        )


def loop_of_shards(moves: Moves, node: Repeat, apart: Apart) -> Loop | None:
    """The loop of `node` over each device's shards; None where no source is sharded."""
    shards = [source for source in node.sources if isinstance(source, Multi)]
    if not shards:
        return None
    whole = ShardLayout(shards[0].devices)
    layouts = [layout_of(s) if isinstance(s, Multi) else whole for s in node.sources]
    inner = Moves()
    provenance, root = _apart(node, layouts, apart, inner)
    better = [
        layout_of(new) if not isinstance(old, Multi) and isinstance(new, Multi) else layout
        for new, old, layout in zip(root.sources, node.sources, layouts, strict=False)
    ]
    if better != layouts[: node.states]:
        layouts[: node.states] = better
        inner = Moves()
        provenance, root = _apart(node, layouts, apart, inner)
    body = _body(root, layouts, provenance, inner)
    moves.collectives += [each.times(node.count) for each in inner.collectives]
    sources = _first(moves, node.sources, layouts)
    return Loop(sources, body, tuple(layouts))


def _first(
    moves: Moves, sources: Sequence[TensorNode], layouts: Sequence[ShardLayout]
) -> tuple[TensorNode, ...]:
    """The shards of all sources; sources on no device are created on each device."""
    firsts: list[TensorNode] = []
    for source, layout in zip(sources, layouts, strict=True):
        shards = moves.shards(source, layout, "repeat: a first state")
        pairs = zip(shards, layout.devices, strict=True)
        firsts += [s if s.devices else Copy((s, Device((), device))) for s, device in pairs]
    return tuple(firsts)


def _apart(
    node: Repeat, layouts: Sequence[ShardLayout], apart: Apart, moves: Moves
) -> tuple[Provenance[Origin], TensorNode]:
    """The body after sharding, with the lines of its nodes; its roots may be sharded."""
    provenance: Provenance[Origin] = Provenance()
    plain = decompose(cse(node.body, provenance), provenance)
    done: dict[TensorNode, TensorNode] = {}
    for each in toposort([plain]):
        if isinstance(each, Param):
            done[each] = _shards(each, layouts[each.slot])
        else:
            done[each] = each.with_sources(tuple(done[s] for s in each.sources))
        provenance.rebuilt(done[each], each)
    return provenance, apart(done[plain], provenance, moves)


def _shards(param: Param, layout: ShardLayout) -> Multi:
    """The replacement for a Param of the whole value: one Param for each shard."""
    first = param.slot * len(layout.devices)
    shapes = [
        tuple(end - begin for begin, end in layout.bounds(param.shape, place))
        for place in range(len(layout.devices))
    ]
    pairs = enumerate(zip(shapes, layout.devices, strict=True))
    shards = tuple(Placed((), first + k, shape, param.dtype, d) for k, (shape, d) in pairs)
    return multi(shards, layout.axis)


def _body(
    root: TensorNode, layouts: Sequence[ShardLayout], provenance: Provenance[Origin], moves: Moves
) -> Sink:
    """The body with its roots in the layouts of the states; lines are taken from `provenance`."""
    new: list[TensorNode] = []
    for each, layout in zip(root.sources, layouts, strict=False):
        new += moves.shards(each, layout, "repeat: the next state keeps the layout of the state")
    result = exchange(Sink(tuple(new)), moves, provenance, None)
    done: dict[TensorNode, TensorNode] = {}
    outer = state.origin
    try:
        for node in toposort([result]):
            state.origin = min(provenance.of(node), default=None)
            done[node] = _plain(node, done)
    finally:
        state.origin = outer
    body = done[result]
    assert isinstance(body, Sink)
    return body


def _plain(node: TensorNode, done: dict[TensorNode, TensorNode]) -> TensorNode:
    if isinstance(node, Placed):
        state.origin = None  # a Param of a body has no line
        return Param((), node.slot, node.shape, node.dtype)
    return node.made_again(tuple(done[source] for source in node.sources))

"""outline: the region of each realized value becomes the body of a call.

    Before:  %0 = buffer x             f32[64,10]
             %1 = reduce sum %0 axes (1) f32[64,1]      (to be in memory, with %2)
             %2 = exp %1               f32[64,1]
             sink %2
    After:   %0 = buffer tmp1 …  %1 = buffer tmp0 …  %2 = buffer x f32[64,10] CPU
             %3 = call k0(%1, %2)      f32[64,1]
             %4 = after %1 [%3]
             %5 = call k1(%0, %4)      f32[64,1]
             %6 = after %0 [%5]
             sink %6

Relies on: `partition` lists every result and cuts every region it must.
Ensures: bodies read only `Param`s and constants; equal bodies are one object with one name;
argument 0 is written, the others are read, in the order in which the body meets them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from compiler.graph.devices import first_device
from compiler.graph.nodes import Buffer, Device, Param, Sink, Store, TensorNode, Unique
from compiler.graph.placement import Copy, is_computed
from compiler.node import Node, toposort
from compiler.schedule.calls import After, Call, KernelSink
from compiler.schedule.kinds import Transfer
from compiler.schedule.pitch import pitched
from compiler.trace import Provenance


@dataclass(slots=True)
class Outlined:
    """The kernel graph with, for its nodes and for bodies, the tensor nodes they come from."""

    root: KernelSink
    bodies: dict[Sink, str] = field(default_factory=dict)
    """Each distinct body with its name, in order of first use."""
    origins: Provenance[TensorNode] = field(default_factory=Provenance)
    """For kernel-graph nodes and body nodes: the tensor nodes they stand for."""
    buffers: dict[TensorNode, Node] = field(default_factory=dict)
    """For each realized node (and input) the kernel-graph node that holds its value."""


def outline(root: Sink, realized: Iterable[TensorNode]) -> Outlined:
    """The kernel graph that computes the sources of `root`, given the nodes to realize."""
    result = Outlined(KernelSink(()))
    for number, node in enumerate(realized):
        _add_call(result, node, number)
    for source in root.sources:
        _holder(result, source)
    result.root = KernelSink(tuple(result.buffers[s] for s in root.sources))
    return result


def _holder(result: Outlined, node: TensorNode) -> Node:
    """The kernel-graph node that holds `node`'s value: an After, or an input buffer."""
    if node not in result.buffers:
        assert isinstance(node, Buffer)
        result.buffers[node] = node
        result.origins.add(node, frozenset((node,)))
    return result.buffers[node]


def _add_call(result: Outlined, node: TensorNode, number: int) -> None:
    """Outline the region that ends in `node` and call it on a new buffer."""
    if isinstance(node, Copy) and not is_computed(node):
        _add_transfer(result, node, number)
        return
    region = toposort([node], leaves=result.buffers)
    body, inputs = _body(result, node, region)
    name = result.bodies.setdefault(body, f"k{len(result.bodies)}")
    buffer = _made(node, number)
    call = Call((buffer, *(_holder(result, i) for i in inputs)), body, name)
    after = After((buffer, call))
    result.buffers[node] = after
    computed = frozenset(n for n in region if n not in inputs)
    for made, origin in ((buffer, frozenset((node,))), (call, computed), (after, {node})):
        result.origins.add(made, frozenset(origin))


def _made(node: TensorNode, number: int) -> Buffer:
    """The buffer that a realized value is written to, on its device."""
    device = first_device(node.devices)
    return Buffer((), -1 - number, node.shape, node.dtype, f"tmp{number}", device)


def _add_transfer(result: Outlined, node: Copy, number: int) -> None:
    """Copy the value that `node` moves to a new buffer on its device."""
    source, region = pitched(node.sources[0])
    buffer = _made(node, number)
    call = Transfer((buffer, _holder(result, source)), region=region)
    result.buffers[node] = After((buffer, call))
    for made in (buffer, call, result.buffers[node]):
        result.origins.add(made, frozenset((node,)))


def _body(
    result: Outlined, root: TensorNode, region: list[TensorNode]
) -> tuple[Sink, list[TensorNode]]:
    """The body of the kernel of `region`, and the nodes its parameters 1, 2, … stand for."""
    done: dict[TensorNode, TensorNode] = {}
    inputs: list[TensorNode] = []
    for node in region:
        if isinstance(node, (Device, Unique)):
            continue
        if isinstance(node, Copy) and node not in result.buffers:
            done[node] = done[node.sources[0]]
        elif node in result.buffers or isinstance(node, Buffer):
            inputs.append(node)
            done[node] = Param((), len(inputs), node.shape, node.dtype)
        else:
            done[node] = node.with_sources(tuple(done[s] for s in node.sources))
        result.origins.add(done[node], frozenset((node,)))
    written = Param((), 0, root.shape, root.dtype)
    store = Store((written, done[root]))
    body = Sink((store,))
    for node in (written, store, body):
        result.origins.add(node, frozenset((root,)))
    return body, inputs

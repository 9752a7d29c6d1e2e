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

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from compiler.graph.kernel import Kernel, plain
from compiler.graph.markers import Fuse
from compiler.graph.nodes import Buffer, Param, Sink, Store, TensorNode
from compiler.node import Node, toposort
from compiler.schedule.calls import After, Call, KernelSink
from compiler.trace import Provenance


@dataclass(slots=True)
class Outlined:
    """The kernel graph with, for its nodes and for bodies, the tensor nodes they come from."""

    root: KernelSink
    bodies: dict[Sink, str] = field(default_factory=dict)
    """Each distinct body with its name, in order of first use; users' kernels first."""
    made: int = 0
    """Names k0, k1, … given so far."""
    origins: Provenance[TensorNode] = field(default_factory=Provenance)
    """For kernel-graph nodes and body nodes: the tensor nodes they stand for."""
    buffers: dict[TensorNode, Node] = field(default_factory=dict)
    """For each realized node (and input) the kernel-graph node that holds its value."""


def outline(root: Sink, realized: Iterable[TensorNode]) -> Outlined:
    """The kernel graph that computes the sources of `root`, given the nodes to realize."""
    result = Outlined(KernelSink(()))
    realized = tuple(realized)
    for node in realized:
        if isinstance(node, Kernel):
            _name_body(result, node)
    for number, node in enumerate(realized):
        _add_call(result, node, number)
    for source in root.sources:
        _holder(result, source)
    result.root = KernelSink(tuple(result.buffers[s] for s in root.sources))
    return result


def _name_body(result: Outlined, node: Kernel) -> None:
    """The body of a user's kernel has the name it was given, if no other body has it already."""
    body = _kernel_body(node)
    if body not in result.bodies and node.name not in result.bodies.values():
        result.bodies[body] = node.name


def _kernel_body(node: Kernel) -> Sink:
    body = plain(node.call_body())
    assert isinstance(body, Sink)
    return body


def _name_of(result: Outlined, body: Sink) -> str:
    """The name of a body: the first of k0, k1, … that is free, unless it has one."""
    if body not in result.bodies:
        taken = set(result.bodies.values())
        free = (f"k{number}" for number in itertools.count(result.made))
        result.bodies[body] = next(name for name in free if name not in taken)
        result.made += 1
    return result.bodies[body]


def _holder(result: Outlined, node: TensorNode) -> Node:
    """The kernel-graph node that holds `node`'s value: an After, or an input buffer."""
    if node not in result.buffers:
        assert isinstance(node, Buffer)
        result.buffers[node] = node
        result.origins.add(node, frozenset((node,)))
    return result.buffers[node]


def _add_call(result: Outlined, node: TensorNode, number: int) -> None:
    """Outline the region that ends in `node` and call it on a new buffer."""
    region = toposort([node], leaves=result.buffers)
    if isinstance(node, Kernel):
        body, inputs = _called(result, node)
    else:
        body, inputs = _body(result, node, region)
    name = _name_of(result, body)
    buffer = Buffer((), -1 - number, node.shape, node.dtype, f"tmp{number}")
    call = Call((buffer, *(_holder(result, i) for i in inputs)), body, name)
    after = After((buffer, call))
    result.buffers[node] = after
    computed = frozenset(n for n in region if n not in inputs)
    for made, origin in ((buffer, frozenset((node,))), (call, computed), (after, {node})):
        result.origins.add(made, frozenset(origin))


def _called(result: Outlined, node: Kernel) -> tuple[Sink, list[TensorNode]]:
    """The body of a user's kernel, and its inputs: each Param stands for one."""
    body = _kernel_body(node)
    for each in toposort([body]):
        origin = node.sources[each.slot - 1] if isinstance(each, Param) and each.slot else node
        result.origins.add(each, frozenset((origin,)))
    return body, list(node.sources)


def _body(
    result: Outlined, root: TensorNode, region: list[TensorNode]
) -> tuple[Sink, list[TensorNode]]:
    """The body of the kernel of `region`, and the nodes its parameters 1, 2, … stand for."""
    done: dict[TensorNode, TensorNode] = {}
    inputs: list[TensorNode] = []
    for node in region:
        if node in result.buffers or isinstance(node, Buffer):
            inputs.append(node)
            done[node] = Param((), len(inputs), node.shape, node.dtype)
        elif isinstance(node, Fuse):
            done[node] = done[node.sources[0]]
        else:
            done[node] = node.with_sources(tuple(done[s] for s in node.sources))
        result.origins.add(done[node], frozenset((node,)))
    written = Param((), 0, root.shape, root.dtype)
    store = Store((written, done[root]))
    body = Sink((store,))
    for node in (written, store, body):
        result.origins.add(node, frozenset((root,)))
    return body, inputs

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

from compiler import functions
from compiler.graph.nodes import Buffer, Custom, Param, Sink, Store, TensorNode
from compiler.node import Node, toposort
from compiler.schedule.kinds import After, Call, Callable, CustomCall, KernelSink
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
    region = toposort([node], leaves=result.buffers)
    buffer = Buffer((), -1 - number, node.shape, node.dtype, f"tmp{number}")
    call, inputs = _call(result, node, buffer, region)
    after = After((buffer, call))
    result.buffers[node] = after
    computed = frozenset(n for n in region if n not in inputs)
    for made, origin in ((buffer, frozenset((node,))), (call, computed), (after, {node})):
        result.origins.add(made, frozenset(origin))


def _call(
    result: Outlined, node: TensorNode, buffer: Buffer, region: list[TensorNode]
) -> tuple[Callable, list[TensorNode]]:
    """The call that writes `node` to `buffer`, and what it reads: of a kernel or on the host."""
    if isinstance(node, Custom) and is_on_host(node):
        inputs = list(node.sources)
        return CustomCall((buffer, *(_holder(result, i) for i in inputs)), node.name, (0,)), inputs
    body, inputs = _body(result, node, region)
    name = result.bodies.setdefault(body, f"k{len(result.bodies)}")
    return Call((buffer, *(_holder(result, i) for i in inputs)), body, name), inputs


def is_on_host(node: Custom) -> bool:
    """Whether `node` is a Python function, which runs between kernels."""
    found = functions.find(node.name)
    return found is not None and found.kind == "host"


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
        else:
            done[node] = node.with_sources(tuple(done[s] for s in node.sources))
        result.origins.add(done[node], frozenset((node,)))
    written = Param((), 0, root.shape, root.dtype)
    store = Store((written, done[root]))
    body = Sink((store,))
    for node in (written, store, body):
        result.origins.add(node, frozenset((root,)))
    return body, inputs

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

The call of an assign writes the buffer of its target, once all calls that read the target have
run: its argument 0 is `After(target, readers…)`.

Relies on: `hazards` separated what reads a target from what writes it; `partition` lists every
result and cuts every region it must.
Ensures: bodies read only `Param`s and constants; equal bodies are one object with one name;
argument 0 alone is written, the others are read, in the order in which the body meets them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from compiler import functions
from compiler.graph.nodes import Assign, Buffer, Custom, Param, Sink, Store, TensorNode
from compiler.node import Node, toposort
from compiler.schedule.kahn import kahn
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
    readers: dict[TensorNode, list[Callable]] = field(default_factory=dict)
    """For each realized node (and input) the calls that read it."""
    buffers: dict[TensorNode, Node] = field(default_factory=dict)
    """For each realized node (and input) the kernel-graph node that holds its value."""


def outline(root: Sink, realized: Iterable[TensorNode]) -> Outlined:
    """The kernel graph that computes the sources of `root`, given the nodes to realize."""
    result = Outlined(KernelSink(()))
    for number, node in enumerate(_in_order(list(realized))):
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
    if isinstance(node, Assign):
        buffer = _target(result, node)
        region = toposort([node.sources[1]], leaves=result.buffers)
    else:
        buffer = Buffer((), -1 - number, node.shape, node.dtype, f"tmp{number}")
        result.origins.add(buffer, frozenset((node,)))
    call, inputs = _call(result, node, buffer, region)
    for read in inputs:
        result.readers.setdefault(read, []).append(call)
    after = After((buffer, call))
    result.buffers[node] = after
    computed = frozenset((node, *(n for n in region if n not in inputs)))
    result.origins.add(call, computed)
    result.origins.add(after, frozenset((node,)))


def _target(result: Outlined, node: Assign) -> Node:
    """The buffer an assign writes, once every call that reads what it holds has run."""
    target = node.sources[0]
    held, readers = _holder(result, target), result.readers.get(target, [])
    return After((held, *dict.fromkeys(readers))) if readers else held


def _in_order(realized: list[TensorNode]) -> list[TensorNode]:
    """`realized`, each assign behind all that read its target."""
    if not any(isinstance(node, Assign) for node in realized):
        return realized
    places = {node: place for place, node in enumerate(realized)}
    edges: set[tuple[int, int]] = set()
    readers: dict[TensorNode, list[int]] = {}
    for node, place in places.items():
        leaves = (*(set(places) - {node}), *node.sources[: isinstance(node, Assign)])
        for read in _read(node, set(leaves)):
            readers.setdefault(read, []).append(place)
            if read in places:
                edges.add((places[read], place))
    for node, place in places.items():
        if isinstance(node, Assign):
            edges |= {(other, place) for other in readers.get(node.sources[0], [])}
            if node.sources[0] in places:
                edges.add((places[node.sources[0]], place))
    return [realized[place] for place in kahn(len(realized), sorted(edges))]


def _read(node: TensorNode, cut: set[TensorNode]) -> list[TensorNode]:
    """What the kernel of `node` reads: the buffers, and the realized nodes it is cut at."""
    root = node.sources[1] if isinstance(node, Assign) else node
    found: list[TensorNode] = toposort([root], leaves=cut)
    return [n for n in found if n is not node and (n in cut or isinstance(n, Buffer))]


def _call(
    result: Outlined, node: TensorNode, buffer: Node, region: list[TensorNode]
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
    store = Store((written, done[root.sources[1] if isinstance(root, Assign) else root]))
    body = Sink((store,))
    for node in (written, store, body):
        result.origins.add(node, frozenset((root,)))
    return body, inputs

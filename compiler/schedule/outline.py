"""outline: the fused region that computes each stored value becomes the body of a kernel call.

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

The call of an assign writes the buffer of its target after all calls that read the target (WAR):
its argument 0 is `After(target, readers…)`. If the value itself reads the target, the body reads
Param 0, in place.

Relies on: `hazards` inserted the copies that readers of overwritten buffers need; `partition` lists
every result and every kernel boundary.
Ensures: bodies read only `Param`s, constants and variables; equal bodies are one object with one
name; only argument 0 is written, the others are read and are in the order of their first use in the
body; a body reads an element of argument 0 only to overwrite it. A copy is a transfer; a call runs,
and allocates its buffer, on the device of its inputs.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from compiler.core.errors import DeviceError
from compiler.core.node import Node, toposort
from compiler.graph.devices import DEFAULT, is_disk
from compiler.graph.kinds.effects import Assign, Custom
from compiler.graph.kinds.kernel import Kernel, plain
from compiler.graph.kinds.markers import Fuse, Later
from compiler.graph.kinds.placement import Copy, Device, Unique, is_computed
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Param, Sink, Store, TensorNode, Variable, first_of
from compiler.graph.words import operation
from compiler.ops import functions
from compiler.schedule.general_body import General
from compiler.schedule.iterations import add_loop
from compiler.schedule.kahn import kahn
from compiler.schedule.kinds import (
    After,
    Call,
    Callable,
    CustomCall,
    Fixed,
    KernelSink,
    Transfer,
    buffer_of,
)
from compiler.schedule.outlined import Iteration, Outlined, outside
from compiler.schedule.pitch import pitched


def outline(
    root: Sink,
    realized: Iterable[TensorNode],
    iterations: Mapping[Sink, Iteration] | None = None,
    originals: Mapping[TensorNode, TensorNode] | None = None,
    general: Mapping[Sink, General] | None = None,
) -> Outlined:
    """The kernel graph that computes the sources of `root`, given the values to store.

    `iterations` has one iteration for the body of each `Repeat`; `originals` maps nodes that
    `hazards` inserted to those that they replace, for provenance; `general` maps bodies that differ
    from another one only in offsets of reads to their general body.
    """
    result = Outlined(KernelSink(()), iterations=iterations or {}, general=general or {})
    realized = _in_order(list(realized))
    for node in realized:
        if isinstance(node, Kernel):
            _name_body(result, node)
    for node in realized:
        _add(result, node)
    for source in root.sources:
        result.holder(source)
    result.root = KernelSink(tuple(result.buffers[s] for s in root.sources))
    if originals:
        _name_originals(result, originals)
    return result


def body_of(node: TensorNode, realized: Container[TensorNode]) -> Sink:
    """The body of the kernel that would compute `node` if the values `realized` were stored."""
    result = Outlined(KernelSink(()))
    below: list[TensorNode] = toposort(node.sources, leaves=realized)
    read = (each for each in below if each in realized or isinstance(each, Param))
    result.buffers = dict.fromkeys(read, result.root)
    return _body(result, node, [*below, node])[0]


def _name_originals(result: Outlined, originals: Mapping[TensorNode, TensorNode]) -> None:
    """Trace the kernel graph to nodes of the program, through the copies that `hazards` inserted.
    """
    parents = result.origins.parents
    for new, nodes in parents.items():
        parents[new] = frozenset(originals.get(node, node) for node in nodes)
    result.buffers |= {
        originals[node]: holder for node, holder in result.buffers.items()
        if node in originals and originals[node] not in result.buffers
    }  # fmt: skip


def _add(result: Outlined, node: TensorNode) -> None:
    """Outline the computation of `node`: a loop, a transfer, or a kernel."""
    if isinstance(node, Repeat):
        add_loop(result, node, _add)
    elif isinstance(node, Later):
        _add_later(result, node)
    else:
        _add_call(result, node)


def _add_later(result: Outlined, node: Later) -> None:
    """Readers of a Later read the memory of its value, and wait for its second operand."""
    held, waits = result.holder(node.sources[0]), result.holder(node.sources[1])
    calls = waits.sources[1:] if isinstance(waits, After) else ()
    result.buffers[node] = After((held, *calls)) if calls else held
    result.note(result.buffers[node], frozenset((node,)))


def _held(node: TensorNode) -> list[TensorNode]:
    """A node that is read, and the node whose memory it uses."""
    held = [node]
    while isinstance(held[-1], Later):
        held.append(held[-1].sources[0])
    return held


def _name_body(result: Outlined, node: Kernel) -> None:
    """Give the body of a user's kernel its name, unless another body has that name already."""
    body = _kernel_body(node)
    if body not in result.bodies and node.name not in result.bodies.values():
        result.bodies[body] = node.name


def _kernel_body(node: Kernel) -> Sink:
    body = plain(node.call_body())
    assert isinstance(body, Sink)
    return body


def _add_call(result: Outlined, node: TensorNode) -> None:
    """Outline the region that ends in `node` and call it on a new buffer."""
    region = toposort([node], leaves=result.buffers)
    call: Callable
    if isinstance(node, Copy) and not is_computed(node):
        call, inputs = _transfer(result, node)
    else:
        if isinstance(node, Assign):
            region = toposort([node.sources[1]], leaves=result.buffers)
        call, inputs = _call(result, node, region)
    for read in (each for node_read in inputs for each in _held(node_read)):
        result.readers.setdefault(read, []).append(call)
    buffer = call.sources[0]
    while isinstance(buffer, After):  # the call waits for the same calls
        buffer = buffer.sources[0]
    after = After((buffer, call))
    result.buffers[node] = after
    result.runs.append(call)
    held = (*inputs, *node.sources[: isinstance(node, Assign)])
    computed = frozenset((node, *(n for n in region if n not in held)))
    for new, origin in ((buffer, frozenset((node,))), (call, computed), (after, {node})):
        result.note(new, frozenset(origin))


def _call(
    result: Outlined, node: TensorNode, region: list[TensorNode]
) -> tuple[Callable, list[TensorNode]]:
    """The call that computes `node`, of a kernel or on the host, and the nodes that it reads."""
    if isinstance(node, Custom) and is_on_host(node):
        device, holders = _holders(result, node, node.sources)
        arguments = (_new_buffer(result, node, device), *holders)
        return CustomCall(arguments, node.name, (0,)), list(node.sources)
    if isinstance(node, Kernel):
        body, inputs = _called(result, node)
    else:
        body, inputs = _body(result, node, region)
    body, fixed = _general(result, node, body)
    name = result.name_of(body)
    device, holders = _holders(result, node, inputs)
    target = (
        _target(result, node) if isinstance(node, Assign) else _new_buffer(result, node, device)
    )
    arguments = (target, *holders, *_counter(result, region))
    return Call(arguments, body, name, fixed), inputs


def _general(result: Outlined, node: TensorNode, body: Sink) -> tuple[Sink, Fixed]:
    """The body that the call of `node` runs, its own or a general one, and the fixed offsets."""
    general = result.general.get(body)
    if general is None:
        return body, ()
    for original, general_body in general.made.items():
        for each in general_body:
            result.note(each, result.origins.of(original))
    for variable, _ in general.values:
        result.note(variable, frozenset((node,)))
    return general.body, tuple((variable.name, value) for variable, value in general.values)


def _target(result: Outlined, node: Assign) -> Node:
    """The buffer that an assign writes, after all calls that read its old value."""
    target = node.sources[0]
    held, readers = result.holder(target), result.readers.get(target, [])
    if not readers:
        return held
    after = After((held, *dict.fromkeys(readers)))
    result.note(after, frozenset((target,)))
    return after


def _in_order(realized: list[TensorNode]) -> list[TensorNode]:
    """`realized`, with each assign after all readers of its target."""
    if not any(isinstance(node, Assign) for node in realized):
        return realized
    places = {node: place for place, node in enumerate(realized)}
    targets = {node.sources[0] for node in realized if isinstance(node, Assign)}
    cut = targets.union(places)
    edges: set[tuple[int, int]] = set()
    readers: dict[TensorNode, list[int]] = {}
    for node, place in places.items():
        for read in (each for read_node in _read(node, cut) for each in _held(read_node)):
            readers.setdefault(read, []).append(place)
            if read in places:
                edges.add((places[read], place))
    for node, place in places.items():
        if isinstance(node, Assign):
            others = (r for r in readers.get(node.sources[0], []) if r != place)
            edges |= {(other, place) for other in others}
            if node.sources[0] in places:
                edges.add((places[node.sources[0]], place))
    return [realized[place] for place in kahn(len(realized), sorted(edges))]


def _read(node: TensorNode, cut: set[TensorNode]) -> list[TensorNode]:
    """The nodes that the kernel of `node` reads: buffers, and stored values at its boundary."""
    roots = node.sources[isinstance(node, Assign) :]  # an assign reads its target only in place
    nodes: list[TensorNode] = toposort(roots, leaves=cut)
    return [n for n in nodes if n in cut or isinstance(n, Buffer)]


def is_on_host(node: Custom) -> bool:
    """True if `node` is a Python function, which runs between kernels."""
    function = functions.find(node.name)
    return function is not None and function.kind == "host"


def _counter(result: Outlined, region: list[TensorNode]) -> tuple[Node, ...]:
    """The Bind of the loop counter, if the kernel reads the counter."""
    bind = result.counter
    names = {node.name for node in region if isinstance(node, Variable)}
    return (bind,) if bind is not None and bind.sources[0].name in names else ()


def _transfer(result: Outlined, node: Copy) -> tuple[Transfer, list[TensorNode]]:
    """The transfer that computes the copy `node`, and the node that it reads."""
    base, region = pitched(node.sources[0])
    buffer = result.new_buffer(node, node.device)
    return Transfer((buffer, result.holder(base)), "copy", region), [base]


def _holders(
    result: Outlined, node: TensorNode, inputs: Sequence[TensorNode]
) -> tuple[str, list[Node]]:
    """The device of the call of `node`, "" for any, and the buffers that it reads there.

    Values computed from constants only are on no device: they are copied to where they are read.
    """
    holders = [result.holder(each) for each in inputs]
    buffers = [buffer_of(holder) for holder in holders]
    placed = [b for b in buffers if b not in result.placeless]
    device = _device(node, placed)
    if isinstance(node, Copy):
        device = node.device
    elif isinstance(node, Assign):
        device = buffer_of(result.holder(node.sources[0])).device
    for place, (each, buffer) in enumerate(zip(inputs, buffers, strict=True)):
        if device not in ("", buffer.device) and buffer in result.placeless:
            holders[place] = _copied(result, each, device)
    return device, holders


def _copied(result: Outlined, node: TensorNode, device: str) -> Node:
    """The node that holds a copy of `node` on `device`."""
    key = node, device
    if key not in result.copies:
        buffer = result.new_buffer(node, device)
        call = Transfer((buffer, result.holder(node)), "copy", None)
        result.runs.append(call)
        result.copies[key] = After((buffer, call))
        for each in (buffer, call, result.copies[key]):
            result.note(each, frozenset((node,)))
    return result.copies[key]


def _new_buffer(result: Outlined, node: TensorNode, device: str) -> Buffer:
    """A buffer for the result of a call on `device`; "" is any."""
    buffer = result.new_buffer(node, device or DEFAULT)
    if not device:
        result.placeless.add(buffer)
    return buffer


def _device(node: TensorNode, inputs: Sequence[Buffer]) -> str:
    """The device of a kernel: that of its inputs, except those on disk; "" if there are none."""
    devices = {b.device: None for b in inputs if not is_disk(b.device)}
    if len(devices) > 1:
        raise DeviceError(
            operation(node), "the operands are on different devices", got=" and ".join(devices),
            expected="one device", hint="to(device) copies a tensor", origin=node.origin,
        )  # fmt: skip
    return next(iter(devices), "")


def _parameter(result: Outlined, node: TensorNode, slot: int) -> TensorNode:
    """The Param that `node` is read from, with its dynamic extents."""
    parameter: TensorNode = Param((), slot, node.shape, node.dtype)
    for axis, extent in enumerate(node.extents):
        if extent is not None:
            parameter = first_of(parameter, axis, extent)
    for each in toposort([parameter]):
        result.note(each, frozenset((node,)))
    return parameter


def _called(result: Outlined, node: Kernel) -> tuple[Sink, list[TensorNode]]:
    """The body of a user's kernel, and its inputs, one for each Param."""
    body = _kernel_body(node)
    result.given.add(body)
    for each in toposort([body]):
        origin = node.sources[each.slot - 1] if isinstance(each, Param) and each.slot else node
        result.note(each, frozenset((origin,)))
    return body, list(node.sources)


def _body(
    result: Outlined, root: TensorNode, region: list[TensorNode]
) -> tuple[Sink, list[TensorNode]]:
    """The body of the kernel of `region`, and the nodes its parameters 1, 2, … stand for."""
    written = Param((), 0, root.shape, root.dtype)
    target = root.sources[0] if isinstance(root, Assign) else None
    done: dict[TensorNode, TensorNode] = {}
    inputs: list[TensorNode] = []
    for node in region:
        if node is target:
            done[node] = written
        elif node in result.buffers or isinstance(node, Buffer):
            inputs.append(node)
            done[node] = _parameter(result, node, len(inputs))
        elif isinstance(node, Param):
            raise outside(node)
        elif isinstance(node, Device | Unique):
            continue
        elif isinstance(node, Copy | Fuse):
            done[node] = done[node.sources[0]]
        else:
            done[node] = node.with_sources(tuple(done[s] for s in node.sources))
        result.note(done[node], frozenset((node,)))
    if isinstance(root, Assign):
        store = Store((written, done[root.sources[1]]), root.parts)
    else:
        store = Store((written, done[root]))
    body = Sink((store,))
    for node in (written, store, body):
        result.note(node, frozenset((root,)))
    return body, inputs

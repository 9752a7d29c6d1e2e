"""The invariants of the kernel graph and of the schedule. A broken one is our error.

Of the kernel graph:
 1. Every node stands where it may: a Call takes Buffers and Afters, an After one of these and
    then Calls, the sink Buffers and Afters.
 2. A body is one Store to Param 0 under a Sink, and its Params are numbered from 0 without gaps.
 3. A call has as many arguments as its body has Params, each of its Param's shape and type.
 4. Argument 0 is written only: the body does not read Param 0, and no other argument of the call
    is the same buffer.
 5. No buffer is written by two calls.
 6. A buffer that a call writes is read, or given back, only through an After that names the call.
 7. One body has one name, and one name one body.
Of the schedule:
 8. Item i is at index i, and the items are the calls of the kernel graph, each once.
 9. Item numbers in `depends_on`, `dependents` and `dependencies` are in range, sorted, without
    repetition, and no item depends on itself.
10. `depends_on`, `dependents` and `dependencies` say the same.
11. No cycle, and producers stand before consumers.
12. A dependency says why: of kind data, its buffers are written by the producer and read by the
    consumer; anti: read, then written; output: written by both; control: there are none.
13. Where one item writes what another reads or writes, the later depends on the earlier.
14. There is one row of analysis per item, row i for item i.

Not checked: that a body computes what the tensor graph says (the interpreters do).
"""

from collections.abc import Sequence
from typing import NoReturn

from compiler.errors import InternalError
from compiler.graph.nodes import Buffer, Param, Sink, Store, TensorNode
from compiler.graph.words import short
from compiler.node import Node, toposort
from compiler.schedule.calls import After, Call, KernelSink, buffer_of, calls_of
from compiler.schedule.items import Dependency, ItemAnalysis, ScheduleItem
from compiler.schedule.order import kahn


def verify(
    root: KernelSink,
    items: Sequence[ScheduleItem],
    dependencies: Sequence[Dependency],
    analysis: Sequence[ItemAnalysis] | None = None,
) -> None:
    """Check the kernel graph under `root` and its schedule; the analysis where it is given.

    Raises `InternalError` with the number of the first invariant broken, and the call or item.
    """
    verify_kernels(root)
    verify_items(items, dependencies)
    _same_calls(root, items)
    if analysis is not None:
        _analysis(items, analysis)


def verify_kernels(root: KernelSink) -> None:
    """Check invariants 1 to 7 of the kernel graph under `root`."""
    for node in toposort([root]):
        _structure(node)
    calls = calls_of(root)
    for body in {call.body: None for call in calls}:
        _body(body)
    for call in calls:
        _arguments(call)
    _writers(root, calls)
    _names(calls)


def verify_items(items: Sequence[ScheduleItem], dependencies: Sequence[Dependency]) -> None:
    """Check invariants 8 to 13 of a schedule by itself."""
    for index, item in enumerate(items):
        if item.item_id != index:
            _broken(8, f"item {item.item_id} is not at its index", index, item.item_id)
    _numbers(items, dependencies)
    _agreement(items, dependencies)
    _sequence(items)
    for dependency in dependencies:
        _reason(items, dependency)
    _conflicts(items)


def _broken(number: int, what: str, got: object, expected: object) -> NoReturn:
    """Raise the error that names the invariant."""
    raise InternalError(
        "schedule", f"invariant {number}: {what}", got=str(got), expected=str(expected)
    )


def _name(node: Node) -> str:
    return f"call {node.name}" if isinstance(node, Call) else type(node).__name__


def _structure(node: Node) -> None:
    """Invariant 1."""
    values, calls = (Buffer, After), (Call,)
    allowed: dict[type[Node], list[tuple[type[Node], ...]]] = {
        Buffer: [],
        Call: [values] * len(node.sources),
        After: [values, *[calls] * (len(node.sources) - 1)],
        KernelSink: [values] * len(node.sources),
    }
    if type(node) not in allowed:
        _broken(1, "a node of another graph", type(node).__name__, "a kernel graph's nodes")
    if isinstance(node, After) and len(node.sources) < 2:
        _broken(1, "an After waits for nothing", len(node.sources), "a buffer and a call")
    for source, kinds in zip(node.sources, allowed[type(node)], strict=True):
        if not isinstance(source, kinds):
            expected = " or ".join(k.__name__ for k in kinds)
            _broken(1, f"{_name(node)} has a wrong operand", _name(source), expected)


def _params(body: Sink) -> list[Param]:
    """The Params of a body, by slot."""
    order: list[TensorNode] = toposort([body])
    found = [node for node in order if isinstance(node, Param)]
    return sorted(found, key=lambda param: param.slot)


def _body(body: Sink) -> None:
    """Invariant 2, and 4 inside the body."""
    stores = body.sources
    if len(stores) != 1 or not isinstance(stores[0], Store):
        _broken(2, "a body is not one store", [type(s).__name__ for s in stores], "[Store]")
    written, value = stores[0].sources
    if not isinstance(written, Param) or written.slot != 0:
        _broken(2, "a body does not write param 0", repr(written), "param 0")
    slots = [param.slot for param in _params(body)]
    if slots != list(range(len(slots))):
        _broken(2, "the params of a body are not numbered from 0", slots, [*range(len(slots))])
    read: list[TensorNode] = toposort([value])
    if any(isinstance(node, Param) and node.slot == 0 for node in read):
        _broken(4, "a body reads the param it writes", "param 0", "params 1 and up")


def _arguments(call: Call) -> None:
    """Invariant 3, and 4 for the call."""
    params = _params(call.body)
    if len(params) != len(call.sources):
        got, expected = len(call.sources), len(params)
        _broken(3, f"call {call.name} has the wrong number of arguments", got, expected)
    buffers = [buffer_of(argument) for argument in call.sources]
    for buffer, param in zip(buffers, params, strict=True):
        if short(buffer) != short(param):
            what = f"argument {param.slot} of call {call.name} does not fit its param"
            _broken(3, what, short(buffer), short(param))
    if buffers[0] in buffers[1:]:
        _broken(4, f"call {call.name} reads the buffer it writes", buffers[0].name, "another")


def _writers(root: KernelSink, calls: Sequence[Call]) -> None:
    """Invariants 5 and 6."""
    writer: dict[Buffer, Call] = {}
    for call in calls:
        buffer = buffer_of(call.sources[0])
        if buffer in writer:
            names = f"{writer[buffer].name} and {call.name}"
            _broken(5, f"buffer {buffer.name} is written by two calls", names, "one call")
        writer[buffer] = call
    for user in (*calls, root):
        for argument in user.sources[1 if isinstance(user, Call) else 0 :]:
            call_before = writer.get(buffer_of(argument))
            if call_before is not None and call_before not in _waits_for(argument):
                what = f"{_name(user)} does not wait for {buffer_of(argument).name}"
                _broken(6, what, "no After", f"after {_name(call_before)}")


def _waits_for(argument: Node) -> set[Node]:
    """The calls named by the Afters around a buffer."""
    found: set[Node] = set()
    while isinstance(argument, After):
        found.update(argument.sources[1:])
        argument = argument.sources[0]
    return found


def _names(calls: Sequence[Call]) -> None:
    """Invariant 7."""
    names: dict[Sink, str] = {}
    bodies: dict[str, Sink] = {}
    for call in calls:
        if names.setdefault(call.body, call.name) != call.name:
            _broken(7, "one body has two names", call.name, names[call.body])
        if bodies.setdefault(call.name, call.body) is not call.body:
            _broken(7, "one name has two bodies", call.name, "another name")


def _numbers(items: Sequence[ScheduleItem], dependencies: Sequence[Dependency]) -> None:
    """Invariant 9."""
    for item in items:
        for name, ids in (("depends_on", item.depends_on), ("dependents", item.dependents)):
            where = f"{name} of item {item.item_id}"
            if any(not 0 <= i < len(items) for i in ids):
                _broken(9, f"{where}: out of range", ids, f"0 … {len(items) - 1}")
            if item.item_id in ids:
                _broken(9, f"{where}: the item itself", ids, "other items")
            if list(ids) != sorted(set(ids)):
                _broken(9, f"{where}: not sorted, or repeated", ids, sorted(set(ids)))
    for each in dependencies:
        for end in (each.producer, each.consumer):
            if not 0 <= end < len(items):
                _broken(9, "a dependency is out of range", end, f"0 … {len(items) - 1}")
        if each.producer == each.consumer:
            _broken(9, "a dependency of an item on itself", each.producer, "two items")


def _agreement(items: Sequence[ScheduleItem], dependencies: Sequence[Dependency]) -> None:
    """Invariant 10."""
    before = {(d, item.item_id) for item in items for d in item.depends_on}
    after = {(item.item_id, d) for item in items for d in item.dependents}
    stated = {(d.producer, d.consumer) for d in dependencies}
    for name, edges in (("dependents", after), ("dependencies", stated)):
        if edges != before:
            a, b = min(edges ^ before)
            has = "depends_on" if (a, b) in before else name
            lacks = name if has == "depends_on" else "depends_on"
            _broken(10, "the dependencies disagree", f"{a} → {b} in {has}", f"it in {lacks} too")


def _sequence(items: Sequence[ScheduleItem]) -> None:
    """Invariant 11."""
    edges = [(d, item.item_id) for item in items for d in item.depends_on]
    try:
        kahn(len(items), edges)
    except InternalError as error:
        _broken(11, "the items wait for each other", error.got, "no cycle")
    for producer, consumer in edges:
        if producer > consumer:
            what = f"item {producer} stands after item {consumer}, which needs it"
            _broken(11, what, f"{producer} → {consumer}", "producers first")


def _reason(items: Sequence[ScheduleItem], dependency: Dependency) -> None:
    """Invariant 12."""
    first = items[dependency.producer].operation
    second = items[dependency.consumer].operation
    shared: set[Buffer] = set()
    match dependency.kind:
        case "data":
            shared = {*first.writes} & {*second.reads}
        case "anti":
            shared = {*first.reads} & {*second.writes}
        case "output":
            shared = {*first.writes} & {*second.writes}
    is_wrong = not dependency.buffers if shared else dependency.kind != "control"
    if is_wrong or not set(dependency.buffers) <= shared:
        edge = f"{dependency.producer} → {dependency.consumer}"
        names = ", ".join(b.name for b in dependency.buffers) or "no buffer"
        expected = ", ".join(sorted(b.name for b in shared)) or "no buffer"
        _broken(12, f"dependency {edge} is not of kind {dependency.kind}", names, expected)


def _conflicts(items: Sequence[ScheduleItem]) -> None:
    """Invariant 13."""
    touching: dict[Buffer, list[ScheduleItem]] = {}
    for item in items:
        for buffer in dict.fromkeys((*item.operation.reads, *item.operation.writes)):
            touching.setdefault(buffer, []).append(item)
    for writer in items:
        for buffer in writer.operation.writes:
            for other in touching[buffer]:
                first, second = sorted((writer.item_id, other.item_id))
                if first != second and first not in items[second].depends_on:
                    what = f"item {second} does not wait for item {first}, over {buffer.name}"
                    _broken(13, what, items[second].depends_on, f"{first} among them")


def _same_calls(root: KernelSink, items: Sequence[ScheduleItem]) -> None:
    """Invariant 8, against the kernel graph; call and item agree in name and arguments."""
    calls = {(c.name, tuple(buffer_of(a) for a in c.sources)) for c in calls_of(root)}
    scheduled = [(item.operation.name, item.operation.arguments) for item in items]
    if set(scheduled) != calls or len(scheduled) != len(calls):
        got, expected = (" ".join(sorted(n for n, _ in side)) for side in (scheduled, calls))
        _broken(8, "the items are not the calls, each once", got or "none", expected or "none")


def _analysis(items: Sequence[ScheduleItem], analysis: Sequence[ItemAnalysis]) -> None:
    """Invariant 14."""
    got, expected = [row.item_id for row in analysis], [item.item_id for item in items]
    if got != expected:
        _broken(14, "there is not one row of analysis per item", got, expected)

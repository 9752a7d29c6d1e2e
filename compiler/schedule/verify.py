"""The invariants of the kernel graph and of the schedule. A violation is a bug in this compiler.

Of the kernel graph:
 1. Every node stands where it may: a value is a Buffer, After, MStack or MSelect; calls take
    values and Binds, a Transfer two values and, where it moves on, a Bind, an After a value and
    then what it waits for: calls, Ends and Afters; a Synchronize only these; the sink values.
 2. A body is one Store to Param 0 under a Sink, and its Params are numbered from 0 without gaps.
 3. A call has as many arguments as its body has Params, each of its Param's shape and type.
 4. The body reads no element of Param 0 but the one that it writes, and no other argument of the
    call is the same buffer.
 5. Two calls that write one buffer are ordered: one waits for the other.
 6. A call that reads a buffer and one that writes it are ordered, and a result waits for all calls
    that write its buffer.
 7. One body has one name, and one name one body.
Of the schedule:
 8. Item i is at index i, and the items are the calls of the kernel graph, each once, but for
    those in loops.
 9. Item numbers in `depends_on`, `dependents` and `dependencies` are in range, sorted, without
    repetition, and no item depends on itself.
10. `depends_on`, `dependents` and `dependencies` say the same.
11. No cycle, and producers stand before consumers.
12. A dependency says why: of kind data, its buffers are written by the producer and read by the
    consumer; anti: read, then written; output: written by both; control: there are none.
13. Where one item writes what another reads or writes, the later depends on the earlier, directly
    or through others.
14. There is one row of analysis per item, row i for item i.
15. A transfer stays inside its buffers, which have one type, and says their devices; `nbytes` is
    what its dims take.
16. An event has a number, and only events have one; where it is waited for, an item that signals
    it comes before, directly or through others.
17. A kernel has the device of its buffers, those on disk aside.

Not checked here: that a body computes the values of the tensor graph (the interpreters check it).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NoReturn

from compiler.core.node import Node, toposort
from compiler.graph.nodes import Buffer, Const, Param, Sink, Store, TensorNode
from compiler.graph.words import short
from compiler.schedule.calls import calls_of
from compiler.schedule.in_place import reads_what_it_writes
from compiler.schedule.items import Dependency, ItemAnalysis, ScheduleItem
from compiler.schedule.kahn import kahn
from compiler.schedule.kinds import (
    CALLABLE,
    After,
    Bind,
    Call,
    CustomCall,
    DefineVar,
    End,
    KernelSink,
    MSelect,
    MStack,
    Range,
    Synchronize,
    Transfer,
    access,
    arguments_of,
    buffer_of,
)
from compiler.schedule.prepare import waits_between
from compiler.schedule.sources import Names, callable_of, waits_of
from compiler.schedule.verify_items import broken, verify_analysis, verify_items


def verify(
    root: KernelSink,
    items: Sequence[ScheduleItem],
    dependencies: Sequence[Dependency],
    analysis: Sequence[ItemAnalysis] | None = None,
) -> None:
    """Check the kernel graph under `root` and its schedule, and the analysis if given.

    Raises `InternalError` with the number of the first violated invariant, and the call or item.
    """
    verify_kernels(root)
    verify_items(items, dependencies)
    _same_calls(root, items)
    if analysis is not None:
        verify_analysis(items, analysis)


def verify_kernels(root: KernelSink) -> None:
    """Check invariants 1 to 7 of the kernel graph under `root`."""
    for node in toposort([root]):
        _structure(node)
    calls = calls_of(root)
    for body in {call.body: None for call in calls}:
        _body(body)
    for call in calls:
        _arguments(call)
    _order(root)
    _names(calls)


def _name(node: Node) -> str:
    return f"call {node.name}" if isinstance(node, CALLABLE) else type(node).__name__


VALUES = (Buffer, After, MStack, MSelect)
WAITS = (*CALLABLE, End, After)


def _structure(node: Node) -> None:
    """Invariant 1."""
    count = len(node.sources)
    allowed: dict[type[Node], list[tuple[type[Node], ...]]] = {
        Buffer: [],
        Call: [(*VALUES, Bind)] * count,
        CustomCall: [(*VALUES, Bind)] * count,
        Transfer: [VALUES, VALUES, *[(Bind,)] * _moves_on(node)],
        Synchronize: [WAITS] * count,
        After: [VALUES, *[WAITS] * (count - 1)],
        End: [(*CALLABLE, End), (Range,)],
        MStack: [VALUES] * count,
        MSelect: [VALUES],
        Range: [],
        DefineVar: [],
        Const: [],
        Bind: [(DefineVar,), (Range, Const)],
        KernelSink: [VALUES] * count,
    }
    if type(node) not in allowed:
        broken(1, "a node of another graph", type(node).__name__, "a kernel graph's nodes")
    if isinstance(node, After) and count < 2:
        broken(1, "an After waits for nothing", count, "a buffer and a call")
    kinds = allowed[type(node)]
    if count != len(kinds):
        broken(1, f"{_name(node)} has a wrong number of operands", count, len(kinds))
    for source, kind in zip(node.sources, kinds, strict=True):
        if not isinstance(source, kind):
            expected = " or ".join(k.__name__ for k in kind)
            broken(1, f"{_name(node)} has a wrong operand", _name(source), expected)


def _moves_on(node: Node) -> bool:
    """True if it is a transfer whose destination moves with the iteration."""
    return isinstance(node, Transfer) and bool(node.region and node.region.destination_step)


def _params(body: Sink) -> list[Param]:
    """The Params of a body, by slot."""
    order: list[TensorNode] = toposort([body])
    params = [node for node in order if isinstance(node, Param)]
    return sorted(params, key=lambda param: param.slot)


def _body(body: Sink) -> None:
    """Invariant 2, and 4 inside the body."""
    stores = body.sources
    if len(stores) != 1 or not isinstance(stores[0], Store):
        broken(2, "a body is not one store", [type(s).__name__ for s in stores], "[Store]")
    written, value = stores[0].sources
    if not isinstance(written, Param) or written.slot != 0:
        broken(2, "a body does not write param 0", repr(written), "param 0")
    slots = [param.slot for param in _params(body)]
    if slots != list(range(len(slots))):
        broken(2, "the params of a body are not numbered from 0", slots, [*range(len(slots))])
    read: list[TensorNode] = toposort([value])
    is_read = any(node is written for node in read)
    if is_read and not reads_what_it_writes(value, written, stores[0].parts):
        broken(4, "a body reads what it writes elsewhere", "param 0", "params 1 and up")


def _arguments(call: Call) -> None:
    """Invariant 3, and 4 for the call."""
    params = _params(call.body)
    arguments = arguments_of(call)
    if len(params) != len(arguments):
        got, expected = len(arguments), len(params)
        broken(3, f"call {call.name} has the wrong number of arguments", got, expected)
    buffers = [buffer_of(argument) for argument in arguments]
    for buffer, param in zip(buffers, params, strict=True):
        if short(buffer) != short(param):
            what = f"argument {param.slot} of call {call.name} does not fit its param"
            broken(3, what, short(buffer), short(param))
    if buffers[0] in buffers[1:]:
        broken(4, f"call {call.name} reads the buffer it writes", buffers[0].name, "another")


def _order(root: KernelSink) -> None:
    """Invariants 5 and 6."""
    names = Names(root)
    calls = names.calls
    before = _before(len(calls), waits_between(calls, names).edges)
    touching: dict[Buffer, dict[int, bool]] = {}
    for i, call in enumerate(calls):
        arguments = [buffer_of(argument) for argument in arguments_of(call)]
        _, written = access(call, len(arguments))
        for slot, buffer in enumerate(arguments):
            uses = touching.setdefault(buffer, {})
            uses[i] = uses.get(i, False) or slot in written
    for buffer, uses in touching.items():
        for writer, other in _unordered(uses, before):
            _not_ordered(buffer, calls[writer], calls[other], uses[other])
    index = {call: i for i, call in enumerate(calls)}
    for result in root.sources:
        waits = [index[callable_of(wait)] for wait in waits_of(result, names)]
        uses = touching.get(buffer_of(result), {})
        reached = 0
        for wait in waits:
            reached |= before[wait] | 1 << wait
        for writer in (i for i, is_written in uses.items() if is_written):
            if not reached >> writer & 1:
                _not_ordered(buffer_of(result), calls[writer], root, False)


def _unordered(uses: dict[int, bool], before: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a writer and another user of one buffer, neither of which waits for the other.

    `uses` has true for calls that write, `before` the bit set of calls that each call waits for.
    """
    users = written = 0
    for call in sorted(uses, key=lambda call: before[call].bit_count()):
        missing = (users if uses[call] else written) & ~before[call]
        for other in uses if missing else ():
            if not missing >> other & 1:
                continue
            yield (call, other) if uses[call] else (other, call)
        users |= 1 << call
        written |= uses[call] << call


def _before(count: int, edges: frozenset[tuple[int, int]]) -> list[int]:
    """For each call the bit set of the calls it waits for, directly or through others."""
    waits: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        waits[b].append(a)
    before = [0] * count
    for call in kahn(count, list(edges)):
        for other in waits[call]:
            before[call] |= before[other] | 1 << other
    return before


def _not_ordered(buffer: Buffer, writer: Node, other: Node, is_written: bool) -> NoReturn:
    if is_written:
        what = f"buffer {buffer.name} is written by two calls that do not wait for each other"
        broken(5, what, f"{_name(writer)} and {_name(other)}", "one after the other")
    what = f"{_name(other)} does not wait for {buffer.name}"
    broken(6, what, "no After", f"after {_name(writer)}")


def _names(calls: Sequence[Call]) -> None:
    """Invariant 7."""
    names: dict[Sink, str] = {}
    bodies: dict[str, Sink] = {}
    for call in calls:
        if names.setdefault(call.body, call.name) != call.name:
            broken(7, "one body has two names", call.name, names[call.body])
        if bodies.setdefault(call.name, call.body) is not call.body:
            broken(7, "one name has two bodies", call.name, "another name")


def _same_calls(root: KernelSink, items: Sequence[ScheduleItem]) -> None:
    """Invariant 8, against the kernel graph; call and item agree in name and arguments."""
    nodes = toposort([root])
    calls = Counter(
        (node.name, tuple(buffer_of(argument) for argument in arguments_of(node)))
        for node in nodes
        if isinstance(node, CALLABLE)
    )
    scheduled = Counter((item.operation.name, item.operation.arguments) for item in items)
    is_same = scheduled == calls
    if any(isinstance(node, Range) for node in nodes):
        is_same = scheduled.keys() <= calls.keys()
    if not is_same:
        got, expected = (" ".join(sorted(n for n, _ in side)) for side in (scheduled, calls))
        broken(8, "the items are not the calls, each once", got or "none", expected or "none")

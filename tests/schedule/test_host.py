"""Items other than kernels: transfers, synchronisations, callbacks, scheduled and run in order."""

import numpy as np
import pytest

from compiler.core.dtypes import float32
from compiler.core.errors import CompileError, InternalError, ScheduleError
from compiler.graph.nodes import Buffer
from compiler.run import execution
from compiler.schedule.host import Host
from compiler.schedule.interpret import interpret, interpret_kernels, run_kernel
from compiler.schedule.items import HostCallback, MemoryTransfer, Synchronization
from compiler.schedule.kinds import KernelSink, Region
from compiler.schedule.order import order
from compiler.schedule.strict.builder import KernelGraphBuilder
from compiler.schedule.strict.instantiate import create_schedule
from compiler.schedule.strict.run import run_schedule
from compiler.schedule.verify import verify_kernels
from compiler.schedule.verify_items import verify_items
from tests.schedule.graphs import COPY, data, made


def program(b: KernelGraphBuilder) -> tuple[KernelSink, Buffer]:
    """x → transfer → t → barrier → callback (t, u) → signal, wait → transfer of two of u to v."""
    x, t, u = data(b), made(b), made(b, "u")
    v = Buffer((), -9, (2,), float32, "v", "CPU:1")
    moved = b.transfer(t, x)
    barrier = b.barrier("all", moved)
    double = b.custom("double", b.after(u, barrier), b.after(t, moved), outputs=(0,))
    signal = b.signal("done", 3, double)
    wait = b.wait("ready", 3, signal)
    last = b.transfer(v, b.after(b.after(u, double), wait), Region((2,), (2,), None, 1), "out")
    return b.sink(b.after(v, last)), x


def double(out: "np.ndarray[tuple[int], np.dtype[np.float32]]", x: object) -> None:
    """Twice the argument."""
    out[...] = np.multiply(x, 2)


def test_all_four_are_items_in_order(b: KernelGraphBuilder) -> None:
    root, _ = program(b)
    verify_kernels(root)
    items, dependencies = order(root)
    verify_items(items, dependencies)
    kinds = [type(item.operation) for item in items]
    assert kinds == [
        MemoryTransfer, Synchronization, HostCallback, Synchronization, Synchronization,
        MemoryTransfer,
    ]  # fmt: skip
    assert [item.operation.name for item in items] == [
        "copy", "all", "double", "done", "ready", "out"
    ]
    assert [(d.producer, d.consumer, d.kind, d.nbytes) for d in dependencies] == [
        (0, 1, "control", 0), (0, 2, "data", 16), (1, 2, "control", 0), (2, 3, "control", 0),
        (3, 4, "control", 0), (2, 5, "data", 16), (4, 5, "control", 0),
    ]  # fmt: skip


def test_every_interpreter_runs_them(b: KernelGraphBuilder) -> None:
    root, x = program(b)
    items, _ = order(root)
    inputs, functions = {x: np.arange(4, dtype=np.float32)}, {"double": double}
    results = [items[-1].operation.writes[0]]
    host = Host(functions)
    found = (
        interpret_kernels(root, inputs, functions=functions),
        interpret(items, results, inputs, run_kernel, functions),
        execution.run(items, results, inputs, {}, host=host),
        run_schedule(create_schedule(root, b.inputs), functions),
    )
    assert [values[0].tolist() for values in found] == [[2, 6]] * 4
    assert [each.name for each in host.synchronized] == ["all", "done", "ready"]
    assert host.signalled == {3} and host.bytes_moved == 16 + 8


def test_an_event_is_signalled_before_it_is_waited_for(b: KernelGraphBuilder) -> None:
    x, t = data(b), made(b)
    wait = b.wait("early", 5)
    root = b.sink(b.after(t, b.call("k", COPY, t, b.after(x, wait))))
    with pytest.raises(ScheduleError, match="early waits for event 5, which nobody signalled"):
        interpret_kernels(root, {x: np.zeros(4, np.float32)})
    items, dependencies = order(root)
    with pytest.raises(InternalError, match="invariant 16: item 0 waits for event 5"):
        verify_items(items, dependencies)


def test_errors_of_functions_have_their_names(b: KernelGraphBuilder) -> None:
    root, x = program(b)
    inputs = {x: np.zeros(4, np.float32)}

    def wrong(*arrays: object) -> None:
        raise ZeroDivisionError("by nothing")

    with pytest.raises(CompileError) as caught:
        interpret_kernels(root, inputs, functions={"double": wrong})
    assert str(caught.value) == (
        "callback: the function double failed: ZeroDivisionError: by nothing"
    )
    with pytest.raises(ScheduleError, match="no function of this name is registered"):
        interpret_kernels(root, inputs, functions={"half": wrong})


def test_a_fence_orders_what_nothing_else_does(b: KernelGraphBuilder) -> None:
    seen: list[str] = []
    first = b.custom("first")
    fence = b.fence("between", first)
    x = data(b)
    root = b.sink(b.after(x, b.custom("second", b.after(x, fence))))
    functions = {"first": lambda: seen.append("first"), "second": lambda x: seen.append("second")}
    interpret_kernels(root, dict.fromkeys([x], np.zeros(4, np.float32)), functions=functions)
    assert seen == ["first", "second"]
    items, dependencies = order(root)
    assert [item.operation.name for item in items] == ["first", "between", "second"]
    assert {d.kind for d in dependencies} == {"control"}

"""Parts of kernel graphs written by hand, for the tests of the strict scheduler."""

import numpy as np
import pytest

from compiler.core.dtypes import float32
from compiler.core.errors import CompileError, ScheduleError
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode, const, elementwise
from compiler.schedule.kinds import DefineVar, KernelSink
from compiler.schedule.prepare import PreSchedule, create_pre_schedule
from compiler.schedule.strict.builder import KernelGraphBuilder

P = [nodes.Param((), slot, (4,), float32) for slot in range(3)]
ONE = const(1.0, float32, (4,))
FILL = nodes.Sink((nodes.Store((P[0], ONE)),))
COPY = nodes.Sink((nodes.Store((P[0], P[1])),))
INCREMENT = nodes.Sink((nodes.Store((P[0], elementwise("add", P[0], ONE))),))
SUM = nodes.Sink((nodes.Store((P[0], elementwise("add", P[1], P[2]))),))


def data(b: KernelGraphBuilder, name: str = "x", device: str = "CPU") -> nodes.Buffer:
    """An input of four floats: 0, 1, 2, 3."""
    return b.input(name, np.arange(4, dtype=np.float32), device)


def made(b: KernelGraphBuilder, name: str = "t") -> nodes.Buffer:
    """A buffer of four floats that a call has to make."""
    return b.buffer(name, (4,), float32)


def dependencies(pre: PreSchedule) -> dict[str, list[str]]:
    """The names of the calls that each call waits for."""
    name = {item.kernel_id: item.kernel.name for item in pre.items}
    return {i.kernel.name: sorted(name[d] for d in i.dependencies) for i in pre.items}


def runs(pre: PreSchedule) -> list[tuple[str, dict[str, int]]]:
    """The invocations: the call's name and its loop variables."""
    return [(pre.items[run.item].kernel.name, dict(run.fixed_variables)) for run in pre.invocations]


def refused(root: KernelSink, *words: str) -> None:
    """The graph cannot be scheduled, and the message says all of `words`."""
    with pytest.raises(ScheduleError) as caught:
        create_pre_schedule(root)
    assert isinstance(caught.value, CompileError)
    for word in words:
        assert word in str(caught.value)


def loop(b: KernelGraphBuilder, high: "int | DefineVar", low: int = 0) -> KernelSink:
    """`x` incremented in place in a loop whose counter is the variable i."""
    x, loop, i = data(b), b.loop(high, low), b.variable("i", 0, 9)
    return b.sink(b.after(x, b.end(b.call("step", INCREMENT, x, b.bind(i, loop)), loop)))


def reading(b: KernelGraphBuilder, variable: DefineVar) -> nodes.Sink:
    """A body that adds the value of `variable` in place."""
    number: TensorNode = nodes.Reshape((nodes.Cast((b.read(variable),), float32),), (1,))
    return b.body((P[0], elementwise("add", P[0], nodes.Expand((number,), (4,)))))

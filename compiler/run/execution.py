"""Runs the items of a schedule as machine code, one after the other, on the host."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.effects import Effects
from compiler.core.lazy import loading
from compiler.device import device
from compiler.device.program import Program
from compiler.device.remote import Data
from compiler.graph.devices import is_remote
from compiler.graph.nodes import Buffer, Sink
from compiler.llvm.thunk import CORE
from compiler.run.allocation import allocate
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.host import Host
from compiler.schedule.items import Kernel, ScheduleItem

Programs: TypeAlias = Mapping[tuple[Sink, str], Program]
"""Loaded programs by kernel body and kind of device."""


def run(
    items: Sequence[ScheduleItem],
    results: Sequence[Buffer],
    inputs: Mapping[Buffer, Array],
    programs: Programs,
    values: Mapping[str, int] | None = None,
    host: Host | None = None,
    plan: MemoryPlan | None = None,
) -> list[Array]:
    """The results as flat arrays. Buffers that are no inputs are allocated first, as planned.

    `values` are those of the variables; the counters of an item override them. `host` holds the
    functions that callbacks call, and records the calls.
    """
    if any(is_remote(name) for item in items for name in item.operation.devices):
        results_here = on_cluster(items, results, inputs, programs, values or {})
        return [each if isinstance(each, np.ndarray) else each.fetch() for each in results_here]
    held, host = dict(inputs) | allocate(items, plan), host or Host()
    for item in items:
        step(item, held, programs, values or {}, host)
    return [held[buffer] for buffer in results]


def on_cluster(
    items: Sequence[ScheduleItem],
    results: Sequence[Buffer],
    inputs: Mapping[Buffer, Data],
    programs: Programs,
    values: Mapping[str, int],
    effects: Effects | None = None,
) -> list[Data]:
    """The results as flat arrays, remote where a worker has one; `DataError` without a cluster."""
    with loading():  # few programs are for a cluster
        from compiler.device.dask import engine

    return engine().run(items, results, inputs, programs, values, effects)


def step(
    item: ScheduleItem,
    held: Mapping[Buffer, Array],
    programs: Programs,
    values: Mapping[str, int],
    host: Host,
) -> None:
    """Run one item on the arrays of its buffers."""
    operation = item.operation
    if isinstance(operation, Kernel):
        _launch(operation, programs, held, values)
    else:
        host.run(operation, [held[buffer] for buffer in operation.arguments])


def bind(
    item: ScheduleItem,
    held: Mapping[Buffer, Array],
    programs: Programs,
    values: Mapping[str, int],
    host: Host,
) -> Callable[[], None]:
    """A function that runs one item at each call: as `step` does, but looked up only once."""
    operation = item.operation
    if not isinstance(operation, Kernel):
        return partial(host.run, operation, [held[buffer] for buffer in operation.arguments])
    program, addresses, values_of_variables = arguments(operation, programs, held, values)
    return program.bound(addresses, values_of_variables)


def _launch(
    kernel: Kernel, programs: Programs, held: Mapping[Buffer, Array], values: Mapping[str, int]
) -> None:
    """Run the machine code of a kernel on its device."""
    program, addresses, values_of_variables = arguments(kernel, programs, held, values)
    program.execute(addresses, values_of_variables)


def arguments(
    kernel: Kernel, programs: Programs, held: Mapping[Buffer, Array], values: Mapping[str, int]
) -> tuple[Program, list[int], list[int]]:
    """The program of a kernel, the addresses of its buffers, and the values of its variables."""
    program, slots = programs[kernel.body, device.get(kernel.device).base_key], kernel.arguments
    value_of = {CORE: 0, **values, **dict(kernel.fixed)} if program.variables else {}
    addresses = [held[slots[slot]].ctypes.data for slot in program.slots]
    return program, addresses, [value_of[name] for name in program.variables]

"""Runs a program once, as machine code, on its own data or on others: `Compilation.run`.

What a run returns is the caller's: no tensor, no input and no other result shares memory with it.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias

from compiler.core.dtypes import Array
from compiler.core.node import toposort
from compiler.device.buffers import data
from compiler.device.program import Program
from compiler.graph.nodes import Buffer, Sink
from compiler.run import budget
from compiler.run.allocation import plan_memory
from compiler.run.bindings import Bindings, Values
from compiler.run.building import Build
from compiler.run.feeding import Given, Inputs, inputs_of, key_of
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.operations import device_of

Runner: TypeAlias = Callable[..., list[Array]]


class Running:
    """A program that is being built, its inputs and its memory."""

    def __init__(self, build: Build, bindings: Bindings) -> None:
        self._build = build
        self._bindings = bindings

    @cached_property
    def feed(self) -> Inputs:
        """The inputs, in the order in which the user made them."""
        return inputs_of(self._build.written, self._bindings)

    @cached_property
    def memory(self) -> MemoryPlan | None:
        """The memory plan of a run: made once for all runs."""
        scheduled = self._build.scheduled
        is_planned = self._build.options.plan_memory
        return plan_memory(scheduled.items, scheduled.results) if is_planned else None

    @property
    def devices(self) -> list[str]:
        """The device of each result; one that is an input on disk is as good as on the CPU."""
        return [device_of([holder]) for holder in self._build.scheduled.results]

    def inputs(self, given: Given = None, values: Values | None = None) -> dict[Buffer, Array]:
        """The data of every input buffer; see `Compilation.inputs`."""
        feed, values = self.feed, values or {}
        by_place = feed.by_place(given)
        items = self._build.scheduled.items if by_place else ()
        written = {buffer for item in items for buffer in item.operation.writes}
        arrays: dict[Buffer, Array] = {}
        root: Sink = self._build.simplest
        for node in toposort([root]):
            if isinstance(node, Buffer):
                place = feed.places.get(key_of(node))
                array = data(node) if place is None else feed.array(place, by_place, values)
                is_copied = place in by_place and node in written
                arrays[node] = (array.copy() if is_copied else array).reshape(-1)
        return arrays

    def values(self, variables: Values | None = None, given: Given = None) -> dict[str, int]:
        """The value of each variable in a run; see `Compilation.values_of_run`."""
        by_place = self.feed.by_place(given)
        if not by_place:
            return self._bindings.of_run(variables)
        return self.feed.values(by_place, variables or {})

    def run(
        self,
        values: Values,
        arrays: Mapping[Buffer, Array],
        load: Callable[[], dict[tuple[Sink, str], Program]],
        runner: Runner,
    ) -> list[Array]:
        """One flat array per result; see `Compilation.run_flat`. `load` gives the programs."""
        scheduled, plan = self._build.scheduled, self.memory
        with budget.located(self._build.origin_of):
            budget.refuse(scheduled.items, self._build.options.memory_limit, plan)
        results = scheduled.results
        flat = runner(scheduled.items, results, arrays, load(), values, plan=plan)
        places = enumerate(results)
        is_shared = [buffer in arrays or buffer in results[:n] for n, buffer in places]
        return [a.copy() if again else a for a, again in zip(flat, is_shared, strict=True)]

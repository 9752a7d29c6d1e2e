"""Runs a program once, as machine code, on its own data or on others: part of `Compilation`.

    compile(y).run()                          the data y was written with
    compile(y).run({x: array})  run([array])  other data, by tensor or name, or in order

What a run returns is the caller's: no tensor, no input and no other result shares memory with it.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from compiler.core.errors import located
from compiler.core.node import toposort
from compiler.core.options import Options
from compiler.core.origin import Origin
from compiler.core.trace import Provenance
from compiler.device.buffers import data
from compiler.device.program import Program
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.pipeline.scheduling import Scheduled, origin_of
from compiler.run import budget, execution
from compiler.run.allocation import plan_memory
from compiler.run.bindings import Bindings, Values, sliced
from compiler.run.feeding import Given, Inputs, inputs_of, key_of
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.calls import buffer_of
from compiler.schedule.operations import device_of

Array = np.ndarray[Any, Any]
Runner: TypeAlias = Callable[..., list[Array]]


class Running:
    """What runs a program that is cut into items, and what it takes."""

    options: Options
    results: list[TensorNode]
    written: Sink
    simplest: Any
    provenance: Provenance[Origin]
    _bindings: Bindings

    @property
    def _scheduled(self) -> Scheduled:
        raise NotImplementedError

    def load(self) -> dict[tuple[Sink, str], Program]:
        """Every kernel's program by body and kind of device."""
        raise NotImplementedError

    @cached_property
    def _feed(self) -> Inputs:
        """The inputs, in the order in which the user made them."""
        return inputs_of(self.written, self._bindings)

    def inputs(self, given: Given = None, values: Values | None = None) -> dict[Buffer, Array]:
        """The data of every input buffer, as flat arrays: those given, as for `run`, else its own.

        Data given for what the program writes in place are copied.
        """
        feed, values = self._feed, values or {}
        found = feed.by_place(given)
        written = {b for i in self._scheduled.items for b in i.operation.writes} if found else ()
        made: dict[Buffer, Array] = {}
        for node in toposort([self.simplest]):
            if isinstance(node, Buffer):
                place = feed.places.get(key_of(node))
                array = data(node) if place is None else feed.array(place, found, values)
                is_copied = place in found and node in written
                made[node] = (array.copy() if is_copied else array).reshape(-1)
        return made

    @property
    def variables(self) -> dict[str, int]:
        """The value that each bound variable has."""
        return dict(self._bindings.bound)

    @property
    def devices(self) -> list[str]:
        """Where each result is; one that is an input on disk is as good as on the CPU."""
        return [device_of([holder]) for holder in self._results]

    def values_of_run(self, variables: Values | None = None, given: Given = None) -> dict[str, int]:
        """The value of each variable: as said, else as given data have rows, else as bound.

        Raises `DataError` where one is wrong.
        """
        found = self._feed.by_place(given)
        if not found:
            return self._bindings.of_run(variables)
        return self._feed.values(found, variables or {})

    @located
    def run(self, inputs: Given = None, variables: Values | None = None) -> list[Array]:
        """Run the machine code; one array per result, of the extents of this run.

        `inputs` are data in place of the inputs' own, and for placeholders: by tensors or their
        names, `{x: array, "w": array}`, or a list in the order in which the tensors were made.
        `variables` has values over those bound, e.g. {n: 50}; nothing is compiled again. The
        arrays are the caller's own: they share memory with no tensor, no input and one another.
        An Assign takes effect once in each run. Raises `DataError`, `ShapeError` and `DTypeError`
        for what is missing or does not fit.
        """
        values = self.values_of_run(variables, inputs)
        flat = self.run_flat(values, self.inputs(inputs, values))
        return sliced(flat, self.results, values)

    def run_flat(
        self, values: Values, arrays: Mapping[Buffer, Array], run: Runner = execution.run
    ) -> list[Array]:
        """Run the machine code; one flat array per result, whole: of the greatest extents.

        A result that is an input, or another result, is a copy of it. `arrays` has the flat data
        of every input; `run` runs the items, and may watch them.
        """
        items, plan = self._scheduled.items, self._memory
        with budget.located(lambda b: origin_of(self._scheduled, self.provenance, b)):
            budget.refuse(items, self.options.memory_limit, plan)
        flat = run(items, self._results, arrays, self.load(), values, plan=plan)
        places = enumerate(self._results)
        is_shared = [buffer in arrays or buffer in self._results[:n] for n, buffer in places]
        return [a.copy() if again else a for a, again in zip(flat, is_shared, strict=True)]

    @cached_property
    def _results(self) -> tuple[Buffer, ...]:
        """The buffer of each result."""
        return tuple(buffer_of(s) for s in self._scheduled.outlined.root.sources)

    @cached_property
    def _memory(self) -> MemoryPlan | None:
        """Where a run has its buffers: planned once for all runs."""
        is_planned, items = self.options.plan_memory, self._scheduled.items
        return plan_memory(items, self._results) if is_planned else None

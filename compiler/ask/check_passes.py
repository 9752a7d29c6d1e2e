"""check_passes: the program after each pass runs on the same inputs and is compared with the graph.

A graph pass is held against the graph as written. A pass on a kernel's loops is held against that
kernel's body, on the arguments of its first call: it is not blamed for what another got wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeAlias, cast

import numpy as np

from compiler.ask.checking import Expected, Row, copies, reference, row_of, run_graph
from compiler.ask.rounding import rounding
from compiler.core.dtypes import Array
from compiler.core.node import Node, toposort
from compiler.core.trace import PassRecord
from compiler.graph.nodes import Param, Sink, Store, TensorNode
from compiler.graph.parts import slices
from compiler.loops.interpret import interpret
from compiler.loops.nodes import Body
from compiler.lowered.run_tasks import run_tasks
from compiler.pipeline.kernels import CompiledKernel
from compiler.run.bindings import Values
from compiler.schedule import interpret as schedule_interpreter
from compiler.schedule.items import Kernel
from compiler.stages.stages import ProgramStages

Run: TypeAlias = Callable[[], list[Array]]


@dataclass(frozen=True, slots=True, eq=False)
class FirstCall:
    """The first call of a kernel: its arguments as they were, and as they should be after it."""

    kernel: Kernel
    before: tuple[Array, ...]
    expected: Expected


class Bench:
    """Runs what passes of one compilation leave, and says whether it is right."""

    def __init__(self, compilation: ProgramStages, variables: Values | None = None) -> None:
        self.compilation = compilation
        self.values = compilation.values_of_run(variables)
        self._bodies = {
            compilation.kernel(body).name: body
            for body in dict.fromkeys(c.body for c in self._calls)
        }

    @cached_property
    def _calls(self) -> tuple[Kernel, ...]:
        items = self.compilation.schedule.items
        return tuple(i.operation for i in items if isinstance(i.operation, Kernel))

    @cached_property
    def expected(self) -> Expected:
        """The results of the whole program."""
        return reference(self.compilation, self.values)

    @cached_property
    def first_calls(self) -> dict[Sink, FirstCall]:
        """The first call of each kernel, its body run on NumPy."""
        calls: dict[Sink, FirstCall] = {}

        def run(kernel: Kernel, arguments: Sequence[Array]) -> None:
            before = tuple(a.copy() for a in arguments) if kernel.body not in calls else ()
            schedule_interpreter.run_kernel(kernel, arguments, self.values)
            if before:
                after = [a.copy() for a in arguments]
                bounds = self._bounds(kernel, before)
                calls[kernel.body] = FirstCall(kernel, before, Expected(after, bounds))

        schedule = self.compilation.schedule
        inputs = copies(self.compilation)
        schedule_interpreter.interpret(schedule.items, schedule.results, inputs, run)
        return calls

    def _variables(self, kernel: Kernel) -> dict[str, int]:
        return {**self.values, **dict(kernel.fixed)}

    def _bounds(self, kernel: Kernel, arguments: Sequence[Array]) -> list[Array]:
        """The largest allowed error of each element of each argument after the call."""
        stores = [s for s in kernel.body.sources if isinstance(s, Store)]
        root = Sink(tuple(s.sources[1] for s in stores))
        nodes: list[TensorNode] = toposort([root])
        inputs = schedule_interpreter.inputs_of(nodes, arguments, self._variables(kernel))
        errors = rounding(root, inputs)
        bounds = [np.zeros(a.shape) for a in arguments]
        for store, bound in zip(stores, errors, strict=True):
            target = store.sources[0]
            assert isinstance(target, Param)
            part = slices(store.parts) if store.parts else tuple(slice(n) for n in bound.shape)
            bounds[target.slot].reshape(target.shape)[part] = bound
        return bounds

    def row(self, record: PassRecord, root: Node | None = None, title: str = "") -> Row:
        """True if what a pass left is right; `root` is another program of its stage."""
        checked = record.after if root is None else root
        title = title or f"{record.stage} {record.kernel}".strip() + f": {record.name}"
        if record.stage == "graph":
            run: Run = partial(run_graph, cast(Sink, checked), self.values)
            return row_of(title, self.expected, run)
        return self._of_kernel(record.kernel, title, partial(self._loops, cast(Body, checked)))

    def indexed(self, name: str) -> Row:
        """True if the loops of a kernel are right as `index` made them, before any pass."""
        body = next(r.before for r in self.compilation.passes if r.kernel == name)
        run = partial(self._loops, cast(Body, body))
        return self._of_kernel(name, f"loops {name}: index", run)

    def lowered(self, name: str) -> Row:
        """True if the instructions of a kernel are right."""
        kernel = self.compilation.kernel(self._bodies[name])
        return self._of_kernel(name, f"lowered {name}", partial(self._lowered, kernel))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, in the order in which they are first called."""
        return tuple(self._bodies)

    def _of_kernel(
        self, name: str, title: str, run: Callable[[Kernel, list[Array]], object]
    ) -> Row:
        call = self.first_calls[self._bodies[name]]

        def ran() -> list[Array]:
            arguments = [a.copy() for a in call.before]
            run(call.kernel, arguments)
            return arguments

        return row_of(title, call.expected, ran)

    def _loops(self, body: Body, kernel: Kernel, arguments: list[Array]) -> None:
        interpret(body, arguments, variables=self._variables(kernel))

    def _lowered(self, compiled: CompiledKernel, kernel: Kernel, arguments: list[Array]) -> None:
        variables = self._variables(kernel)
        run_tasks(compiled.linear.instructions, arguments, variables=variables)


def check_passes(compilation: ProgramStages, variables: Values | None = None) -> tuple[Row, ...]:
    """For each pass of `compilation.passes` whether what it left is right.

    `variables` are values over those bound. Raises `DataError` as `run` does.
    """
    bench = Bench(compilation, variables)
    row_of: dict[tuple[str, Node], Row] = {}
    rows = []
    for record in compilation.passes:
        key = record.kernel, record.after
        if key not in row_of:  # what did not change the program has the outcome of the one before
            row_of[key] = _judged(bench, record)
        rows.append(row_of[key])
    return tuple(rows)


def _judged(bench: Bench, record: PassRecord) -> Row:
    """True if what a pass left is right; a pass on loops that were never right is not judged."""
    row = bench.row(record)
    if row.ok is not False or record.stage == "graph":
        return row
    before = bench.indexed(record.kernel)
    if before.ok is not False:
        return row
    return replace(row, ok=None, note=f"not judged, the loops were wrong before: {before.note}")

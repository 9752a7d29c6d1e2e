"""A program on its way through the pipeline: for `compile`, `prepare` and whatever is realised.

    build = Build(root, options)      the graph passes
    build.scheduled                   kernels, and items in order
    build.kernel(body)                loops, instructions and LLVM IR of one kernel
    build.load()                      every kernel as a program in memory

Each is computed on first use. A search over loops (`Options.tune`) is no row: it compiles kernels
many times, and its result is the options for the rest of the program.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.core.origin import Origin, no_origin
from compiler.core.trace import PassRecord, Provenance
from compiler.device.program import Program
from compiler.graph.nodes import Buffer, Sink
from compiler.pipeline import driver, kernels
from compiler.pipeline.kernels import CompiledKernel, compile_kernel
from compiler.pipeline.scheduling import ProgramUnit, Scheduled, origin_of, scheduled
from compiler.settings.options import Measured, Options

if TYPE_CHECKING:
    from compiler.tune.tuning import Tuning


class Build:
    """See the module docstring. The graph passes run at once; `seconds` has the times of stages."""

    def __init__(
        self, written: Sink, options: Options, provenance: Provenance[Origin] | None = None
    ) -> None:
        self.options = options
        self.written = written
        self.provenance: Provenance[Origin] = provenance or Provenance()
        self.seconds: dict[str, float] = {}
        self._compiled: dict[Sink, CompiledKernel] = {}
        self._unit = ProgramUnit(
            graph=written, options=options, prefix="graph:", provenance=self.provenance
        )
        with no_origin():
            driver.run(self._unit, "graph")
        self.simplest = self._unit.graph
        """The program after the last graph pass."""
        self.records: tuple[PassRecord, ...] = tuple(self._unit.records)
        """The records of the graph passes."""
        self.seconds["graph"] = self._unit.took("graph")

    @cached_property
    def scheduled(self) -> Scheduled:
        """The kernel graph, its calls in order, and why values were fused or not."""
        with no_origin():
            made = scheduled(self._unit, self.seconds)
        _refuse_other_kernels(self.options, [*made.outlined.bodies.values()])
        return made

    @cached_property
    def tuning(self) -> "tuple[Tuning, ...]":
        """The search for each distinct kernel; () unless `options.tune` allows time for it."""
        return tunings_of(self.scheduled, self.options)

    @cached_property
    def tuned(self) -> Options:
        """The options with the choices that were found."""
        return tuned(self.options, self.tuning)

    @cached_property
    def _numbers(self) -> dict[Sink, int]:
        """The kernels, counted."""
        return {body: number for number, body in enumerate(self.scheduled.outlined.bodies)}

    def kernel(self, body: Sink) -> CompiledKernel:
        """Every stage of the kernel with this body, made on first use."""
        if body not in self._compiled:
            bodies = self.scheduled.outlined.bodies
            if body not in bodies:
                raise DataError("kernel", "this is no kernel's body", got=repr(body),
                                expected=f"the body of {', '.join(bodies.values())}")  # fmt: skip
            name = bodies[body]
            with no_origin():
                self._compiled[body] = compile_kernel(name, body, self.tuned, self._numbers[body])
        return self._compiled[body]

    def load(self) -> dict[tuple[Sink, str], Program]:
        """Every kernel's program by body and kind of device, compiled unless it is loaded."""
        operations = (item.operation for item in self.scheduled.items)
        return kernels.load_programs(operations, self.tuned, self.kernel)

    def origin_of(self, buffer: Buffer) -> Origin | None:
        """The user's line that computes the value of a buffer; the last of several."""
        return origin_of(self.scheduled, self.provenance, buffer)


def _refuse_other_kernels(options: Options, names: Sequence[str]) -> None:
    """Raise `DataError` if the options have loops of a kernel that the program does not have."""
    loops = options.loops
    unknown = [] if isinstance(loops, str | Measured) else [n for n in loops if n not in names]
    if unknown:
        expected = ", ".join(names) or "no names: the program has no kernels"
        raise DataError("Options", "loops of a kernel that does not exist",
                        got=", ".join(map(repr, unknown)), expected=expected)  # fmt: skip


def tunings_of(scheduled: Scheduled, options: Options) -> "tuple[Tuning, ...]":
    """The search for each kernel of a program; () where `Options.tune` gives no time."""
    if not options.tune:
        return ()
    with loading():
        from compiler.tune.tune import tune

    with no_origin():
        return tune(scheduled.outlined.bodies, scheduled.items, options)


def tuned(options: Options, tunings: "Sequence[Tuning]") -> Options:
    """The options with the results of the search: choices for each kernel, no more search."""
    if not tunings:
        return options
    choices = Measured({tuning.name: tuning.best.choices for tuning in tunings})
    return replace(options, tune=0.0, loops=choices)

"""`compile`, and the `Compilation` that it returns: the stages of a program, and all questions."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from compiler.ask.checking import Report
from compiler.ask.values import values
from compiler.core import garbage
from compiler.core.dtypes import Array
from compiler.core.errors import Renamed, located
from compiler.core.keywords import program_call
from compiler.core.lazy import loading
from compiler.core.node import Node
from compiler.core.origin import Origin
from compiler.core.passes import Passes
from compiler.core.printable import printable
from compiler.core.reason import Decision
from compiler.findings.finding import Findings
from compiler.graph.nodes import Sink
from compiler.llvm.looking.listing import Listing
from compiler.pipeline import asked
from compiler.pipeline.kernels import CompiledKernel
from compiler.program import codegen
from compiler.program.summary import summary
from compiler.run import feeding
from compiler.run.bindings import Values
from compiler.run.feeding import Given
from compiler.settings.options import Options, options_of
from compiler.stages.stages import ProgramStages

if TYPE_CHECKING:
    from compiler.ask.by_module import ByModule
    from compiler.ask.hot import Hot
    from compiler.ask.measurement import Measurement
    from compiler.ask.module_trace import ModuleTrace
    from compiler.graph.collectives import Collective
    from compiler.llvm.looking.latencies import Latencies
    from compiler.llvm.looking.pass_changes import PassRun



@program_call
def compile(
    *program: object, options: Options | None = None, name: str = "program",
    passes: Passes | None = None,
) -> "Compilation":  # fmt: skip
    """Compile tensors, or a list of them, or `f, x` for f(x), and return every stage of them.

    `options`, and a name after them, may also come last. Nothing is run. `options.trace` (on by
    default here) records each rewrite. Raises `DataError` where there are no tensors, `PassError`
    where `passes` cannot run in their order.
    """
    if len(program) > 2 and isinstance(last := program[-1], str):
        program, name = program[:-1], last
    nodes, options = asked.program_of("compile", program, options)
    with garbage.put_off():
        compilation = Compilation(nodes, options_of(options, passes), feeding.name_of(name))
        compilation.build()
    return compilation


class Compilation(ProgramStages):
    """One program, all stages of its making, and the questions about it.

    Stages in order: `user_source`, `graph`, `passes`, `optimized_graph`, `kernels`, `schedule`,
    `loops`, `lowered`, `source`, `optimized`, `assembly`. The methods run and examine them.
    """

    _measured: dict[int, float] | None = None
    """Nanoseconds of each item in the last `measure()`."""

    # -- decisions -----------------------------------------------------------------------------

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Every choice about fusion, copies, reductions, memory and loops, with its reason."""
        with loading():
            from compiler.program.decisions import decisions, placing
        records, kernels = self._build.records, self.kernels
        of_graph = decisions(self._scheduled, self.simplest, records, kernels, self.entity)
        subjects = [loop.entity(loop.body) for loop in self.loops]
        chosen = (d for k, s in zip(self._kernels, subjects, strict=True) for d in k.decisions(s))
        placed, tuned = placing(self.schedule.memory_plan, kernels), self.tuning
        return (*of_graph, *placed, *chosen, *(t.decision(subjects[t.kernel]) for t in tuned))

    @cached_property
    def collectives(self) -> "tuple[Collective, ...]":
        """The all-reduces and all-gathers between workers: how, bytes, the fewest possible."""
        record = next((r for r in self._build.records if r.name == "shard"), None)
        if record is None or record.before is record.after:
            return ()
        with loading():
            from compiler.graph.shard import collectives
        assert isinstance(record.before, Sink)
        rows = collectives(record.before)
        lines = (row.line or next(iter(self.lines_of(row.node)), None) for row in rows)
        return tuple(replace(row, line=line) for row, line in zip(rows, lines, strict=True))

    # -- machine code --------------------------------------------------------------------------

    @located
    def llvm_passes(self, kernel: str = "k0", level: int | None = None) -> "PassRun":
        """The work of LLVM's passes on one kernel, one by one, and LLVM's remarks in words.

        The passes are those that make the code which runs; with a `level`, 0 to 3, those of LLVM's
        whole pipeline of that level. Raises `DataError` where there is no such kernel or level.
        """
        return codegen.llvm_passes(self._generated, kernel, level)

    @located
    def latencies(self, kernel: str = "k0") -> "Latencies":
        """The cycles of each instruction in a kernel's loops, by LLVM's scheduling model of this
        host: estimated, with the lines of `assembly`. Raises `DataError` where there is no such
        kernel, and `InternalError` where this LLVM does not report them.
        """
        return codegen.latencies(self._generated, self.assembly, kernel)

    @located
    def hot(self, kernel: str = "k0") -> "Hot":
        """The instructions and blocks of a kernel's machine code that its time goes to.

        The program is run up to the kernel, on its own data. The shares are measured where the
        system lets a thread be sampled, else estimated from how often each block is run; `how`
        says which. Raises `DataError` where there is no such kernel, or as `run()` does, and
        `DeviceError` where neither can be had.
        """
        return codegen.hot(self, self._generated, self.assembly, kernel, self._latest)

    @located
    def debug_ir(self, kernel: str = "k0") -> str:
        """The generated LLVM IR of one kernel with the user's lines as debug information.

        Calls of functions that led to a line are its `inlinedAt`. Raises `DataError` where there is
        no such kernel.
        """
        return codegen.debug_ir(codegen.named("debug_ir", self._generated, kernel), self._latest)

    def _latest(self, kernel: CompiledKernel) -> dict[Node, Origin]:
        """The line of the user's that each scalar of a kernel is there for."""
        with loading():
            from compiler.program.latest_lines import latest_lines
        return latest_lines(kernel, self._scheduled.outlined, self.lines_of)

    @located
    def assembly_for(self, machine: str) -> tuple[Listing, ...]:
        """The assembly of each distinct kernel for another machine, to be read.

        `machine` is one of `machines/named.py`, e.g. "arm-neon": loops are chosen for it, but for
        those that the options say, and the text begins with them and with what an iteration of the
        inner loop has and takes (`inner`). The lines are linked to the generated LLVM IR as those
        of `assembly` are, where loops differ by the values that they are about. Raises `DataError`
        for others, and `DeviceError` where this LLVM cannot do it.
        """
        return codegen.assembly_for(self._generated, self._build.tuned, machine)

    # -- questions -----------------------------------------------------------------------------

    @program_call
    def measure(
        self, inputs: Given = None, variables: Values | None = None, seconds: float = 1.0
    ) -> "Measurement":
        """Run the program a few times; the time of each item, with its estimate.

        Data that the program writes in place stay as they are. It takes about so many seconds;
        what they do not suffice for is left out (`ask/measure.py`). Raises as `run()` does.
        """
        with loading():  # only who measures loads it
            from compiler.ask.measure import measure

        measurement = measure(self, inputs, variables, seconds)
        self._measured = {it.item_id: it.ns for it in measurement.times}
        self.__dict__.pop("findings", None)  # they rest on these times now
        return measurement

    def by_module(self, measurement: "Measurement | None" = None) -> "ByModule":
        """Nodes, kernels and code of each module at every stage, and its time: `print` it.

        Times are estimated, or those of a `measurement` made by `measure()`. LLVM makes the
        assembly for it, unless it has.
        """
        with loading():
            from compiler.ask.by_module import by_module
        times = measurement and {it.item_id: it.ns for it in measurement.times}
        return by_module(self, times or None)

    @program_call
    def trace(self, module: str, to: str = "assembly") -> "ModuleTrace":
        """One module of `modules`, by its full name, through every stage up to `to`.

        Raises `DataError` where there is no such module or stage.
        """
        with loading():
            from compiler.ask.module_trace import module_trace

        return module_trace(self, module, to)

    def check(self, variables: Values | None = None) -> Report:
        """Run every stage on the same inputs and compare each with the graph as written."""
        with loading():  # only who checks loads it
            from compiler.ask.check import check

        return check(self, variables)

    @cached_property
    def _values(self) -> dict[str, Array]:
        return values(self, self._scheduled.outlined)

    def values(self, entity: str) -> Array | None:
        """The value of a graph or kernel entity on the given inputs; None where it has none.

        Those too large to look at have none (`values.py`). Read-only.
        """
        value = self._values.get(entity)
        if value is None:
            return None
        view = value.view()  # it may be the memory of an input
        view.flags.writeable = False
        return view

    @cached_property
    def findings(self) -> Findings:
        """Possible improvements, ordered by the time that each would save.

        Each has its rule, its numbers, the line of the program and what to write instead. They rest
        on the times of the last `measure()`, on estimates where there was none, and on what was
        compiled so far. `print` explains them.
        """
        with loading():  # only who looks loads it
            from compiler.findings.rules import findings

        return findings(self, self._measured)

    # -- text ----------------------------------------------------------------------------------

    biography = Renamed("lineage")

    def summary(self) -> str:
        """A few lines: what was compiled, into how many kernels, how long each stage took."""
        kernels = [(len(k.linear.instructions), len(k.source), k.level) for k in self._kernels]
        plain = {k.body for k in self._kernels if k.choices.is_plain}
        parts = self.written, self._build.records, self._scheduled, self.schedule
        return summary(self.name, *parts, kernels, plain, self.collectives)

    def __repr__(self) -> str:
        return f"Compilation({printable(self.name)}, {len(self._scheduled.items)} items)"

    def __str__(self) -> str:
        return "\n\n".join(f"== {printable(stage.title)} ==\n{stage}" for stage in self.stages)

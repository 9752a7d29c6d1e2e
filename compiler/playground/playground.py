"""Playground: one kernel of a compiled program, on which loop choices are tried.

    play = Playground(compilation, "k0")
    play.attempt("tile i0 16; reorder i0.0 i1 i0.1")      a Point: legality, time, accesses
    play.points                                           all that were tried, in order

Each point is compiled, verified, run against the compiler's own choices on the same random data
(results have to agree except for rounding), timed interleaved with them, and its accesses are
simulated.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from compiler.core.errors import CompileError, DataError, Renamed
from compiler.core.node import toposort
from compiler.core.text import duration
from compiler.graph.nodes import Param, Sink
from compiler.loops import verify as verify_loops
from compiler.loops.choices import PLAIN, Choices, parse, text
from compiler.loops.count import count
from compiler.loops.nodes import Role
from compiler.lowered import verify as verify_lowered
from compiler.lowered.instructions import Instruction
from compiler.pipeline.kernels import CompiledKernel, compile_kernel
from compiler.playground.access_trace import AccessTrace, access_trace
from compiler.playground.caches import Cache, CacheReport, caches_of
from compiler.playground.count_flops import count_flops
from compiler.playground.point import Point, Timing, timing
from compiler.playground.simulate_cache import simulate_cache
from compiler.program.compilation import Compilation
from compiler.schedule.analysis.work import estimate
from compiler.schedule.items import Kernel
from compiler.settings.options import Options
from compiler.tune.neighbours import Space, space
from compiler.tune.trials import Refused
from compiler.tune.workbench import Workbench, obstacle

SECONDS = 0.25
"""Seconds for which a point is sampled, interleaved with the compiler's own choices. A choice."""
LONGEST = 4.0
"""Seconds: a point that is estimated to take more does not run. A choice of patience."""
LIMIT = 40_000_000
"""Accesses of a point that are simulated: some 3 s, at 12 to 13 million a second (plain products,
measured 2026-11-23 on one core of an AMD EPYC). How long is a choice."""
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop of the plain kernel: what choices can name."""

    name: str
    extent: int
    role: Role


def _silent(words: str) -> None:
    """Nothing: no observer is notified."""


class Playground:
    """See the module docstring; without a name it is about the kernel that takes longest."""

    def __init__(self, compilation: Compilation, name: str = "") -> None:
        self.compilation = compilation
        self.name = name or longest(compilation)
        self.points: list[Point] = []
        operation = kernel_of(compilation, self.name)
        self._body: Sink = operation.body
        # what the compiler made itself has names of no meaning, and numbers below 0
        named = ((slot, b) for slot, b in enumerate(operation.arguments) if b.unique >= 0)
        self.labels = {slot: b.name for slot, b in named if b.name}
        """The user's names of the arguments, by slot."""

    @cached_property
    def options(self) -> Options:
        """The options of the program, with the kernel's own choices."""
        return replace(
            self.compilation.options, loops={self.name: self.own}, tune=0.0, trace=False
        )

    @property
    def own(self) -> Choices:
        """The compiler's choices: its own, found by measuring, or passed to it."""
        return self.compilation.choices[self.name]

    @cached_property
    def plain(self) -> CompiledKernel:
        """The kernel without any choice."""
        return self.compiled(PLAIN)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The loops of the plain kernel."""
        return tuple(Axis(r.name, r.extent, r.role) for r in self.space.axes)

    @cached_property
    def space(self) -> Space:
        """The axes and machine that choices can speak about."""
        return space(self.plain.whole, self.options.model)

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The caches of the options' machine model."""
        return caches_of(self.options.model)

    @cached_property
    def flops(self) -> int:
        """Operations on floats that the plain kernel makes."""
        return count_flops(self.plain.linear.instructions)

    @cached_property
    def shapes(self) -> dict[int, tuple[int, ...]]:
        """The shape of each argument by slot."""
        return {n.slot: n.shape for n in toposort([self._body]) if isinstance(n, Param)}

    @cached_property
    def obstacle(self) -> str:
        """The reason why nothing can be measured; "" if it can."""
        return obstacle(
            self._bench, self._body, self.compilation.schedule.items, self.options
        )

    @cached_property
    def _bench(self) -> Workbench:
        return Workbench(self.name, self._body, self.options)

    def compiled(self, choices: Choices) -> CompiledKernel:
        """The kernel with these choices, verified. Raises `CompileError`."""
        kernel = compile_kernel(
            self.name, self._body, replace(self.options, loops={self.name: choices}), 0
        )
        verify_loops.verify(kernel.loops)
        verify_lowered.verify(kernel.linear.instructions)
        return kernel

    def attempt(
        self, choices: str | Choices, label: str = "", again: bool = False, report: Report = _silent
    ) -> Point:
        """Try some choices: one that was tried before is answered from `points`, unless `again`."""
        try:
            wanted = self.parsed(choices)
        except CompileError as error:
            return self._kept(Point(len(self.points), self.name, PLAIN, label, in_words(error)))
        tried = next((p for p in self.points if not p.refused and p.choices == wanted), None)
        if tried is not None and not again:
            return tried
        return self._kept(self._tried(wanted, label or self._usual_label(wanted), report))

    def parsed(self, choices: str | Choices) -> Choices:
        """Choices from text; "own" are the compiler's. Raises `CompileError`."""
        if choices == "own":
            return self.own
        return parse(choices)

    def _usual_label(self, choices: Choices) -> str:
        if text(choices) == text(self.own):
            return "the compiler's own"
        return "" if choices else "plain"

    def _kept(self, point: Point) -> Point:
        numbered = replace(point, number=len(self.points))
        self.points.append(numbered)
        return numbered

    def _tried(self, choices: Choices, label: str, report_to: Report) -> Point:
        base = Point(0, self.name, choices, label, flops=self.flops)
        report_to("compiling")
        try:
            kernel = self.compiled(choices)
        except CompileError as error:
            return replace(base, refused=in_words(error))
        base = replace(base, kernel=kernel)
        report_to("simulating its accesses")
        report, unseen = self._simulated(kernel.linear.instructions)
        report_to("running and measuring it")
        taken, unmeasured = self._measured(choices, kernel)
        return replace(
            base, cache=report, unseen=unseen, timing=taken, unmeasured=unmeasured
        )

    def _simulated(self, rows: list[Instruction]) -> tuple[CacheReport | None, str]:
        try:
            return simulate_cache(self.name, rows, self.caches, None, LIMIT), ""
        except DataError as error:
            return None, error.problem

    def _measured(self, choices: Choices, kernel: CompiledKernel) -> tuple[Timing | None, str]:
        if self.obstacle:
            return None, self.obstacle
        seconds = estimate(count(kernel.loops), self.options.model) * 1e-9
        if seconds > LONGEST:
            return None, f"one run is estimated to take {duration(1e9 * seconds)}"
        try:
            return timing(self._bench.beside(choices, SECONDS)), ""
        except Refused as refusal:
            return None, str(refusal)

    film = Renamed("trace")

    def trace(self, point: Point) -> AccessTrace | None:
        """The trace of a point's memory accesses; None if they are not known."""
        if point.kernel is None or point.unseen:
            return None
        rows = point.kernel.linear.instructions
        return access_trace(rows, self.caches[0], self.shapes)


def kernel_of(compilation: Compilation, name: str) -> Kernel:
    """The first item that runs the kernel. Raises `DataError` where there is no such kernel."""
    operations = (item.operation for item in compilation.schedule.items)
    kernels = [each for each in operations if isinstance(each, Kernel)]
    kernel = next((each for each in kernels if each.name == name), None)
    if kernel is None:
        names = ", ".join(dict.fromkeys(each.name for each in kernels)) or "none"
        raise DataError("playground", "no such kernel", got=name or "no name", expected=names)
    return kernel


def longest(compilation: Compilation) -> str:
    """The name of the kernel that is estimated to take longest; "" where there is none."""
    rows = zip(compilation.schedule.items, compilation.schedule.analysis, strict=True)
    estimates = [
        (a.estimated_ns, i.operation.name) for i, a in rows if isinstance(i.operation, Kernel)
    ]
    return max(estimates, key=lambda pair: pair[0], default=(0, ""))[1]


def in_words(error: CompileError) -> str:
    """An error as a sentence or two, for a page."""
    parts = [f"{error.operation}: {error.problem}"]
    parts += [f"asked for: {error.got}"] if error.got else []
    parts += [f"expected: {error.expected}"] if error.expected else []
    parts += [error.hint] if error.hint else []
    return "; ".join(parts)

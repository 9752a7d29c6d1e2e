"""`compile` and `realize`, and the `Compilation`: one program with every stage of its making."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from compiler.ask.check import Report, check
from compiler.core import garbage
from compiler.core.biography import Coverage, biography, coverage
from compiler.core.keywords import program_call
from compiler.core.node import Node, toposort
from compiler.core.options import Options, options_of
from compiler.core.origin import Origin, no_origin
from compiler.core.passes import Passes
from compiler.core.printable import printable
from compiler.core.reason import Decision
from compiler.core.stage import Stage
from compiler.core.trace import Line, Numbering, PassRecord, Provenance
from compiler.core.user_source import UserSource, user_source
from compiler.device.program import Program
from compiler.graph.kinds.markers import Placeholder
from compiler.graph.kinds.repeat import inside, with_turns
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.graph.printer import Graph, origins_of
from compiler.llvm.level import Level
from compiler.llvm.source import Source
from compiler.loops.choices import Choices
from compiler.loops.printer import Loops
from compiler.lowered.printer import Lowered
from compiler.pipeline import asked, naming
from compiler.pipeline import kernels as kernel_cache
from compiler.pipeline.costing import figures
from compiler.pipeline.kernels import CompiledKernel, compile_kernel, machine_of
from compiler.pipeline.rows import run_passes
from compiler.pipeline.scheduling import Scheduled, schedule_program
from compiler.program.codegen import MachineCode
from compiler.program.running import Running
from compiler.program.summary import summary
from compiler.run import bindings, feeding, sharding
from compiler.schedule.calls import KernelGraph
from compiler.schedule.printer import Schedule
from compiler.tune.start import tuned, tunings_of

if TYPE_CHECKING:
    from compiler.tune.tuning import Tuning
from compiler.ask.values import values

Array = np.ndarray[Any, Any]
Inputs: TypeAlias = Mapping[Buffer, Array]
Runner: TypeAlias = Callable[..., list[Array]]
T = TypeVar("T")


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
        made = Compilation(nodes, options_of(options, passes), feeding.name_of(name))
        made.build()
    return made


class Compilation(Running, MachineCode):
    """One program and all stages of its making; each is made when first asked for.

    Attributes in order: `user_source`, `graph`, `passes`, `optimized_graph`, `kernels`,
    `schedule`, `loops`, `lowered`, `source`, `optimized`, `assembly`; then `run()`, `check()`,
    `values(entity)`, `biography(entity)`, `decisions`, `tuning`, `summary()`, and on demand
    `llvm_passes(kernel)`, `assembly_for(machine)` and `measure()`.
    """

    def __init__(self, nodes: list[TensorNode], options: Options, name: str) -> None:
        self.options = options
        self.name = name
        self.results = nodes
        self.provenance: Provenance[Origin] = Provenance()
        self.seconds: dict[str, float] = {}
        self._compiled: dict[Sink, CompiledKernel] = {}
        with no_origin():
            self.written = Sink(tuple(nodes))
            self._bindings = bindings.bindings_of(self.written)
            if options.trace:
                naming.call_nodes(self.written, self.provenance.numbers)
            start = time.perf_counter()
            self.simplest, records = run_passes(
                "graph", self.written, self.provenance, options, "graph:"
            )
            self.seconds["graph"] = time.perf_counter() - start
        self._graph_records = tuple(records)

    def build(self) -> None:
        """Make every stage up to LLVM IR; LLVM itself runs when machine code is asked for."""
        for body in self._scheduled.outlined.bodies:
            self.kernel(body)

    # -- graph ---------------------------------------------------------------------------------

    @cached_property
    def user_source(self) -> UserSource:
        """The user's program, line by line."""
        origins = {o for node in with_turns(self.written) for o in [node.origin] if o}
        return user_source(origins)

    def _graph(self, root: Sink, title: str) -> Graph:
        nodes = with_turns(root)
        origins = {n: origins_of(n, self.provenance) for n in nodes}
        lines = {n: (o for each in inside(n) for o in origins[each]) for n in nodes}
        parents = {n: self.user_source.entities_of(lines[n]) for n in nodes}
        parents[root] = tuple(dict.fromkeys(it for n in root.sources for it in parents[n]))
        places = {n: ", ".join(dict.fromkeys(o.place for o in origins[n])) for n in nodes}
        return Graph(
            title=title, name=title, seconds=self.seconds["graph"], root=root,
            numbers=self.provenance.numbers, parents=parents, places=places,
            modules={n: origins[n][0].inside for n in nodes if origins[n]},
        )  # fmt: skip

    def entity(self, node: TensorNode) -> str:
        """The entity string of a tensor node."""
        return f"graph:{self.provenance.numbers[node]}"

    @cached_property
    def graph(self) -> Graph:
        """The tensor graph as written."""
        return self._graph(self.written, "graph")

    @cached_property
    def optimized_graph(self) -> Graph:
        """The tensor graph after the last graph pass."""
        return self._graph(self.simplest, "optimized graph")

    @cached_property
    def passes(self) -> tuple[PassRecord, ...]:
        """A record of every pass, graph passes first, then those of each kernel."""
        return (*self._graph_records, *(r for kernel in self._kernels for r in kernel.records))

    # -- schedule ------------------------------------------------------------------------------

    @cached_property
    def _scheduled(self) -> Scheduled:
        """The kernel graph, its calls in order, and why values were fused or not."""
        with no_origin():
            return schedule_program(self.simplest, self.options, self.seconds)

    def _entities(self, nodes: Iterable[TensorNode]) -> tuple[str, ...]:
        """The graph entities of tensor nodes, in order, each once."""
        return tuple(f"graph:{n}" for n in sorted({self.provenance.numbers[n] for n in nodes}))

    @cached_property
    def kernels(self) -> KernelGraph:
        """The kernel graph."""
        made = self._scheduled
        numbers = Numbering()
        parents: dict[Node, tuple[str, ...]] = {}
        for node in toposort([made.outlined.root]):
            numbers[node]
            parents[node] = self._entities(made.outlined.origins.of(node))
        parents[made.outlined.root] = self._entities([self.simplest])
        return KernelGraph(
            title="kernels", name="kernels", seconds=self.seconds["kernels"],
            root=made.outlined.root, numbers=numbers, parents=parents,
        )  # fmt: skip

    @cached_property
    def schedule(self) -> Schedule:
        """The items in order, with costs, critical path, slack and memory."""
        made = self._scheduled
        loops = {body: self.kernel(body).loops for body in made.outlined.bodies}
        parents = tuple((self.kernels.entity(call),) for call in made.calls)
        return Schedule(
            title="schedule", name="schedule", seconds=self.seconds["schedule"],
            items=made.items, dependencies=made.dependencies,
            results=self._results, parents=parents,
            **figures(made, self._results, loops, machine_of(self.options)),
        )  # fmt: skip

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Every choice about fusion, copies, reductions, memory and loops, with its reason."""
        from compiler.program.decisions import decisions, placing
        records, kernels = self._graph_records, self.kernels
        made = decisions(self._scheduled, self.simplest, records, kernels, self.entity)
        subjects = [loop.entity(loop.body) for loop in self.loops]
        chosen = (d for k, s in zip(self._kernels, subjects, strict=True) for d in k.decisions(s))
        placed, tuned = placing(self.schedule.memory_plan, kernels), self.tuning
        return (*made, *placed, *chosen, *(t.decision(subjects[t.kernel]) for t in tuned))

    @property
    def transfers(self) -> tuple[sharding.Traffic, ...]:
        """What one run moves between devices: transfers and bytes by pair of devices."""
        return sharding.traffic(self._scheduled.items)

    # -- kernels -------------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> dict[Sink, int]:
        """The kernels, counted."""
        return {body: number for number, body in enumerate(self._scheduled.outlined.bodies)}

    @cached_property
    def tuning(self) -> "tuple[Tuning, ...]":
        """What was tried for each distinct kernel; () unless `options.tune` gives time for it."""
        return tunings_of(self._scheduled, self.options)

    @cached_property
    def _tuned(self) -> Options:
        """The options with the choices that were found."""
        return tuned(self.options, self.tuning)

    def kernel(self, body: Sink) -> CompiledKernel:
        """Every stage of the kernel with this body, made on first use."""
        if body not in self._compiled:
            name = self._scheduled.outlined.bodies[body]
            with no_origin():
                self._compiled[body] = compile_kernel(name, body, self._tuned, self._numbers[body])
        return self._compiled[body]

    @property
    def _kernels(self) -> list[CompiledKernel]:
        return [self.kernel(body) for body in self._scheduled.outlined.bodies]

    def _each(self, make: Callable[[int, CompiledKernel], T]) -> tuple[T, ...]:
        return tuple(make(number, kernel) for number, kernel in enumerate(self._kernels))

    @property
    def choices(self) -> dict[str, Choices]:
        """How the loops of each kernel are transformed, and why: `Options(loops=…)` takes it."""
        return {kernel.name: kernel.choices for kernel in self._kernels}

    @property
    def levels(self) -> dict[str, Level]:
        """What LLVM does to each kernel, and why."""
        return {kernel.name: kernel.level for kernel in self._kernels}

    @cached_property
    def loops(self) -> tuple[Loops, ...]:
        """The loops of each distinct kernel."""
        return self._each(self._loops)

    def _loops(self, number: int, kernel: CompiledKernel) -> Loops:
        origins = self._scheduled.outlined.origins
        parents: dict[Any, tuple[str, ...]] = {}
        for node in toposort([kernel.loops]):
            tensors = {t for body in kernel.provenance.of(node) for t in origins.of(body)}
            parents[node] = self._entities(tensors)
        return Loops(
            title=f"loops {kernel.name}", name=kernel.name, seconds=kernel.seconds["loops"],
            body=kernel.loops, kernel=number, numbers=kernel.provenance.numbers, parents=parents,
        )  # fmt: skip

    @cached_property
    def lowered(self) -> tuple[Lowered, ...]:
        """The instructions of each distinct kernel."""
        return self._each(self._lowered)

    def _lowered(self, number: int, kernel: CompiledKernel) -> Lowered:
        entity = self.loops[number].entity
        known, whole = set(self.loops[number].nodes), kernel.loops
        parents = tuple((entity(n if n in known else whole),) for n in kernel.linear.origins)
        return Lowered(
            title=f"lowered {kernel.name}", name=kernel.name, seconds=kernel.seconds["lowered"],
            instructions=tuple(kernel.linear.instructions), kernel=number, parents=parents,
        )  # fmt: skip

    @cached_property
    def source(self) -> tuple[Source, ...]:
        """The LLVM IR of each distinct kernel, as generated."""
        return self._each(
            lambda number, kernel: Source(
                title=f"LLVM {kernel.name}", name=kernel.name, seconds=kernel.seconds["llvm"],
                rows=kernel.source, kernel=number,
            )
        )  # fmt: skip

    def load(self) -> dict[tuple[Sink, str], Program]:
        """Every kernel's program by body and kind of device, compiled unless it is loaded."""
        start = time.perf_counter()
        operations = (item.operation for item in self._scheduled.items)
        programs = kernel_cache.load_programs(operations, self._tuned, self.kernel)
        self.seconds["machine"] = time.perf_counter() - start
        return programs

    def check(self, variables: bindings.Values | None = None) -> Report:
        """Run every stage on the same inputs and compare each with the graph as written."""
        return check(self, variables)

    @property
    def can_run(self) -> bool:
        """Whether all data and values of variables are given."""
        is_open = any(isinstance(n, Placeholder) for n in toposort([self.written]))
        return self._bindings.is_bound and not is_open

    @cached_property
    def _values(self) -> dict[str, Array]:
        return values(self)

    def values(self, entity: str) -> Array | None:
        """The value of a graph or kernel entity on the given inputs; None where it has none.

        Those too large to look at have none (`values.py`). Read-only.
        """
        found = self._values.get(entity)
        if found is None:
            return None
        view = found.view()  # it may be the memory of an input
        view.flags.writeable = False
        return view

    # -- text ----------------------------------------------------------------------------------

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every stage up to the generated LLVM IR, in order."""
        graphs = self.graph, self.optimized_graph, self.kernels
        return (self.user_source, *graphs, self.schedule, *self.loops, *self.lowered, *self.source)

    def biography(self, entity: str) -> tuple[Line, ...]:
        """The lines of every stage that `entity` comes from or leads to, in order of stage."""
        return biography(entity, (*self.stages, *self.optimized, *self.assembly))

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        """Of each stage how many lines lead back to the program, and which do not, with why."""
        return coverage((*self.stages, *self.optimized, *self.assembly))

    def summary(self) -> str:
        """A few lines: what was compiled, into how many kernels, how long each stage took."""
        kernels = [(len(k.linear.instructions), len(k.source), k.level) for k in self._kernels]
        records = self._graph_records
        return summary(self.name, self.written, records, self._scheduled, self.schedule, kernels)

    def __repr__(self) -> str:
        return f"Compilation({printable(self.name)}, {len(self._scheduled.items)} items)"

    def __str__(self) -> str:
        return "\n\n".join(f"== {printable(stage.title)} ==\n{stage}" for stage in self.stages)

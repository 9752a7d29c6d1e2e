"""One program and all stages of its making, each computed on first use: data, and how to run it.

`Compilation` adds the questions to it (`compiler/program`); those who answer them read this class.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.core.dtypes import Array
from compiler.core.errors import DataError, located
from compiler.core.keywords import program_call
from compiler.core.lazy import loading
from compiler.core.lineage import Coverage, coverage, lineage
from compiler.core.node import Node, toposort
from compiler.core.origin import Origin, no_origin
from compiler.core.stage import Stage
from compiler.core.trace import Line, Numbering, PassRecord, Provenance
from compiler.core.user_source import UserSource, user_source
from compiler.device.program import Program
from compiler.graph.kinds.markers import Placeholder
from compiler.graph.kinds.repeat import inside, with_iterations
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.graph.partners import partners
from compiler.graph.printer import Graph, origins_of
from compiler.graph.scopes import Scopes, scopes_after, scopes_of
from compiler.llvm.level import Level
from compiler.llvm.looking.listing import Listing
from compiler.llvm.source import Source, renamed
from compiler.loops.choices import Choices
from compiler.loops.printer import Loops
from compiler.lowered.printer import Lowered
from compiler.pipeline import naming
from compiler.pipeline.costing import figures, shares
from compiler.pipeline.kernels import LOOPED, CompiledKernel
from compiler.pipeline.scheduling import Scheduled
from compiler.run import bindings, execution, sharding
from compiler.run.bindings import Values
from compiler.run.building import Build
from compiler.run.feeding import Given
from compiler.schedule.calls import KernelGraph, buffer_of
from compiler.schedule.items import Kernel
from compiler.schedule.printer import Schedule
from compiler.schedule.titles import KernelTitle, title
from compiler.settings.options import Options
from compiler.stages.listings import Generated, Listings
from compiler.stages.running import Runner, Running

if TYPE_CHECKING:
    from compiler.graph.modules import Modules
    from compiler.tune.tuning import Tuning

T = TypeVar("T")


class ProgramStages:
    """One program and all stages of its making; each is computed on first use.

    Stages in order: `user_source`, `graph`, `passes`, `optimized_graph`, `kernels`, `schedule`,
    `loops`, `lowered`, `source`, `optimized`, `assembly`.
    """

    def __init__(self, nodes: list[TensorNode], options: Options, name: str) -> None:
        self.options = options
        self.name = name
        self.results = nodes
        self.provenance: Provenance[Origin] = Provenance()
        with no_origin():
            self.written = Sink(tuple(nodes))
            self._bindings = bindings.bindings_of(self.written)
            if options.trace:
                naming.call_nodes(self.written, self.provenance.numbers)
        self._build = Build(self.written, options, self.provenance)
        self._running = Running(self._build, self._bindings)
        self.simplest = self._build.simplest
        self.seconds = self._build.seconds

    def build(self) -> None:
        """Make every stage up to LLVM IR; LLVM itself runs when machine code is asked for."""
        with LOOPED.all_kept():
            for body in self._scheduled.outlined.bodies:
                self.kernel(body)

    # -- graph ---------------------------------------------------------------------------------

    @cached_property
    def user_source(self) -> UserSource:
        """The user's program, line by line."""
        origins = {o for node in with_iterations(self.written) for o in [node.origin] if o}
        return user_source(origins)

    def _graph(self, root: Sink, title: str) -> Graph:
        nodes = with_iterations(root)
        origins = {n: origins_of(n, self.provenance) for n in nodes}
        lines = {n: [o for each in inside(n) for o in origins[each]] for n in nodes}
        source = self.user_source.entities_of
        parents = {n: (*source(lines[n]), *self._modules_of(lines[n])) for n in nodes}
        parents[root] = tuple(dict.fromkeys(it for n in root.sources for it in parents[n]))
        places = {n: ", ".join(dict.fromkeys(o.place for o in origins[n])) for n in nodes}
        return Graph(
            title=title, name=title, seconds=self.seconds["graph"], root=root,
            numbers=self.provenance.numbers, parents=parents, places=places,
            modules={n: origins[n][0].inside for n in nodes if origins[n]},
            scopes=scopes_after(self.scopes, nodes, self.provenance),
            partners=partners(nodes, self.provenance, self.scopes.sweeps),
            callers={n: self.user_source.callers_of(lines[n]) for n in nodes},
        )  # fmt: skip

    def _modules_of(self, lines: Iterable[Origin]) -> tuple[str, ...]:
        """The entities of the innermost modules that made something, where there are modules."""
        modules = self.modules
        if not (modules.is_model and modules.is_tree):
            return ()
        return tuple(modules.entity(at) for at in sorted({modules.position(it) for it in lines}))

    def entity(self, node: TensorNode) -> str:
        """The entity string of a tensor node."""
        return f"graph:{self.provenance.numbers[node]}"

    @cached_property
    def graph(self) -> Graph:
        """The tensor graph as written."""
        return self._graph(self.written, "graph")

    @cached_property
    def scopes(self) -> Scopes:
        """The public calls that made the graph as written, in the functions that they stand in."""
        return scopes_of(self.written)

    @cached_property
    def modules(self) -> "Modules":
        """The modules of a model, or the functions of a program, as a tree."""
        with loading():  # only who looks loads it
            from compiler.graph.modules import modules_of

        return modules_of(with_iterations(self.written))

    @cached_property
    def optimized_graph(self) -> Graph:
        """The tensor graph after the last graph pass."""
        return self._graph(self.simplest, "optimized graph")

    @cached_property
    def passes(self) -> tuple[PassRecord, ...]:
        """A record of every pass, graph passes first, then those of each kernel."""
        return (*self._build.records, *(r for kernel in self._kernels for r in kernel.records))

    # -- schedule ------------------------------------------------------------------------------

    @property
    def _scheduled(self) -> Scheduled:
        return self._build.scheduled

    def _entities(self, nodes: Iterable[TensorNode]) -> tuple[str, ...]:
        """The graph entities of tensor nodes, in order, each once."""
        return tuple(f"graph:{n}" for n in sorted({self.provenance.numbers[n] for n in nodes}))

    @cached_property
    def kernels(self) -> KernelGraph:
        """The kernel graph."""
        scheduled = self._scheduled
        numbers = Numbering()
        parents: dict[Node, tuple[str, ...]] = {}
        for node in toposort([scheduled.outlined.root]):
            numbers[node]
            parents[node] = self._entities(scheduled.outlined.origins.of(node))
        parents[scheduled.outlined.root] = self._entities([self.simplest])
        return KernelGraph(
            title="kernels", name="kernels", seconds=self.seconds["kernels"],
            root=scheduled.outlined.root, numbers=numbers, parents=parents,
            titles={scheduled.calls[position]: it for position, it in self.titles.items()},
        )  # fmt: skip

    @cached_property
    def schedule(self) -> Schedule:
        """The items in order, with costs, critical path, slack and memory."""
        scheduled = self._scheduled
        loops = {body: self.kernel(body).loops for body in scheduled.outlined.bodies}
        parents = tuple((self.kernels.entity(call),) for call in scheduled.calls)
        work = shares(scheduled, self.provenance.numbers)
        return Schedule(
            title="schedule", name="schedule", seconds=self.seconds["schedule"],
            items=scheduled.items, dependencies=scheduled.dependencies,
            results=scheduled.results, parents=parents, titles=self.titles,
            shares=tuple(tuple((self.entity(n), share) for n, share in row) for row in work),
            **figures(scheduled, scheduled.results, loops, self.options.model),
        )  # fmt: skip

    @cached_property
    def titles(self) -> dict[int, KernelTitle]:
        """The names of the kernels that the items of the schedule run, by position."""
        scheduled = self._scheduled
        titles: dict[int, KernelTitle] = {}
        for position, (item, call) in enumerate(zip(scheduled.items, scheduled.calls, strict=True)):
            if isinstance(item.operation, Kernel):
                outlined = scheduled.outlined
                nodes = outlined.inside_iterations.get(call) or outlined.origins.of(call)
                shape = buffer_of(call.sources[0]).shape
                name = item.operation.name
                titles[position] = title(name, nodes, self.lines_of, shape)
        return titles

    def lines_of(self, node: TensorNode) -> list[Origin]:
        """The user's lines of a node, of one in an iteration of a loop too."""
        inner = self._scheduled.outlined.iterations.values()
        provenances = (self.provenance, *(it.lines for it in inner))
        return next((lines for it in provenances if (lines := origins_of(node, it))), [])

    @property
    def transfers(self) -> tuple[sharding.Traffic, ...]:
        """The traffic of one run between devices: transfers and bytes by pair of devices."""
        return sharding.traffic(self._scheduled.items)

    # -- kernels -------------------------------------------------------------------------------

    @property
    def tuning(self) -> "tuple[Tuning, ...]":
        """The search for each distinct kernel; () unless `options.tune` gives time for it."""
        return self._build.tuning

    def kernel(self, body: Sink) -> CompiledKernel:
        """Every stage of the kernel with this body, made on first use."""
        return self._build.kernel(body)

    @property
    def _kernels(self) -> list[CompiledKernel]:
        return [self.kernel(body) for body in self._scheduled.outlined.bodies]

    def _each(self, make: Callable[[int, CompiledKernel], T]) -> tuple[T, ...]:
        return tuple(make(number, kernel) for number, kernel in enumerate(self._kernels))

    @property
    def choices(self) -> dict[str, Choices]:
        """The loop choices of each kernel, with their reasons: `Options(loops=…)` takes them."""
        return {kernel.name: kernel.choices for kernel in self._kernels}

    @property
    def levels(self) -> dict[str, Level]:
        """LLVM's level for each kernel: what it does to it, and why."""
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
        of_loops, whole = set(self.loops[number].nodes), kernel.loops
        parents = tuple((entity(n if n in of_loops else whole),) for n in kernel.linear.origins)
        return Lowered(
            title=f"lowered {kernel.name}", name=kernel.name, seconds=kernel.seconds["lowered"],
            instructions=tuple(kernel.linear.instructions), kernel=number, parents=parents,
        )  # fmt: skip

    @cached_property
    def source(self) -> tuple[Source, ...]:
        """The LLVM IR of each distinct kernel, as generated; its symbol says what it does.

        What runs was made of the same text under one symbol for all kernels: `llvm/jit.py`.
        """
        symbols: dict[str, str] = {}
        for it in self.titles.values():
            symbols.setdefault(it.name, it.symbol)
        return self._each(
            lambda number, kernel: Source(
                title=f"LLVM {kernel.name}", name=kernel.name, seconds=kernel.seconds["llvm"],
                rows=renamed(kernel.source, kernel.name, symbols.get(kernel.name, kernel.name)),
                kernel=number,
            )
        )  # fmt: skip

    # -- machine code --------------------------------------------------------------------------

    @cached_property
    def _generated(self) -> tuple[Generated, ...]:
        """The kernels with their LLVM IR."""
        pairs = zip(self.source, self._kernels, strict=True)
        return tuple(Generated(source, kernel) for source, kernel in pairs)

    @cached_property
    def _listings(self) -> Listings:
        """The texts that LLVM makes of the kernels, on threads."""
        return Listings(self._generated)

    def begin_listings(self) -> None:
        """Have LLVM begin with `optimized` and `assembly`: who asks for them later waits less."""
        self._listings.begin()

    @cached_property
    def optimized(self) -> tuple[Listing, ...]:
        """The LLVM IR of each distinct kernel after the passes of LLVM that its `level` says."""
        return tuple(optimized for optimized, _ in self._listings.texts())

    @cached_property
    def assembly(self) -> tuple[Listing, ...]:
        """The machine code of each distinct kernel, as assembly."""
        return tuple(assembly for _, assembly in self._listings.texts())

    def load(self) -> dict[tuple[Sink, str], Program]:
        """Every kernel's program by body and kind of device, compiled unless it is loaded."""
        start = time.perf_counter()
        programs = self._build.load()
        self.seconds["machine"] = time.perf_counter() - start
        return programs

    # -- running -------------------------------------------------------------------------------

    @property
    def can_run(self) -> bool:
        """True if all data and values of variables are given."""
        is_open = any(isinstance(n, Placeholder) for n in toposort([self.written]))
        return self._bindings.is_bound and not is_open

    @property
    def variables(self) -> dict[str, int]:
        """The value that each bound variable has."""
        return dict(self._bindings.bound)

    @property
    def devices(self) -> list[str]:
        """The device of each result; one that is an input on disk is as good as on the CPU."""
        return self._running.devices

    def inputs(self, given: Given = None, values: Values | None = None) -> dict[Buffer, Array]:
        """The data of every input buffer, as flat arrays: those given, as for `run`, else its own.

        Data given for what the program writes in place are copied.
        """
        return self._running.inputs(given, values)

    def values_of_run(self, variables: Values | None = None, given: Given = None) -> dict[str, int]:
        """The value of each variable: as passed, else from the shapes of the data, else as bound.

        Raises `DataError` where one is wrong.
        """
        return self._running.values(variables, given)

    @program_call
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
        return bindings.sliced(flat, self.results, values)

    def run_flat(
        self, values: Values, arrays: Mapping[Buffer, Array], run: Runner = execution.run
    ) -> list[Array]:
        """Run the machine code; one flat array per result, whole: of the greatest extents.

        A result that is an input, or another result, is a copy of it. `arrays` has the flat data
        of every input; `run` runs the items, and may watch them.
        """
        return self._running.run(values, arrays, self.load, run)

    # -- text ----------------------------------------------------------------------------------

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every stage up to the generated LLVM IR, in order."""
        graphs = self.graph, self.optimized_graph, self.kernels
        return (self.user_source, *graphs, self.schedule, *self.loops, *self.lowered, *self.source)

    @located
    def lineage(self, entity: str) -> tuple[Line, ...]:
        """The lines of every stage that `entity` comes from or leads to, in order of stage. Raises
        `DataError` where no stage has such an entity."""
        stages = (self.modules, *self.stages, *self.optimized, *self.assembly)
        lines = lineage(entity, stages)
        if not lines and not any(entity in stage.links for stage in stages):
            raise DataError("lineage", "there is no such entity", got=repr(entity),
                            expected="line.entity of a line of a stage")  # fmt: skip
        return lines

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        """For each stage, the number of lines that lead back to the program; others with why."""
        return coverage((*self.stages, *self.optimized, *self.assembly))

"""Execution plans: a program compiled once, run often, on other data, from any thread.

    plan = compiler.prepare(y)                 # compiled; nothing is run
    plan.run()                                 # on the data y was written with
    plan.run({"x": other})                     # on other data of the same shape and type

Schedules are cached by structure: the graph with its buffers replaced by numbered placeholders and
without source lines. The same structure with other data is not compiled again. Each run allocates
its own memory, so runs may overlap.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, cast

from compiler.core import garbage
from compiler.core.dtypes import Array
from compiler.core.effects import Effects
from compiler.core.kept import Kept
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.origin import Origin, no_origin
from compiler.device import cpu
from compiler.device.remote import Data
from compiler.graph.devices import is_remote
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.markers import PLACEHOLDER, Placeholder
from compiler.graph.kinds.placement import Unique
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Bind, Buffer, Sink, TensorNode
from compiler.machines.at_hand import asked_for
from compiler.machines.model import DEFAULT
from compiler.run import budget, execution, numbers, overlap, recompiled, remembered
from compiler.run.assemble import assemble
from compiler.run.native import NativePlan
from compiler.run.overlap import Level
from compiler.schedule.analysis import costs
from compiler.schedule.analysis.levels import levels_to_run
from compiler.schedule.analysis.share import MemoryPlan, share
from compiler.schedule.host import Host
from compiler.schedule.items import ScheduleItem
from compiler.schedule.operations import device_of
from compiler.settings.options import Options

if TYPE_CHECKING:
    from compiler.run.building import Build

KEPT = 256
"""Schedules kept, least recently used first out. A choice."""
FIRST = 2**62
"""Placeholders are numbered from here: no buffer with data has such a number."""


@dataclass(frozen=True, eq=False)
class Structure:
    """A program without its data: compiled kernels in order, and the memory they need."""

    items: tuple[ScheduleItem, ...]
    steps: tuple[Level, ...]
    programs: execution.Programs
    inputs: tuple[Buffer, ...]
    results: tuple[Buffer, ...]
    devices: tuple[str, ...]
    """The device of each result."""
    memory: MemoryPlan | None
    native: NativePlan

    @cached_property
    def is_for_cluster(self) -> bool:
        """True if workers of a cluster have a part in it."""
        used = (name for item in self.items for name in item.operation.devices)
        return any(map(is_remote, (*used, *self.devices)))

    @cached_property
    def result_inputs(self) -> tuple[int | None, ...]:
        """For each result the position of the input that it is, or None."""
        positions = {b: n for n, b in enumerate(self.inputs)}
        return tuple(positions.get(b) for b in self.results)

    @cached_property
    def shared_results(self) -> tuple[bool, ...]:
        """For each result whether its memory is an input's, or that of a result before it."""
        results, same = self.results, self.result_inputs
        return tuple(n is not None or results[i] in results[:i] for i, n in enumerate(same))

    @cached_property
    def written_inputs(self) -> tuple[int, ...]:
        """The positions of inputs that the program writes in place."""
        written = {b for item in self.items for b in item.operation.writes}
        return tuple(n for n, b in enumerate(self.inputs) if b in written)


def without_data(nodes: Sequence[TensorNode]) -> tuple[Sink, tuple[Buffer, ...]]:
    """The graph of `nodes` with placeholders for buffers, and the buffers, in order of number.

    Graphs of equal structure give the same object; a bound variable is only a variable, and
    clones and assigns are numbered in the order in which they are met.
    """
    bare = _Bare()
    done: dict[TensorNode, TensorNode] = {}
    buffers: dict[tuple[int, str], Buffer] = {}
    numbers: dict[tuple[int, str], int] = {}
    with no_origin(), garbage.put_off():
        for each in toposort(nodes):
            node = each.expansion() if isinstance(each, Placeholder) else each
            if isinstance(node, Buffer):
                # a buffer and its copy without a source line are the same
                key = node.unique, node.name if node.unique == PLACEHOLDER else ""
                buffers.setdefault(key, node)
                number = FIRST + numbers.setdefault(key, len(numbers))
                done[each] = Buffer((), number, node.shape, node.dtype, "", node.device)
            elif isinstance(node, Bind):
                done[node] = done[node.sources[0]]
            else:
                done[node] = bare.again(node, tuple([done[s] for s in node.sources]))
        return Sink(tuple(done[n] for n in nodes)), tuple(buffers.values())


@dataclass(slots=True)
class _Bare:
    """Nodes rebuilt without their source lines, also in the bodies of counted loops."""

    clones: dict[int, int] = field(default_factory=dict)
    assigns: dict[int, int] = field(default_factory=dict)
    bodies: dict[Sink, Sink] = field(default_factory=dict)

    def again(self, node: TensorNode, sources: tuple[TensorNode, ...]) -> TensorNode:
        """The node over other sources."""
        match node:
            case Unique():
                return Unique((), self.clones.setdefault(node.id, len(self.clones)))
            case Assign():
                number = self.assigns.setdefault(node.number, len(self.assigns))
                return Assign(sources, node.parts, number)
            case Repeat():
                body = self._body(node.body)
                return Repeat(sources, body, node.counter, node.count, node.index)
            case _:
                return node.made_again(sources)

    def _body(self, body: Sink) -> Sink:
        if body not in self.bodies:
            done: dict[TensorNode, TensorNode] = {}
            for node in toposort([body]):
                done[node] = self.again(node, tuple(done[s] for s in node.sources))
            self.bodies[body] = Sink(done[body].sources)
        return self.bodies[body]


class Structures(Kept[tuple[Sink, Options], Structure]):
    """Compiled structures by graph and options."""

    def get(self, root: Sink, count: int, options: Options) -> Structure:
        """The structure of a graph with `count` placeholders; made when it is met first."""
        held = self.held((root, options))
        if held is not None:
            return held
        with self.lock:
            self.misses += 1
        with garbage.put_off(), ExitStack() as meanwhile:
            structure = _made(root, count, options, meanwhile)
        return self.keep((root, options), structure)


STRUCTURES = Structures(KEPT)


def _build(root: Sink, options: Options, meanwhile: ExitStack) -> "Build":
    """A program on its way through the pipeline, which is loaded where there is one; `meanwhile`
    none of its kernels that were estimated is forgotten."""
    with loading():
        from compiler.pipeline.kernels import LOOPED
        from compiler.run.building import Build

    meanwhile.enter_context(LOOPED.all_kept())
    return Build(root, options)


def _made(root: Sink, count: int, options: Options, meanwhile: ExitStack) -> Structure:
    """Compile the program of `root`, unless a process before this one did.

    Raises `SizeError` where it cannot fit in memory.
    """
    key = remembered.key_of(root, options)
    stored = None if key is None else remembered.remembered(key, options.cache)

    build = cache(partial(_build, root, options, meanwhile))
    scheduled = stored or build().scheduled
    items, results = scheduled.items, scheduled.results
    planned = share(items, results, levels_to_run(items)) if options.plan_memory else None
    budget.refuse_too_large(items, options.memory_limit, planned)
    numbered = {b.unique: b for b in toposort([root]) if isinstance(b, Buffer)}
    inputs = tuple(numbered[FIRST + n] for n in range(count))
    programs = stored.load(lambda: build().load()) if stored else build().load()
    if key is not None and stored is None:
        remembered.remember(key, (items, results), programs, inputs, options.cache)
    analysis = costs.analyse(items)
    steps = overlap.plan_levels(items, programs, analysis)
    estimated = {row.item_id: row.estimated_ns for row in analysis}
    return Structure(
        items=items,
        steps=steps,
        programs=programs,
        inputs=inputs,
        results=results,
        devices=tuple(device_of([b]) for b in results),
        memory=planned,
        native=assemble(
            steps, programs, inputs, planned, options.threads, options.cache, estimated
        ),
    )


def structure_of(
    nodes: Sequence[TensorNode], options: Options
) -> tuple[Structure, tuple[Buffer, ...]]:
    """The compiled structure of the program of `nodes`, and the buffers with its data."""
    root, buffers = without_data(nodes)
    return structure_without_data(root, len(buffers), options), buffers


def structure_without_data(root: Sink, count: int, options: Options) -> Structure:
    """The compiled structure of a graph whose `count` buffers are numbered placeholders."""
    return STRUCTURES.get(root, count, _relevant(options, asked_for()))


def structure_to_run(
    nodes: Sequence[TensorNode], options: Options
) -> tuple[Structure, tuple[Buffer, ...]]:
    """As `structure_of`, for one run: numbers of the program may be among its data.

    That is so where other programs differed in nothing else (`numbers.py`).
    """
    root, buffers = without_data(nodes)
    relevant = _relevant(options, asked_for())
    held = STRUCTURES.held((root, relevant))
    if held is not None:
        return held, buffers
    chosen = _varying(nodes, relevant)
    if chosen:
        root, buffers = without_data(numbers.as_data(nodes, chosen))
        held = STRUCTURES.held((root, relevant))
        if held is not None:
            numbers.KINDS.shared += 1
            return held, buffers
    with recompiled.LINES.compiling(nodes):
        return STRUCTURES.get(root, len(buffers), relevant), buffers


def _varying(nodes: Sequence[TensorNode], options: Options) -> list[numbers.Place]:
    """The numbers in which this program differs from enough others."""
    places = numbers.places(nodes)
    if not places:
        return []
    kind, _ = without_data(numbers.as_data(nodes, places))
    varying = numbers.KINDS.varying(kind, options, numbers.bits(places))
    return [place for n, place in enumerate(places) if n in varying]


@lru_cache(64)
def _relevant(options: Options, machine: str) -> Options:
    """`options` without what is only recorded or estimated: that changes nothing that runs. What
    `machine` SVODVIZ_MACHINE names is part of the key, and of the options that follow."""
    model = options.model if options.loops == "auto" else DEFAULT
    return replace(options, trace=False, machine=model)


def located(nodes: Sequence[TensorNode], options: Options) -> AbstractContextManager[None]:
    """Refusals inside name the user's line of the largest tensor of the program of `nodes`.

    A structure knows no lines: the program is cut again, with them.
    """
    def origin(buffer: Buffer) -> Origin | None:
        with no_origin():
            root = Sink(tuple(nodes))
        with ExitStack() as meanwhile:
            return _build(root, options, meanwhile).origin_of(buffer)

    return budget.located(origin)


def run(
    structure: Structure,
    data: Sequence[Data],
    values: Mapping[str, int],
    addresses: Sequence[int] | None = None,
    effects: Effects | None = None,
    ready: Callable[[list[Data]], None] | None = None,
) -> list[Data]:
    """Run on flat arrays, one per input; one flat array per result, remote where a worker has it.
    Makes its own memory.

    `addresses` are those of the arrays, if they are known. `ready` is called with the results
    before an input is written: they will be in this memory. `effects` say whether everything was
    written, and undo what was not. Raises `SizeError`, before anything is allocated, where a
    budget does not allow it.
    """
    if cpu.MEMORY.budget is not None:
        budget.refuse_over_budget(structure.items, structure.memory)
    if structure.is_for_cluster:
        inputs = dict(zip(structure.inputs, data, strict=True))
        effects_here = effects or Effects()
        on_workers = execution.on_cluster(
            structure.items, structure.results, inputs, structure.programs, values, effects_here
        )
        pairs = zip(on_workers, structure.result_inputs, strict=True)
        results = [each if n is None else data[n] for each, n in pairs]
        if ready:
            ready(results)
        effects_here.is_done = True
        effects_here.apply()
        return results
    host: list[Host] = []

    def python(item: ScheduleItem, held: Mapping[Buffer, Array]) -> None:
        if not host:
            host.append(Host())
        execution.step(item, held, structure.programs, values, host[0])

    here = cast(Sequence[Array], data)

    def results_in(blocks: Mapping[Buffer, Array]) -> list[Data]:
        pairs = zip(structure.results, structure.result_inputs, strict=True)
        return [blocks[b] if n is None else data[n] for b, n in pairs]

    def begin(blocks: Mapping[Buffer, Array]) -> None:
        if ready:
            ready(results_in(blocks))

    return results_in(structure.native.run(here, values, python, addresses, effects, begin))

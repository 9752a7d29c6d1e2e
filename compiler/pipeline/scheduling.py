"""A program, and an iteration of a loop, as they go through the rows of graph and schedule."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.passes import StageName
from compiler.core.trace import Facts, Provenance
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Sink
from compiler.graph.printer import node_facts
from compiler.pipeline import driver
from compiler.pipeline.facts import DECOMPOSED, SHARDED
from compiler.pipeline.kernels import estimated
from compiler.schedule.calls import buffer_of
from compiler.schedule.carry import Carried
from compiler.schedule.fission import Estimate
from compiler.schedule.hazards import Separated
from compiler.schedule.items import Dependency, ScheduleItem
from compiler.schedule.kinds import Callable
from compiler.schedule.order import Ordered
from compiler.schedule.outlined import Iteration, Outlined
from compiler.schedule.partition import Choice, Partition


@dataclass(slots=True, kw_only=True, eq=False)
class ProgramUnit(driver.Unit):
    """A program, from the graph as written to items in order; or one iteration of a loop in it."""

    rewritten: ClassVar[StageName] = "graph"
    describe: ClassVar[Facts] = node_facts

    graph: Sink
    known: set[Any] = field(default_factory=set)
    """The nodes that were found right."""
    carried: Carried = field(init=False)
    separated: Separated = field(init=False)
    parts: Partition = field(init=False)
    judged: Partition = field(init=False)
    outlined: Outlined = field(init=False)
    deduplicated: Outlined = field(init=False)
    ordered: Ordered = field(init=False)

    @property
    def is_decomposed(self) -> bool:
        """True if only machine operations and core kinds are left."""
        return DECOMPOSED in self.facts

    @property
    def is_sharded(self) -> bool:
        """True if no value is in shards any more."""
        return SHARDED in self.facts

    @property
    def estimate(self) -> Estimate:
        """The time of a kernel body with the loops that these options choose for it."""
        held = {n for n in toposort([self.separated.root]) if isinstance(n, Buffer)}
        resident = sum(node.nbytes for node in held.union(self.parts.realized))
        return partial(estimated, options=self.options, resident=resident)

    @property
    def iterations(self) -> dict[Sink, Iteration]:
        """One iteration of each loop, of loops inside loops too: each goes through the rows as the
        program does, up to where its kernels are known."""
        by_body: dict[Sink, Iteration] = {}
        stack = [self.separated.root]
        while stack:
            loops = (node for node in toposort([stack.pop()]) if isinstance(node, Repeat))
            for body in dict.fromkeys(loop.body for loop in loops):
                if body not in by_body:
                    unit = ProgramUnit(graph=body, options=self.options, prefix="iteration:")
                    driver.run(unit, "graph")
                    driver.run(unit, "schedule", until="fission")
                    root = unit.separated.root
                    by_body[body] = Iteration(
                        root, unit.judged, unit.carried, unit.records, unit.provenance
                    )
                    stack.append(root)
        return by_body


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The outcome of the schedule rows."""

    outlined: Outlined
    items: tuple[ScheduleItem, ...]
    dependencies: tuple[Dependency, ...]
    calls: tuple[Callable, ...]
    """For each item the call of the kernel graph that it runs."""
    choices: list[Choice]
    plain: list[Choice]
    """The nodes that left no choice, and what became of them."""

    @property
    def results(self) -> tuple[Buffer, ...]:
        """The buffer of each result."""
        return tuple(buffer_of(source) for source in self.outlined.root.sources)


def scheduled(unit: ProgramUnit, seconds: dict[str, float]) -> Scheduled:
    """Cut a program into kernels and order them; `seconds` gets the time of each of the two."""
    driver.run(unit, "schedule", until="deduplicate")
    cut = unit.took("schedule")
    driver.run(unit, "schedule", after="deduplicate")
    seconds |= {"kernels": cut, "schedule": unit.took("schedule") - cut}
    done, separated = unit.ordered, unit.separated
    choices = [*separated.choices, *_of_originals(unit.judged.choices, separated)]
    plain = _of_originals(unit.judged.plain, separated)
    return Scheduled(unit.deduplicated, done.items, done.dependencies, done.calls, choices, plain)


def _of_originals(choices: list[Choice], separated: Separated) -> list[Choice]:
    """The choices, each about the node of the program that its own stands for."""
    if not separated.originals:
        return choices
    originals = separated.originals
    return [replace(choice, node=originals.get(choice.node, choice.node)) for choice in choices]


def origin_of(unit: Scheduled, places: Provenance[Origin], buffer: Buffer) -> Origin | None:
    """The user's line that makes the value of a buffer; the last of several."""
    nodes = unit.outlined.origins.of(buffer)
    return max((origin for node in nodes for origin in places.of(node)), default=None)

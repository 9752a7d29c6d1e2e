"""subject: a program as the rules look at it: its items by kernel, their times, nodes and lines.

Times are those of one run: measured where the whole program was, else the machine model's. Two
thresholds keep findings to what is worth a change; each rule names any others that it has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compiler.core.origin import Origin
from compiler.core.text import counted, duration, percent
from compiler.graph.nodes import TensorNode
from compiler.graph.printer import origins_of
from compiler.loops.nodes import Load
from compiler.loops.printer import Loops
from compiler.machines.model import MachineModel
from compiler.schedule.analysis.reuse import resident_bytes
from compiler.schedule.analysis.work import Work, begin_ns
from compiler.schedule.items import Kernel
from compiler.schedule.titles import KernelTitle
from compiler.stages.stages import ProgramStages

WORTH = 0.05
"""The share of a program's time from which a finding is reported: less is within what the
estimates may be off. A choice."""
LEAST = 5000.0
"""Nanoseconds from which it is reported: one call of a program from Python takes longer. A
choice."""


@dataclass(frozen=True, slots=True)
class Part:
    """All items that run one kernel: their positions, and what they take together."""

    title: KernelTitle
    items: tuple[int, ...]
    ns: float
    launches: float

    @property
    def name(self) -> str:
        """The kernel's own name."""
        return self.title.name

    @property
    def first(self) -> str:
        """The entity of the first of them."""
        return f"schedule:{self.items[0]}"


class Subject:
    """One program, with what several rules need of it; `measured` are the times of its items.

    Where these are not of all items, the estimates are used.
    """

    def __init__(self, program: ProgramStages, measured: Mapping[int, float] | None = None) -> None:
        self.program = program
        self.schedule = program.schedule
        self.model: MachineModel = program.options.model
        estimated = [float(row.cost) for row in self.schedule.analysis]
        self.is_measured = measured is not None and len(measured) == len(estimated)
        self.times = (
            [measured[place] for place in range(len(estimated))]
            if measured is not None and self.is_measured else estimated
        )  # fmt: skip
        """Nanoseconds of each item."""

    @property
    def how(self) -> str:
        """The source of the times."""
        return "measured" if self.is_measured else "estimated"

    @cached_property
    def total(self) -> float:
        """The time of all items."""
        return max(sum(self.times), 1.0)

    def part_of(self, ns: float) -> str:
        """`39 % of the program`"""
        return f"{percent(ns / self.total)} of the program"

    def takes(self, part: Part) -> str:
        """`k1 sub+sum runs 3 times and takes 44 µs (estimated), 56 % of the program`"""
        count = len(part.items)
        runs = f"runs {counted(count, 'time')} and " if count > 1 else ""
        time = f"{duration(part.ns)} ({self.how}), {self.part_of(part.ns)}"
        return f"{part.title.short} {runs}takes {time}"

    def brings(self, gain: float) -> str:
        """`about 29 µs less, 39 % of the estimated time`"""
        return f"about {duration(gain)} less, {percent(gain / self.total)} of the {self.how} time"

    def is_worth(self, gain: float) -> bool:
        """True if so many nanoseconds are worth a finding."""
        return gain >= max(WORTH * self.total, LEAST)

    @cached_property
    def resident(self) -> int:
        """The bytes of all buffers."""
        return resident_bytes(self.schedule.items)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The kernels of the program by name."""
        found: dict[str, list[int]] = {}
        for item in self.schedule.items:
            if isinstance(item.operation, Kernel):
                found.setdefault(item.operation.name, []).append(item.item_id)
        return {name: self._part(items) for name, items in found.items()}

    def _part(self, items: Sequence[int]) -> Part:
        ns, launches = sum(self.times[it] for it in items), begin_ns(self.model) * len(items)
        return Part(self.schedule.titles[items[0]], tuple(items), ns, launches)

    @cached_property
    def works(self) -> Mapping[str, Work]:
        """The nanoseconds of one run of each kernel."""
        known = zip(self.schedule.items, self.schedule.works, strict=True)
        return {it.operation.name: work for it, work in known if work is not None}

    @cached_property
    def loops(self) -> Mapping[str, Loops]:
        """The loops of each kernel, as chosen."""
        return {loops.name: loops for loops in self.program.loops}

    def is_padding(self, kernel: str) -> bool:
        """True if reads of a kernel are predicated for zero padding."""
        found = self.loops.get(kernel)
        nodes = found.nodes if found else ()
        return any(isinstance(it, Load) and it.predicate is not None for it in nodes)

    def or_plain(self, kernel: str, instead: str) -> str:
        """The code to write; where the program asks for these loops, the advice not to."""
        asked = self.program.options.loops
        if asked == "plain":
            return 'leave Options(loops="plain") out: the compiler then chooses tiles and lanes.'
        if isinstance(asked, Mapping) and kernel in asked:
            return f"leave Options(loops=…) out for {kernel}, or tile what it reads."
        return instead

    # -- nodes and lines -----------------------------------------------------------------------

    @cached_property
    def nodes(self) -> dict[str, TensorNode]:
        """The nodes of the graph after its passes, by entity."""
        return {self.program.entity(node): node for node in self.program.optimized_graph.nodes}

    def nodes_of(self, item: int) -> list[TensorNode]:
        """The nodes that do an item's work, those with most of it first."""
        rows = sorted(self.schedule.shares[item], key=lambda row: -row[1].time)
        return [self.nodes[entity] for entity, _ in rows if entity in self.nodes]

    def call_of(self, node: TensorNode, otherwise: str) -> str:
        """The user's call that made a node: `matmul`."""
        origins = origins_of(node, self.program.provenance)
        return origins[0].method if origins else otherwise

    def line_of(self, nodes: Iterable[TensorNode]) -> tuple[str, str, str]:
        """Place, text and entity of the line that the first node that has one comes from."""
        for node in nodes:
            for origin in origins_of(node, self.program.provenance):
                return self.line_at(origin)
        return "", "", ""

    def line_at(self, origin: Origin) -> tuple[str, str, str]:
        """Place, text and entity of the line of an origin."""
        entity = self.program.user_source.entities.get((origin.file, origin.line), "")
        return origin.place, origin.text, entity

    def line_of_item(self, item: int) -> tuple[str, str, str]:
        """Place, text and entity of the line whose nodes do most of an item's work."""
        return self.line_of(self.nodes_of(item))

    def buffer_name(self, kernel: str, slot: int) -> str:
        """The name of an argument of a kernel where it first runs."""
        operation = self.schedule.items[self.parts[kernel].items[0]].operation
        if not 0 <= slot < len(operation.arguments):
            return "scratch memory"
        buffer = operation.arguments[slot]
        return buffer.name or f"an array of {' × '.join(map(str, buffer.shape))}"

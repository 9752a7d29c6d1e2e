"""The printed form and the picture of a schedule.

    0  kernel k0  reads x w  writes b0  1,004,160 flops  234,624 bytes  12.2 µs  critical
    fusion 0 + 1     mixed       saves      32,768 bytes costs 412.7 %   it would be computed …
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.stage import Stage
from compiler.core.text import aligned, microseconds
from compiler.core.trace import Line, empty_graph
from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.buffer_layout import BufferInfo
from compiler.schedule.analysis.costs import critical_items, is_critical
from compiler.schedule.analysis.footprint import Lifetime
from compiler.schedule.analysis.iteration_space import KernelSpace
from compiler.schedule.analysis.opportunities import FusionOpportunity
from compiler.schedule.analysis.own_work import OwnWork
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.analysis.work import Work
from compiler.schedule.items import (
    WORDS,
    Dependency,
    HostCallback,
    ItemAnalysis,
    ItemTiming,
    Kernel,
    MemoryTransfer,
    Operation,
    ScheduleItem,
    Synchronization,
)
from compiler.schedule.titles import KernelTitle

if TYPE_CHECKING:
    import networkx as nx

QUANTITIES = range(4, 7)
"""The columns that hold numbers: flops, bytes and time."""
LONGEST_PATH = 20
"""The most items of the critical path that are printed."""
TOTAL = "a sum over the whole program"
SHOWN = 5
"""The most missed fusions that are printed; `Schedule.opportunities` has all, and those taken."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Schedule(Stage):
    """Stage 4: items in order, with their costs, the critical path, and the memory plan.

    Times are estimated nanoseconds, sizes bytes.
    """

    items: tuple[ScheduleItem, ...]
    dependencies: tuple[Dependency, ...]
    analysis: tuple[ItemAnalysis, ...]
    times: tuple[ItemTiming, ...]
    critical_path: tuple[int, ...]
    lifetimes: tuple[Lifetime, ...]
    peak_bytes: int
    itemwise_bytes: int
    results: tuple[Buffer, ...]
    parents: tuple[tuple[str, ...], ...]
    memory_plan: MemoryPlan | None = None
    """The places of the program's buffers in memory, and the bytes that sharing saves."""
    opportunities: tuple[FusionOpportunity, ...] = ()
    """Pairs of kernels that could be fused, with the reason why they are not, the best first; then
    the fusions that were made."""
    spaces: tuple[KernelSpace | None, ...] = ()
    """For each item its iteration space; None for items that are no kernels."""
    works: tuple[Work | None, ...] = ()
    """For each item its machine-independent work; None if its loops are not known."""
    buffers: tuple[BufferInfo, ...] = ()
    """Layout and live range of every buffer."""
    shares: tuple[tuple[tuple[str, OwnWork], ...], ...] = ()
    """For each item the tensor nodes that it computes, as entities, with their weights."""
    titles: Mapping[int, KernelTitle] = field(default_factory=dict)
    """The readable names of kernels, by position of the item."""

    @property
    def estimated_ns(self) -> int:
        """The length of the critical path."""
        return sum(self.analysis[i].cost for i in self.critical_path)

    @property
    def critical_items(self) -> tuple[int, ...]:
        """The items without slack: those on any path as long as the critical path."""
        return critical_items(self.times)

    def entity(self, item_id: int) -> str:
        """The entity string of an item."""
        return f"schedule:{item_id}"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One line per item, then totals, then the best fusion opportunities."""
        texts = aligned(map(self._columns, self.items), QUANTITIES)
        rows = [
            Line(text, self.entity(item.item_id), self.parents[item.item_id])
            for text, item in zip(texts, self.items, strict=True)
        ]
        path = path_of(self.critical_path, self.critical_items)
        total = microseconds(self.estimated_ns, 1)
        totals = [f"critical path {path}   {total}   peak {self.peak_bytes:,} bytes"]
        missed = [n for n, each in enumerate(self.opportunities) if not each.taken]
        fusions = [self._fusion(number) for number in missed[:SHOWN]]
        more = len(missed) - SHOWN
        counts = [f"fusion … {more} more"] if more > 0 else []
        saved = [each.bytes_saved for each in self.opportunities if each.taken]
        counts += [f"fusion ✓ {len(saved)} taken, saves {sum(saved):,} bytes"] if saved else []
        rows += [Line(text, alone=TOTAL) for text in totals]
        return (*rows, *fusions, *(Line(text, alone=TOTAL) for text in counts))

    def _fusion(self, number: int) -> Line:
        """The line of an opportunity; its parents are those of both items."""
        opportunity = self.opportunities[number]
        ends = dict.fromkeys((*self.parents[opportunity.first], *self.parents[opportunity.second]))
        return Line(f"fusion {opportunity}", f"schedule:fusion {number}", tuple(ends))

    @property
    def dependency_lines(self) -> tuple[str, ...]:
        """One line per dependency and kind: `0 → 1  data  tmp0  16 bytes`."""
        rows: list[tuple[str, ...]] = [
            (
                f"{each.producer:>3} → {each.consumer}",
                each.kind,
                " ".join(_name(buffer) for buffer in each.buffers),
                f"{each.nbytes:,} bytes" if each.nbytes else "",
            )
            for each in self.dependencies
        ]
        return tuple(aligned(rows))

    def _columns(self, item: ScheduleItem) -> tuple[str, ...]:
        """The printed columns of an item."""
        operation, cost = item.operation, self.analysis[item.item_id]
        time = self.times[item.item_id]
        return (
            f"{item.item_id:>3}",
            f"{WORDS[type(operation)]} {_title(operation)}",
            f"reads {' '.join(_name(b) for b in operation.reads)}",
            f"writes {' '.join(_name(b) for b in operation.writes)}",
            f"{cost.flops:,} flops",
            f"{cost.bytes_read + cost.bytes_written:,} bytes",
            microseconds(cost.estimated_ns, 1),
            "critical" if time.is_critical
            else f"slack {microseconds(time.slack, 1 if time.slack >= 50 else 3)}",
            _variables(operation),
        )

    def network(self) -> "nx.DiGraph[Any]":
        """Items and their dependencies as a graph, with times, slack and critical items."""
        graph: nx.DiGraph[Any] = empty_graph()
        for item in self.items:
            graph.add_node(self.entity(item.item_id), **self._facts(item))
        between: dict[tuple[int, int], list[Dependency]] = {}
        for each in self.dependencies:
            between.setdefault((each.producer, each.consumer), []).append(each)
        for (producer, consumer), edges in between.items():
            graph.add_edge(
                self.entity(producer),
                self.entity(consumer),
                operand=-1,
                kind=edges[0].kind,
                kinds=tuple(edge.kind for edge in edges),
                nbytes=sum(edge.nbytes for edge in edges),
                critical=is_critical(self.times[producer], self.times[consumer]),
            )
        return graph

    def _facts(self, item: ScheduleItem) -> dict[str, Any]:
        cost, time = self.analysis[item.item_id], self.times[item.item_id]
        operation = item.operation
        written = next(iter(operation.writes), None)
        word = WORDS[type(operation)]
        return {
            "op": word,
            "kind": word,
            "argument": _title(operation),
            "dtype": written.dtype.short if written else "",
            "shape": f"[{','.join(map(str, written.shape))}]" if written else "",
            "name": operation.name,
            "devices": operation.devices,
            "parents": self.parents[item.item_id],
            "group": "",
            "cost": {
                "flops": cost.flops,
                "bytes": cost.bytes_read + cost.bytes_written,
                "est_ns": cost.estimated_ns,
            },
            "critical": time.is_critical,
            "slack": time.slack,
            "start": time.earliest_start,
            "finish": time.finish,
        }


def path_of(path: tuple[int, ...], critical: tuple[int, ...]) -> str:
    """`0 → 1 → 4 (as long through 3)`: the path, then the critical items that are not on it.

    The middle of a long path is left out.
    """
    words = list(map(str, path))
    if len(words) > LONGEST_PATH:
        words[LONGEST_PATH // 2 : -LONGEST_PATH // 2] = [f"… {len(words) - LONGEST_PATH} more …"]
    return " → ".join(words) + _ties(path, critical)


def _ties(path: tuple[int, ...], critical: tuple[int, ...]) -> str:
    """` (as long through 3, 4)`: critical items that are not on the path, if there are any."""
    others = sorted(set(critical) - set(path))
    if not others:
        return ""
    shown = ", ".join(map(str, others[:LONGEST_PATH]))
    more = f" and {len(others) - LONGEST_PATH} more" if len(others) > LONGEST_PATH else ""
    return f" (as long through {shown}{more})"


def _variables(operation: Operation) -> str:
    """The variables that a kernel takes from the user."""
    names = operation.variables if isinstance(operation, Kernel) else ()
    return f"variables {' '.join(names)}" if names else ""


def _title(operation: Operation) -> str:
    """The printed operation after its kind: name, devices or event, loop counters."""
    parts = [operation.name]
    match operation:
        case MemoryTransfer(source_device=source, destination_device=destination):
            parts.append(f"{source} → {destination}")
            if operation.is_pitched:
                parts.append(f"[{','.join(map(str, operation.dims))}]")
        case Synchronization(kind=kind, event=event, is_wait=is_wait):
            number = "" if event is None else f" {event}"
            parts.append(("wait for " if is_wait else "") + kind + number)
        case Kernel(fixed=fixed) | HostCallback(fixed=fixed):
            parts += [f"{name} = {value}" for name, value in fixed]
            if isinstance(operation, Kernel) and operation.device != "CPU":
                parts.append(f"on {operation.device}")
    return " ".join(parts)


def _name(buffer: Buffer) -> str:
    """A buffer's name; the shape of one that has none."""
    return buffer.name or f"[{','.join(map(str, buffer.shape))}]"

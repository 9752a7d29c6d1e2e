"""The printed form and the picture of a schedule.

    0  kernel k0  reads x w  writes b0  1,004,160 flops  234,624 bytes  12.2 µs  critical
"""

from dataclasses import dataclass
from typing import Any

import networkx as nx

from compiler.graph.nodes import Buffer
from compiler.schedule.analysis import is_critical
from compiler.schedule.items import Dependency, ItemAnalysis, ItemTiming, ScheduleItem
from compiler.schedule.memory import Lifetime
from compiler.stage import Stage
from compiler.trace import Line


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Schedule(Stage):
    """Stage 4: items in order, what they cost, and which decide how long the program takes.

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

    @property
    def estimated_ns(self) -> int:
        """The length of the critical path."""
        return sum(self.analysis[i].cost for i in self.critical_path)

    def entity(self, item_id: int) -> str:
        """The entity string of an item."""
        return f"schedule:{item_id}"

    @property
    def lines(self) -> tuple[Line, ...]:
        """One line per item, then totals."""
        rows = [
            Line(self._text(item), self.entity(item.item_id), self.parents[item.item_id])
            for item in self.items
        ]
        path = " → ".join(map(str, self.critical_path))
        total = f"{self.estimated_ns / 1000:,.1f} µs"
        rows.append(Line(f"critical path {path}   {total}   peak {self.peak_bytes:,} bytes"))
        return tuple(rows)

    def _text(self, item: ScheduleItem) -> str:
        operation, cost = item.operation, self.analysis[item.item_id]
        time = self.times[item.item_id]
        reads = " ".join(_name(b) for b in operation.reads)
        writes = " ".join(_name(b) for b in operation.writes)
        nbytes = cost.bytes_read + cost.bytes_written
        is_on_path = item.item_id in self.critical_path
        mark = "critical" if is_on_path else f"slack {time.slack / 1000:,.1f} µs"
        return (
            f"{item.item_id:>3}  kernel {operation.name:<5} reads {reads:<16} writes {writes:<6}"
            f" {cost.flops:>13,} flops {nbytes:>12,} bytes {cost.estimated_ns / 1000:>9,.1f} µs"
            f"  {mark}"
        )

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """Items and their dependencies, with times, slack and what is critical."""
        graph: nx.DiGraph[Any] = nx.DiGraph()
        for item in self.items:
            graph.add_node(self.entity(item.item_id), **self._facts(item))
        for edge in self.dependencies:
            graph.add_edge(
                self.entity(edge.producer),
                self.entity(edge.consumer),
                operand=-1,
                kind=edge.kind,
                nbytes=edge.nbytes,
                critical=is_critical(self.times[edge.producer], self.times[edge.consumer]),
            )
        return graph

    def _facts(self, item: ScheduleItem) -> dict[str, Any]:
        cost, time = self.analysis[item.item_id], self.times[item.item_id]
        written = item.operation.writes[0]
        return {
            "op": "kernel",
            "kind": "kernel",
            "argument": item.operation.name,
            "dtype": written.dtype.short,
            "shape": f"[{','.join(map(str, written.shape))}]",
            "name": item.operation.name,
            "parents": self.parents[item.item_id],
            "group": "",
            "cost": {
                "flops": cost.flops,
                "bytes": cost.bytes_read + cost.bytes_written,
                "est_ns": cost.estimated_ns,
            },
            "critical": item.item_id in self.critical_path,
            "slack": time.slack,
            "start": time.earliest_start,
            "finish": time.finish,
        }


def _name(buffer: Buffer) -> str:
    """A buffer's name; the shape of one that has none."""
    return buffer.name or f"[{','.join(map(str, buffer.shape))}]"

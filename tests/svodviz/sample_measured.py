"""A run of a sample that nobody made: items take 0.8 and 1.25 times their estimates, by turns."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compiler.ask.measurement import ItemTime, Measurement
from compiler.core.trace import Line
from compiler.schedule.items import ItemTiming
from compiler.schedule.printer import Schedule


def run(schedule: Schedule, words: str) -> "Run":
    """One run of a sample."""
    costs = [it.estimated_ns * (1.25 if n % 2 else 0.8) for n, it in enumerate(schedule.analysis)]
    return Run(
        title="one run", name="run", seconds=0.5, schedule=schedule, whole=40_000.0, call=400.0,
        times=tuple(ItemTime(n, ns, 0.9 * ns, 1.1 * ns, 9) for n, ns in enumerate(costs)),
        results=(np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8), np.float32(2.5)),
        notes=(f"made up: {words}",), machine=f"no machine: {words}", words=words,
    )  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Measurement):
    """A measurement whose text and picture are made by hand too."""

    words: str

    @cached_property
    def timings(self) -> tuple[ItemTiming, ...]:
        cost = [round(it.ns) for it in self.by_item.values()]
        early, edges = [0] * len(cost), self.schedule.dependencies
        for edge in edges:  # from earlier to later items, in their order
            early[edge.consumer] = max(early[edge.consumer], early[edge.producer]
                                       + cost[edge.producer])  # fmt: skip
        end = max(a + b for a, b in zip(early, cost, strict=True))
        late = [end - it for it in cost]
        for edge in sorted(edges, key=lambda it: -it.consumer):
            late[edge.producer] = min(late[edge.producer], late[edge.consumer]
                                      - cost[edge.producer])  # fmt: skip
        rows = zip(early, late, cost, strict=True)
        return tuple(ItemTiming(n, *row) for n, row in enumerate(rows))

    @property
    def critical_path(self) -> tuple[int, ...]:
        return tuple(it.item_id for it in self.timings if not it.slack)

    def bound(self, time: ItemTime) -> str:
        return f"computing {self.words}"

    @property
    def lines(self) -> tuple[Line, ...]:
        rows = (Line(f"{n} {it.ns:.0f} ns", f"run:{n}", (self.schedule.entity(n),))
                for n, it in self.by_item.items())  # fmt: skip
        return (*rows, Line(self.words))

    def network(self) -> Any:
        return self.schedule.network()

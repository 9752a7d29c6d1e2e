"""Programs for workers of a cluster that is not there, with a run that nobody made: by hand.

Each bar begins when what it needs is done and its lane is free; the client sends one thing after
the other, and Dask takes a third of a millisecond to tell a worker.
"""

from typing import Any

import numpy as np

import compiler
from compiler import Options, Tensor
from compiler.ask.measurement import ItemTime, Measurement
from compiler.distributed.bars import HERE, Bar, Kind
from compiler.distributed.timeline import Lane, Timeline
from compiler.schedule.items import MemoryTransfer, ScheduleItem

TELLING = 330_000
"""Nanoseconds."""
ERROR = 40_000
DASHBOARD = "http://127.0.0.1:8787/status"


def clustered(workers: int) -> Any:
    """A layer whose sums are exchanged by all workers; its run is `run`."""
    names = tuple(f"DASK:{n}" if n else "DASK" for n in range(workers))
    side = 16 * workers
    x = Tensor(np.ones((32, side), "float32"), name="x").shard(names, 1)
    w = Tensor(np.ones((side, 24), "float32"), name="w").shard(names, 0)
    made = compiler.compile((x @ w).relu().sum(0), Options(cache=False))
    found = run(made, names)
    made.measure = lambda *given, **named: found  # type: ignore[method-assign]
    return made


def run(compilation: Any, names: tuple[str, ...], dashboard: str = DASHBOARD) -> Measurement:
    """The measurement of a run that nobody made."""
    schedule = compilation.schedule
    timeline = _Drawn(schedule.items, names).timeline(dashboard)
    times = tuple(ItemTime(i, ns, 0.9 * ns, 1.1 * ns, 5) for i, ns in timeline.by_item.items())
    return Measurement(
        title="one run", name="run", seconds=0.5, schedule=schedule, times=times, call=400.0,
        whole=float(timeline.ns), results=(), notes=("made up",), machine="no machine",
        timeline=timeline,
    )  # fmt: skip


class _Drawn:
    """Bars, item after item."""

    def __init__(self, items: tuple[ScheduleItem, ...], names: tuple[str, ...]) -> None:
        self.items, self.names = items, names
        self.bars: list[Bar] = []
        self.free = [0] * (len(names) + 1)
        self.of: dict[int, int] = {}

    def timeline(self, dashboard: str) -> Timeline:
        """The run of all items."""
        for item in self.items:
            needs = tuple(self.of[d] for d in item.depends_on)
            self.of[item.item_id] = self._item(item, needs)
        order = sorted(range(len(self.bars)), key=lambda n: (self.bars[n].begin, n))
        place = {old: new for new, old in enumerate(order)}
        bars = tuple(
            Bar(b.lane, b.kind, b.begin, b.end, b.item, b.name, b.nbytes, b.source,
                tuple(place[n] for n in b.needs))
            for b in (self.bars[n] for n in order)
        )  # fmt: skip
        lanes = (Lane("here", "this process"), *(
            Lane(name, f"tcp://10.0.0.{n + 1}:3456{n}", ERROR + 1_000 * n)
            for n, name in enumerate(self.names)))  # fmt: skip
        end = max(bar.end for bar in bars)
        return Timeline("0f1e2d3c0", end + 200_000, lanes, bars, dashboard=dashboard)

    def _item(self, item: ScheduleItem, needs: tuple[int, ...]) -> int:
        """Draws an item; its last bar."""
        operation = item.operation
        if not isinstance(operation, MemoryTransfer):
            took = 900_000 + 170_000 * (item.item_id * 7 % 5)
            return self._bar(self._lane(operation.devices[0]), "kernel", item, took, needs)
        source, target = self._lane(operation.source_device), self._lane(
            operation.destination_device)  # fmt: skip
        nbytes = operation.region.size * 4
        if source == HERE:
            sent = self._bar(HERE, "send", item, 240_000, needs, nbytes)
            return self._bar(target, "move", item, 60_000, (sent,))
        cut = self._bar(source, "move", item, 50_000, needs)
        took = 400_000 + 90_000 * (item.item_id % 4)
        came = self._bar(target, "transfer", item, took, (cut,), nbytes, source)
        return self._bar(target, "move", item, 50_000, (came,))

    def _lane(self, device: str) -> int:
        return self.names.index(device) + 1 if device in self.names else HERE

    def _bar(
        self, lane: int, kind: Kind, item: ScheduleItem, took: int, needs: tuple[int, ...],
        nbytes: int = 0, source: int | None = None,
    ) -> int:  # fmt: skip
        ready = max((self.bars[n].end for n in needs), default=0)
        told = 0 if lane == HERE or kind == "transfer" else TELLING
        begin = max(ready + told, 0 if kind == "transfer" else self.free[lane])
        self.bars.append(Bar(lane, kind, begin, begin + took, item.item_id, item.operation.name,
                             nbytes, source, needs))  # fmt: skip
        if kind != "transfer":
            self.free[lane] = begin + took
        return len(self.bars) - 1

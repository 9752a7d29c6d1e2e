"""measurement: the time of one run, item by item, with the estimates; printed as a table.

    item  name       time      quartiles       share  estimated   ratio   GB/s  GFLOP/s  bound by
     ◆ 1  kernel k1  12.40 µs  12.1 … 12.9 µs   81 %   10.10 µs   1.23×   18.2     32.5  L2
     ◆ 0  kernel k0   2.90 µs   2.8 …  3.1 µs   19 %    2.60 µs   1.12×    4.1      1.1  computing

Items stand in order of time, ◆ marks those that have no slack by the times. Rates are those of the
bytes and operations counted by `schedule/analysis/costs.py`; what bounds an item is what
most of its estimate is, or "the call" where it takes hardly longer than an empty one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.dtypes import Array
from compiler.core.stage import Stage
from compiler.core.text import aligned, counted, microseconds
from compiler.core.trace import Line
from compiler.device.dask import Timed
from compiler.schedule.analysis.costs import critical_items, critical_path, timings
from compiler.schedule.items import WORDS, HostCallback, ItemAnalysis, ItemTiming, Kernel
from compiler.schedule.printer import Schedule, path_of

if TYPE_CHECKING:
    import networkx as nx

HEAD = ("item", "name", "time", "quartiles", "share", "estimated", "ratio", "GB/s", "GFLOP/s",
        "bound by")  # fmt: skip
RIGHT = (0, *range(2, 9))
"""The columns that are figures."""
TOTAL = "a sum over the whole program"
CALL = "the call"
HARDLY = 2.0
"""An item that takes less than so many empty calls is bound by the call: most of it. By definition,
not measured."""
FIRST = 6
"""Elements of a result that are printed."""


@dataclass(frozen=True, slots=True)
class ItemTime:
    """Nanoseconds of one item: the median of `rounds`, half of which lie from `low` to `high`."""

    item_id: int
    ns: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement(Stage):
    """One run, measured. `str` is the table; times are nanoseconds.

    `times` are those of the items that were reached, in their order; `whole` is one call of
    `run()`, with all that Python does between the items (None: there was no time for it); `call` is
    a call of a kernel that does nothing, which every kernel's time has in it.
    """

    schedule: Schedule
    times: tuple[ItemTime, ...]
    whole: float | None
    call: float
    results: tuple[Array, ...]
    notes: tuple[str, ...]
    """Sentences on what was left out or done otherwise."""
    machine: str
    timeline: Timed | None = None
    """The activity of workers in one of the runs, where they have a part in the program."""

    @cached_property
    def by_item(self) -> dict[int, ItemTime]:
        """The time of each item that was reached."""
        return {it.item_id: it for it in self.times}

    @property
    def slowest(self) -> tuple[ItemTime, ...]:
        """The times, the longest first."""
        return tuple(sorted(self.times, key=lambda it: (-it.ns, it.item_id)))

    @property
    def left_out(self) -> tuple[int, ...]:
        """The items that were not reached."""
        return tuple(i.item_id for i in self.schedule.items if i.item_id not in self.by_item)

    @property
    def total(self) -> float:
        """The times of all items, added up."""
        return sum(it.ns for it in self.times)

    @property
    def rounds(self) -> int:
        """The number of times that each item was timed."""
        return max((it.rounds for it in self.times), default=0)

    @cached_property
    def timings(self) -> tuple[ItemTiming, ...]:
        """The earliest and latest start of each item, by the times, or by its estimate."""
        costs = [replace(a, estimated_ns=self._cost(a)) for a in self.schedule.analysis]
        return timings(self.schedule.items, costs)

    def _cost(self, estimated: ItemAnalysis) -> int:
        timed = self.by_item.get(estimated.item_id)
        return estimated.estimated_ns if timed is None else round(timed.ns)

    @cached_property
    def critical_path(self) -> tuple[int, ...]:
        """The items of the longest chain by the times."""
        return critical_path(self.schedule.items, self.timings)

    @property
    def critical_items(self) -> tuple[int, ...]:
        """The items without slack by the times: of every path as long as the longest."""
        return critical_items(self.timings)

    def ratio(self, time: ItemTime) -> float:
        """The time of an item divided by its estimate."""
        return time.ns / self.schedule.analysis[time.item_id].cost

    def bound(self, time: ItemTime) -> str:
        """The cause of an item's time: the call, or as estimated; "" where that is not known."""
        is_call = self._is_kernel(time) and time.ns < HARDLY * self.call
        return CALL if is_call else self.schedule.analysis[time.item_id].bound

    def _is_kernel(self, time: ItemTime) -> bool:
        return isinstance(self.schedule.items[time.item_id].operation, Kernel)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The table, one line per item, then sums, notes and results."""
        rows = [HEAD, *(self._columns(time) for time in self.slowest)]
        head, *texts = aligned(rows, RIGHT)
        entity = self.schedule.entity
        return (
            Line(head, alone=TOTAL),
            *(
                Line(text, f"run:{it.item_id}", (entity(it.item_id),))
                for text, it in zip(texts, self.slowest, strict=True)
            ),
            *(Line(text, alone=TOTAL) for text in self._sums()),
        )

    def _columns(self, time: ItemTime) -> tuple[str, ...]:
        operation = self.schedule.items[time.item_id].operation
        cost = self.schedule.analysis[time.item_id]
        counters = operation.fixed if isinstance(operation, Kernel | HostCallback) else ()
        words = [f"{WORDS[type(operation)]} {operation.name}", *(f"{n} = {v}" for n, v in counters)]
        sign = "◆" if self.timings[time.item_id].is_critical else " "
        return (
            f"{sign} {time.item_id}",
            " ".join(words),
            microseconds(time.ns),
            f"{time.low / 1000:,.2f} … {time.high / 1000:,.2f}",
            f"{100 * time.ns / max(self.total, 1e-9):.0f} %",
            microseconds(cost.estimated_ns),
            f"{self.ratio(time):.2f}×",
            _rate(cost.bytes_read + cost.bytes_written, time.ns),
            _rate(cost.flops, time.ns),
            self.bound(time),
        )

    def _sums(self) -> Iterator[str]:
        schedule = self.schedule
        sums = [f"all items {microseconds(self.total)}"]
        if self.whole is not None:
            sums.append(f"one run() {microseconds(self.whole)}, with what Python does")
        yield "; ".join([*sums, f"an empty call {microseconds(self.call)}"])
        length = sum(self.timings[i].cost for i in self.critical_path)
        path = path_of(self.critical_path, self.critical_items)
        yield f"critical path by time      {path}   {microseconds(length)}"
        estimated = microseconds(schedule.estimated_ns)
        path = path_of(schedule.critical_path, schedule.critical_items)
        yield f"critical path by estimate  {path}   {estimated}"
        yield f"the median of {counted(self.rounds, 'round')} on {self.machine}"
        yield from self.notes
        if self.timeline is not None:
            yield from str(self.timeline).splitlines()
        for number, array in enumerate(self.results):
            yield f"result {number}  {_preview(array)}"

    def network(self) -> "nx.DiGraph[Any]":
        """The schedule's graph, with the times and the path that they make."""
        graph = self.schedule.network()
        for time, when in zip(self.schedule.items, self.timings, strict=True):
            facts = graph.nodes[self.schedule.entity(time.item_id)]
            facts["cost"] = facts["cost"] | self._measured(time.item_id)
            facts |= {
                "critical": when.is_critical,
                "slack": when.slack,
                "start": when.earliest_start,
                "finish": when.finish,
            }
        return graph

    def _measured(self, item_id: int) -> dict[str, float]:
        time = self.by_item.get(item_id)
        return {} if time is None else {"measured_ns": round(time.ns)}


def _rate(amount: int, ns: float) -> str:
    """A rate per nanosecond, three digits; "" if it is 0."""
    return f"{amount / ns:.3g}" if amount and ns else ""


def _preview(array: Array) -> str:
    """Type, shape, least and greatest, and the first elements."""
    shape = ",".join(map(str, array.shape))
    shown = "  ".join(f"{value:.5g}" for value in array.reshape(-1)[:FIRST].tolist())
    more = " …" if array.size > FIRST else ""
    if not array.size:
        return f"{array.dtype}[{shape}]"
    least, most = array.min().item(), array.max().item()
    return f"{array.dtype}[{shape}]  min {least:.5g}  max {most:.5g}  first {shown}{more}"

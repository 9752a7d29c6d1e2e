"""timeline: a run on one clock: the workers' lanes, transfers, waits, and the critical path.

    with compiler.cluster() as cluster:
        (Tensor(a).shard(cluster.workers, 1) @ Tensor(b).shard(cluster.workers, 0)).realize()
        print(cluster.timeline())

    run 055172b23: 99.3 ms on 2 workers; one clock
    lane    worker                 items     busy          waits        longest wait
    here    this process               4  37.8 ms  38 %     0 ns   0 %
    DASK    tcp://127.0.0.1:46697      4  7.63 ms   8 %  85.4 ms  86 %  47.9 ms: giving Dask 4 tasks
    DASK:1  tcp://127.0.0.1:39073      4  10.9 ms  11 %  58.2 ms  59 %  51 ms: giving Dask 4 tasks
    critical path  sending 0 copy → giving Dask 4 tasks → copying 2 copy, DASK:1 → 4 k0 on DASK:1 →
                   copying 5 copy, DASK:1 → 5 copy DASK:1 → DASK → copying 5 copy, DASK → 6 k1 on …
    moved 1 MiB between workers, sent 2 MiB to them, fetched 0 bytes
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from compiler.core.errors import DataError
from compiler.core.printable import ShownAsText, printout
from compiler.core.text import aligned, binary, counted, duration, percent
from compiler.distributed.arrivals import Arrival, done_here
from compiler.distributed.bars import DOING, HERE, Bar, Kind, Received, bars
from compiler.distributed.clocks import Clock, clocks
from compiler.distributed.graphs import task_key
from compiler.distributed.noted import Noted
from compiler.distributed.repair import TOPIC
from compiler.distributed.waits import Wait, path, waits
from compiler.distributed.work import Span

HEAD = ("lane", "worker", "items", "busy", "", "waits", "", "longest wait")
SHOWN = 8
"""Bars of the critical path that are printed from its start, and from its end. By eye."""
VERBS: dict[Kind, str] = {"move": "copying", "compile": "compiling", "send": "sending",
                          "submit": "giving Dask", "gather": "fetching"}  # fmt: skip
Seen: TypeAlias = Mapping[str, tuple[tuple[Span, ...], tuple[Arrival, ...]]]


class Timed(Protocol):
    """A cluster in use, and its latest runs."""

    noted: list[Noted]

    @property
    def client(self) -> Any:
        """Dask's client."""
        ...

    @property
    def addresses(self) -> list[str]:
        """The workers of the devices."""
        ...

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the devices."""
        ...

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard."""
        ...


@dataclass(frozen=True, slots=True)
class Lane:
    """The client or a worker: the names of its devices, its address, and the error bound of its
    clock's offset, in nanoseconds."""

    name: str
    address: str
    error: int = 0


@dataclass(frozen=True, eq=False)
class Timeline(ShownAsText):
    """One run. Times are nanoseconds since its start on the client's clock."""

    run: str
    ns: int
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    again: tuple[int, ...] = ()
    """Items that were recomputed because a worker was lost."""
    lost: tuple[str, ...] = ()
    """Workers that were lost during the run; others took over."""
    dashboard: str = ""
    errors: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", tuple(lane.error for lane in self.lanes))

    @property
    def error(self) -> int:
        """The largest possible offset between two lanes, in nanoseconds."""
        return sum(sorted(self.errors)[-2:])

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """The idle times of workers, with their causes."""
        return waits(self.bars, self.errors)

    @cached_property
    def path(self) -> tuple[int, ...]:
        """The critical path over machines: the numbers of its bars, in order."""
        return path(self.bars, self.errors)

    @property
    def moved(self) -> int:
        """Bytes sent between workers."""
        return self._bytes("transfer")

    @property
    def sent(self) -> int:
        """Bytes that the client sent."""
        return self._bytes("send")

    @property
    def fetched(self) -> int:
        """Bytes that the client fetched."""
        return self._bytes("gather")

    def _bytes(self, kind: str) -> int:
        return sum(bar.nbytes for bar in self.bars if bar.kind == kind)

    @cached_property
    def by_item(self) -> dict[int, int]:
        """The nanoseconds of each recorded item: its kernel, its copies and transfers, without
        compilation."""
        by_item: dict[int, int] = {}
        for bar in self.bars:
            if bar.item is not None and bar.kind != "compile":
                by_item[bar.item] = by_item.get(bar.item, 0) + bar.ns
        return by_item

    def busy(self, lane: int) -> int:
        """The nanoseconds in which a lane was busy; overlapping work of threads counts once."""
        kinds = ("kernel", "send", "submit", "gather") if lane == HERE else DOING
        total = until = 0
        for bar in sorted(self.bars, key=lambda it: it.begin):
            if bar.lane == lane and bar.kind in kinds:
                total += max(0, bar.end - max(until, bar.begin))
                until = max(until, bar.end)
        return total

    def words(self, number: int) -> str:
        """A bar as text: `4 k0 on DASK:1`, `5 copy DASK:1 → DASK`."""
        bar = self.bars[number]
        name, what = self.lanes[bar.lane].name, bar.name if bar.item is None else (
            f"{bar.item} {bar.name}")  # fmt: skip
        if bar.kind == "transfer":
            source = "a lost worker" if bar.source is None else self.lanes[bar.source].name
            return f"{what} {source} → {name}"
        if bar.kind == "kernel":
            return f"{what} on {name}"
        where = "" if bar.lane == HERE else f", {name}"
        return f"{VERBS[bar.kind]} {what}{where}"

    def because(self, wait: Wait) -> str:
        """The cause of a wait, in words."""
        if wait.on is None:
            return "Dask: tasks on their way"
        late = wait.end - wait.ready
        dask_part = f", then {duration(late)} for Dask" if late >= wait.ns / 10 else ""
        return self.words(wait.on) + dask_part

    def __str__(self) -> str:
        return printout(self._lines())

    def _lines(self) -> Iterator[str]:
        sure = f"clocks within ± {duration(self.error)}" if self.error else "one clock"
        count = counted(len(self.lanes) - 1, "worker")
        yield f"run {self.run}: {duration(self.ns)} on {count}; {sure}"
        rows = [self._row(n, lane) for n, lane in enumerate(self.lanes)]
        yield from aligned([HEAD, *rows], range(2, 7))
        yield f"critical path  {' → '.join(self._path())}"
        yield (f"moved {binary(self.moved)} between workers, sent {binary(self.sent)} to them, "
               f"fetched {binary(self.fetched)}")  # fmt: skip
        for gone in self.lost:
            yield f"lost {gone}: another worker did its work"
        if self.again:
            yield f"computed again: items {', '.join(map(str, self.again))}"
        yield f"Dask's dashboard  {self.dashboard}"

    def _row(self, number: int, lane: Lane) -> tuple[str, ...]:
        idle = [wait for wait in self.waits if wait.lane == number]
        items = {bar.item for bar in self.bars if bar.lane == number} - {None}
        longest = max(idle, key=lambda it: it.ns, default=None)
        why = f"{duration(longest.ns)}: {self.because(longest)}" if longest else ""
        times = (text for ns in (self.busy(number), sum(wait.ns for wait in idle))
                 for text in (duration(ns), percent(ns / max(1, self.ns))))  # fmt: skip
        return lane.name, lane.address, str(len(items)), *times, why

    def _path(self) -> list[str]:
        words = [self.words(n) for n in self.path if self.bars[n].ns or self.bars[n].nbytes]
        if len(words) <= 2 * SHOWN:
            return words
        return [*words[:SHOWN], f"… {len(words) - 2 * SHOWN} more …", *words[-SHOWN:]]


def timeline(engine: Timed, run: str | None = None) -> Timeline:
    """The timeline of the latest run of a cluster, or of the run of this name.

    Raises `DataError` if there is no such run, or its record was dropped.
    """
    if run is None and engine.noted:
        return timelines(engine, engine.noted[-1:])[0]
    records = [noted for noted in engine.noted if noted.name == run]
    if not records:
        what = "nothing has run yet" if run is None else "the run is not known any more"
        names = ", ".join(noted.name for noted in engine.noted) or "a run"
        raise DataError("timeline", what, got=str(run), expected=names)
    return timelines(engine, records)[0]


def timelines(engine: Timed, noted: Sequence[Noted]) -> list[Timeline]:
    """The timelines of these runs; each worker gets one request for all of them."""
    client = engine.client
    runs = {each.name for each in noted}
    keys = {key for each in noted for key in (each.library, *each.inputs)} - {""}
    seen: Seen = client.run(done_here, runs, keys, on_error="ignore")
    clock_of_worker = clocks(client, list(seen))
    again = [str(event["again"]) for _, event in client.get_events(TOPIC) if "again" in event]
    return [_timeline(engine, each, seen, clock_of_worker, again) for each in noted]


def _timeline(
    engine: Timed, noted: Noted, seen: Seen, clock_of: Mapping[str, Clock], again: Sequence[str]
) -> Timeline:  # fmt: skip
    """The timeline of one run, from the activity of all workers."""
    devices = _devices(engine, seen, clock_of)
    places = {at: n for n, at in enumerate(devices)}
    lanes = [Lane(", ".join(names) or at, at, clock_of[at].error if at in clock_of else 0)
             for at, names in devices.items()]  # fmt: skip
    lanes[HERE] = replace(lanes[HERE], address="this process")
    spans = [
        (places[at], _aligned(span, clock_of[at].offset - noted.begin))
        for at, (spans_there, _) in seen.items() if at in places
        for span in spans_there if span.run == noted.name
    ]  # fmt: skip
    received = [
        it for at, (_, spans_there) in seen.items() if at in places
        for it in _received(spans_there, noted, places, at, clock_of[at].offset - noted.begin)
    ]  # fmt: skip
    bars_of_run = bars(noted, spans, received, [frozenset(names) for names in devices.values()])
    return Timeline(
        noted.name, max([noted.end - noted.begin, *(bar.end for bar in bars_of_run)]),
        tuple(lanes), bars_of_run,
        _items(noted, again), tuple(noted.gone), engine.dashboard,
    )  # fmt: skip


def _devices(
    engine: Timed, seen: Seen, clock_of: Mapping[str, Clock]
) -> dict[str, tuple[str, ...]]:  # fmt: skip
    """The devices of each lane by address: the client, the cluster's workers, others that took
    over."""
    devices: dict[str, tuple[str, ...]] = {"": ("here",)}
    for name, at in zip(engine.workers, engine.addresses, strict=True):
        devices[at] = (*devices.get(at, ()), name)
    others = (at for at, (spans, _) in seen.items() if spans and at in clock_of)
    return devices | {at: () for at in others if at not in devices}


def _aligned(span: Span, offset: int) -> Span:
    return replace(span, begin=span.begin + offset, end=span.end + offset)


def _received(
    arrivals: Sequence[Arrival], noted: Noted, places: Mapping[str, int], at: str, offset: int
) -> Iterator[Received]:  # fmt: skip
    """The transfers to a worker that belong to a run, and happened during it."""
    keys = {noted.library, *noted.inputs} - {""}
    for it in arrivals:
        begin, end = it.begin + offset, it.end + offset
        is_meanwhile = end >= 0 and begin <= noted.end - noted.begin
        if noted.name in it.key.split("-") or (it.key in keys and is_meanwhile):
            yield Received(places[at], places.get(it.source), it.key, begin, end, it.nbytes)


def _items(noted: Noted, again: Sequence[str]) -> tuple[int, ...]:
    """The items of recomputed tasks."""
    keys = {key for key in again if noted.name in key.split("-")}
    steps = (step for task in noted.plan.tasks if task_key(noted, task) in keys
             for step in task.steps)  # fmt: skip
    return tuple(sorted({step.item for step in steps}))

"""bars: the activity of a run on one clock: a bar for each kernel, copy and transfer, by lane.

    lane 0, here   send 2 ─────╮                             gather 7
    DASK:1                     ╰▶ move 2  k0 4  move 5 ─╮
    DASK                                                ╰▶ transfer 5  move 5  k1 6

`needs` of a bar are the bars that had to end before it began: by the schedule's dependencies, and
by the inputs of its task. The bar before it on its lane is not among them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from compiler.core.text import counted
from compiler.distributed.noted import Noted
from compiler.distributed.tasks import FromTask, Source, Task
from compiler.distributed.work import Launch, Span

HERE = 0
"""The lane of the client; workers follow."""
Kind: TypeAlias = Literal["kernel", "move", "compile", "transfer", "send", "submit", "gather"]
DOING = ("kernel", "move", "compile")
"""The kinds of bars that occupy a worker; transfers to it run at the same time."""
KINDS: dict[str, Kind] = {"kernel": "kernel", "move": "move", "compile": "compile"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One activity of a lane from `begin` to `end`, in nanoseconds since the start of the run.

    A transfer is in the lane that received `nbytes` from lane `source`. `needs` are numbers of
    bars. `item` is None for activity of no item: inputs that are sent, the kernels' code.
    """

    lane: int
    kind: Kind
    begin: int
    end: int
    item: int | None
    name: str
    nbytes: int = 0
    source: int | None = None
    needs: tuple[int, ...] = ()

    @property
    def ns(self) -> int:
        """Its length."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Received:
    """Data that a lane received from another one; `begin` and `end` are on the client's clock."""

    lane: int
    source: int | None
    key: str
    begin: int
    end: int
    nbytes: int


_Row: TypeAlias = tuple[Bar, str, tuple[int, ...]]
"""A bar, the key of its data, the tasks that it submitted to Dask."""


@dataclass(slots=True)
class _Data:
    """Data with a key: their producer and their readers."""

    maker: Task | None = None
    readers: list[tuple[Task, int]] = field(default_factory=list)
    """Tasks, and the item that reads it."""


def bars(
    noted: Noted, spans: Sequence[tuple[int, Span]], received: Iterable[Received],
    devices: Sequence[frozenset[str]],
) -> tuple[Bar, ...]:  # fmt: skip
    """The bars of a run, in order of time; spans are (lane, span) on the client's clock.

    `devices` are the devices of each lane.
    """
    return _Run(noted, devices).bars(spans, received)


class _Run:
    """The bars of a run while they are built."""

    def __init__(self, noted: Noted, devices: Sequence[frozenset[str]]) -> None:
        self.noted, self.devices = noted, devices
        self.data = _data(noted)
        self.tasks_of: dict[int, list[Task]] = {}
        for task in noted.plan.tasks:
            for item in {step.item for step in task.steps}:
                self.tasks_of.setdefault(item, []).append(task)
        self.made: list[Bar] = []
        self.keys: list[str] = []
        self.by_item: dict[int, list[int]] = {}
        self.by_key: dict[str, list[int]] = {}
        self.given: dict[int, int] = {}
        """For each task, by number, the bar that submitted it to Dask."""

    def bars(
        self, spans: Sequence[tuple[int, Span]], received: Iterable[Received]
    ) -> tuple[Bar, ...]:  # fmt: skip
        """See `bars`."""
        rows = [*self._here(), *_cut(spans, self._name), *(self._came(it) for it in received)]
        rows.sort(key=lambda row: (row[0].begin, row[0].end))
        for bar, key, tasks in rows:
            self.given |= dict.fromkeys(tasks, len(self.made))
            self._keep(bar, key)
        whole = [replace(bar, needs=self._needs(n, bar)) for n, bar in enumerate(self.made)]
        return tuple(_fetched(bar, whole) if bar.kind == "gather" else bar for bar in whole)

    def _keep(self, bar: Bar, key: str) -> None:
        number = len(self.made)
        self.made.append(bar)
        self.keys.append(key)
        if bar.item is not None:
            self.by_item.setdefault(bar.item, []).append(number)
        if key:
            self.by_key.setdefault(key, []).append(number)

    def _name(self, item: int | None) -> str:
        title = None if item is None else self.noted.items.get(item)
        return title.operation.name if title else ""

    def _here(self) -> Iterable[_Row]:
        begin = self.noted.begin
        for it in self.noted.here:
            other = counted(len(it.tasks), "task") if it.tasks else "an input"
            name = self._name(it.item) or other
            bar = Bar(HERE, it.kind, it.begin - begin, it.end - begin, it.item, name, it.nbytes)
            yield bar, it.key, it.tasks

    def _came(self, it: Received) -> _Row:
        readers = self.data[it.key].readers if it.key in self.data else []
        here = [item for task, item in readers if task.device in self.devices[it.lane]]
        item = next(iter(here or [item for _, item in readers]), None)
        is_code = it.key == self.noted.library
        name = "kernels" if is_code else self._name(item)
        nbytes = 0 if is_code else it.nbytes  # Dask does not know what an object of ours takes
        bar = Bar(it.lane, "transfer", it.begin, it.end, item, name, nbytes, it.source)
        return bar, it.key, ()

    def _needs(self, number: int, bar: Bar) -> tuple[int, ...]:
        """The bars that must end before a bar begins."""
        if bar.kind == "compile":
            return tuple(self._came_in(bar.lane, self.noted.library))
        if bar.kind in ("send", "submit"):
            return ()
        if bar.kind == "transfer":
            needs = self._makers(bar, self.keys[number])
        else:
            needs = [*self._before(bar), *self._given(bar)]
        return tuple(dict.fromkeys(n for n in needs if n != number))

    def _before(self, bar: Bar) -> Iterable[int]:
        """The bars of items that an item depends on; for a fetch, the bar that packed the data."""
        assert bar.item is not None
        item = self.noted.items.get(bar.item)
        for other in item.depends_on if item else ():
            yield from (n for n in self.by_item.get(other, ()) if self.made[n].kind != "send")
        if bar.kind == "gather":
            yield from (n for n in self.by_item[bar.item] if self.made[n].kind in DOING)

    def _given(self, bar: Bar) -> Iterable[int]:
        """The transfers to this lane for the inputs of a step's task."""
        if bar.item is None or bar.lane == HERE:
            return
        if bar.kind == "kernel":
            yield from self._came_in(bar.lane, self.noted.library)
        for task in self.tasks_of.get(bar.item, ()):
            if task.device in self.devices[bar.lane]:
                yield from [self.given[task.number]] if task.number in self.given else ()
                for source in task.inputs.values():
                    yield from self._came_in(bar.lane, self.noted.key(source))

    def _came_in(self, lane: int, key: str) -> list[int]:
        """The transfers of a key to a lane: from the client, or from another lane."""
        return [n for n in self.by_key.get(key, ()) if self.made[n].lane in (HERE, lane)]

    def _makers(self, bar: Bar, key: str) -> list[int]:
        """The bars on the source lane that computed, or sent, the data of a transfer."""
        sent = [n for n in self.by_key.get(key, ()) if self.made[n].kind == "send"]
        data = self.data.get(key)
        steps = data.maker.steps if data and data.maker else ()
        return sent + [
            n for item in dict.fromkeys(step.item for step in steps)
            for n in self.by_item.get(item, ())
            if self.made[n].lane == bar.source and self.made[n].kind in DOING
        ]  # fmt: skip


def _data(noted: Noted) -> Mapping[str, _Data]:
    """The data that are sent, by key."""
    by_key: dict[str, _Data] = {}
    for task in noted.plan.tasks:
        for register, source in task.inputs.items():
            key = noted.key(source)
            if key:
                data = by_key.setdefault(key, _Data(_maker(noted, source)))
                data.readers.append((task, _reader(task, register)))
    return by_key


def _maker(noted: Noted, source: Source) -> Task | None:
    return noted.plan.tasks[source.task] if isinstance(source, FromTask) else None


def _reader(task: Task, register: int) -> int:
    """The first item of a task that reads a register."""
    for step in task.steps:
        read = step.registers if isinstance(step, Launch) else (step.source, step.target)
        if register in read:
            return step.item
    return task.steps[0].item


def _cut(spans: Sequence[tuple[int, Span]], name: Callable[[int | None], str]) -> Iterable[_Row]:
    """The bars of spans; a kernel that was compiled on its first call begins after the
    compilation."""
    ends: dict[tuple[int, int], list[int]] = {}
    for lane, it in spans:
        if it.kind == "compile":
            ends.setdefault((lane, it.item), []).append(it.end)
    for lane, it in spans:
        inside = [end for end in ends.get((lane, it.item), ()) if it.begin <= end <= it.end]
        begin = max(inside, default=it.begin) if it.kind == "kernel" else it.begin
        yield Bar(lane, KINDS[it.kind], begin, it.end, it.item, name(it.item)), "", ()


def _fetched(bar: Bar, whole: Sequence[Bar]) -> Bar:
    """The bar without its wait: it begins when the data that it fetches are there."""
    ready = [whole[n].end for n in bar.needs if whole[n].end <= bar.end]
    return replace(bar, begin=max([bar.begin, *ready]))

"""The items of a schedule as data for the page: operations in lanes, what they wait for, loops.

Buffers, items and lanes are referred to by position; times are nanoseconds from the start of the
program, `bound` is what most of the estimate is. The items of one call that a loop repeats
are a loop of the page.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.scene import rounded

if TYPE_CHECKING:
    from compiler.core.node import Node
    from compiler.graph.nodes import Buffer
    from compiler.schedule.analysis.own_work import OwnWork
    from compiler.schedule.items import Fixed, ItemAnalysis, Operation, ScheduleItem
    from compiler.schedule.printer import Schedule
    from svodviz.data import records

HOST = "host"
Fact: TypeAlias = str | int | float | Sequence[int] | Sequence[str] | None
"""A value that the inspector lists of an operation or its analysis."""


class Buffers:
    """Numbers the buffers of a schedule in the order of their first mention."""

    def __init__(self, entities: Entities, names: "dict[Node, str]") -> None:
        self.entities = entities
        self.known = names
        self.rows: list[records.BufferRow] = []
        self._numbers: dict[Buffer, int] = {}

    def number(self, buffer: "Buffer") -> int:
        """The buffer's position in the table; it descends from its node in the kernel graph."""
        number = self._numbers.setdefault(buffer, len(self._numbers))
        if number == len(self.rows):
            parents = (self.known[buffer],) if buffer in self.known else ()
            entity = self.entities.number(f"schedule:buffer {number}", parents)
            self.rows.append(_buffer(entity, buffer))
        return number


def _buffer(entity: int, buffer: "Buffer") -> "records.BufferRow":
    shape = f"[{','.join(map(str, buffer.shape))}]"
    return {
        "e": entity,
        "name": visible(buffer.name or shape),
        "dtype": visible(buffer.dtype.short),
        "shape": visible(shape),
        "bytes": buffer.nbytes,
        "device": visible(buffer.device),
        # Numbers below zero are those the compiler gives to what the program itself makes.
        "made": buffer.unique < 0,
    }


def word_of(operation: "Operation") -> str:
    """The page's word for an operation: kernel, transfer, sync, callback."""
    from compiler.schedule.items import WORDS

    return WORDS[type(operation)]


def lane_of(operation: "Operation") -> str:
    """The lane an operation is drawn in: its device, of a copy the one that receives."""
    from compiler.schedule.items import HostCallback, Kernel, MemoryTransfer, Synchronization

    match operation:
        case Kernel():
            return visible(operation.device)
        case MemoryTransfer():
            return visible(operation.destination_device)
        case Synchronization() | HostCallback():
            return HOST


def lanes_of(items: "Iterable[ScheduleItem]") -> list[str]:
    """The lanes of a schedule: devices by name and number, the host last."""
    lanes = {lane_of(item.operation) for item in items}
    return sorted(lanes, key=lambda lane: (lane == HOST, _parts(lane)))


def _parts(lane: str) -> tuple[str, int, str]:
    """`CPU:10` behind `CPU:2`."""
    name, _, number = lane.partition(":")
    return name, int(number) if number.isdecimal() else -1, number


def item_row(
    schedule: "Schedule", position: int, lanes: list[str], buffers: Buffers, tasks: int = 1
) -> "records.ItemRow":
    """One row of the table of items; `tasks` is by how many runs its work is shared."""
    item = schedule.items[position]
    operation, cost, time = item.operation, schedule.analysis[position], schedule.times[position]
    title = schedule.titles.get(position)
    called: records.Titled = {"title": visible(str(title))} if title else {}
    return {
        "e": buffers.entities.number(schedule.entity(item.item_id)),
        "op": word_of(operation),
        "name": visible(operation.name),
        **called,
        "lane": lanes.index(lane_of(operation)),
        "args": _arguments(operation, buffers),
        "fixed": [(visible(name), value) for name, value in fixed_of(operation)],
        "facts": [*_facts(operation), *_loops_of(schedule, position, cost)],
        "flops": cost.flops,
        "read": cost.bytes_read,
        "written": cost.bytes_written,
        "ns": rounded(cost.estimated_ns),
        "bound": visible(cost.bound),
        "cost": rounded(time.cost),
        "start": rounded(time.earliest_start),
        "late": rounded(time.latest_start),
        "critical": time.is_critical,
        "tasks": tasks,
    }


def fixed_of(operation: "Operation") -> "Fixed":
    """The loop counters an operation is run with."""
    from compiler.schedule.items import HostCallback, Kernel

    return operation.fixed if isinstance(operation, Kernel | HostCallback) else ()


def _arguments(operation: "Operation", buffers: Buffers) -> "list[tuple[int, records.Use]]":
    reads, writes = operation.reads, operation.writes
    arguments = dict.fromkeys((*operation.arguments, *writes, *reads))
    return [(buffers.number(it), _use(it in reads, it in writes)) for it in arguments]


def _use(is_read: bool, is_written: bool) -> "records.Use":
    if is_read:
        return "in out" if is_written else "in"
    return "out" if is_written else ""


def _facts(operation: "Operation") -> list[tuple[str, str]]:
    """Further facts of an operation: its attributes other than its buffers."""
    facts = (("device", ", ".join(operation.devices) or "CPU"), *_details(operation))
    return [(name, visible(_words(it))) for name, it in facts if _is_shown(it)]


def _details(operation: "Operation") -> tuple[tuple[str, Fact], ...]:
    from compiler.schedule.items import HostCallback, Kernel, MemoryTransfer, Synchronization

    match operation:
        case Kernel():
            return (("variables", operation.variables),)
        case HostCallback():
            return (("function", operation.function),)
        case Synchronization():
            event = None if operation.event is None else str(operation.event)
            return (
                ("kind", operation.kind), ("event", event),
                ("waits for it", operation.is_wait), ("scope", operation.scope),
                ("stream", operation.stream),
            )  # fmt: skip
        case MemoryTransfer():
            return (
                ("elements", operation.dims),
                ("from device", operation.source_device),
                ("to device", operation.destination_device),
                ("source strides", operation.source_strides),
                ("destination strides", operation.destination_strides),
                ("source offset", operation.source_offset),
                ("destination offset", operation.destination_offset),
                ("bytes copied", operation.nbytes),
                ("asynchronous", operation.is_async),
                ("stream", operation.stream),
            )


def _is_shown(value: Fact) -> bool:
    """False, 0 and empty are the defaults of these fields."""
    return bool(value)


def _loops_of(schedule: "Schedule", position: int, cost: "ItemAnalysis") -> list[tuple[str, str]]:
    """A kernel's registers and iteration space, where the schedule knows its loops."""
    loops: tuple[tuple[str, Fact], ...] = (
        ("registers", cost.registers), ("in vectors", cost.occupancy)
    )  # fmt: skip
    rows = [(name, _words(it)) for name, it in loops if _is_shown(it)]
    space = schedule.spaces[position] if position < len(schedule.spaces) else None
    rows += [("iteration space", line) for line in str(space or "").splitlines()]
    return [(name, visible(text)) for name, text in rows]


def _words(value: Fact) -> str:
    if value is True:
        return "yes"
    if isinstance(value, float):
        return f"{100 * value:.0f} %"
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else ", ".join(map(str, value or ()))


def dependency_rows(schedule: "Schedule", buffers: Buffers) -> "list[records.DependencyRow]":
    """The table of dependencies; those without slack are critical."""
    from compiler.schedule.analysis.costs import is_critical

    place = {item.item_id: position for position, item in enumerate(schedule.items)}
    times = schedule.times
    rows = []
    for edge in schedule.dependencies:
        source, target = place[edge.producer], place[edge.consumer]
        is_tight = is_critical(times[source], times[target])
        numbers = [buffers.number(it) for it in edge.buffers]
        rows.append((source, target, visible(edge.kind), numbers, edge.nbytes, is_tight))
    return rows


def loop_rows(schedule: "Schedule") -> "list[records.LoopItems]":
    """The loops that were unrolled: items that come from one call of the kernel graph."""
    rows: dict[tuple[object, ...], list[int]] = {}
    for position, item in enumerate(schedule.items):
        operation, parents = item.operation, tuple(schedule.parents[position])
        if parents or fixed_of(operation):
            names = tuple(name for name, _ in fixed_of(operation))
            key = (parents, word_of(operation), operation.name, lane_of(operation), names)
            rows.setdefault(key, []).append(position)
    return [
        {"label": _label([fixed_of(schedule.items[it].operation) for it in positions]),
         "items": positions}
        for positions in rows.values() if len(positions) > 1
    ]  # fmt: skip


def share_rows(schedule: "Schedule", entities: Entities) -> "list[records.SharedWork]":
    """The nodes that do the work of each item, computed once for items of one call."""
    rows: dict[tuple[tuple[str, OwnWork], ...], list[int]] = {}
    for position, row in enumerate(schedule.shares):
        rows.setdefault(row, []).append(position)
    return [
        {"items": positions,
         "nodes": [(entities.number(entity), it.time, it.operations, it.read, it.written)
                   for entity, it in row]}
        for row, positions in rows.items()
    ]  # fmt: skip


def _label(counters: "list[Fixed]") -> str:
    """`i = 0 … 9` or, where no counter is bound, `iterations 0 … 9`."""
    if not counters[0]:
        return f"iterations {_range(tuple(range(len(counters))))}"
    names = [name for name, _ in counters[0]]
    columns = list(zip(*([value for _, value in row] for row in counters), strict=True))
    return ", ".join(
        f"{visible(name)} = {_range(values)}" for name, values in zip(names, columns, strict=True)
    )


def _range(values: tuple[int, ...]) -> str:
    few = list(dict.fromkeys(values))
    return ", ".join(map(str, few)) if len(few) <= 4 else f"{few[0]} … {few[-1]}"

"""The items of a schedule as data for the page: operations in lanes, what they wait for, loops.

    buffer      {"e", "name", "dtype", "shape", "bytes", "device", "made"}
    item        {"e", "op", "name", "lane", "args": [[buffer, "in" | "out" | "in out"]],
                 "fixed": [[variable, value]], "facts": [[name, text]], "flops", "read", "written",
                 "ns", "bound", "cost", "start", "late", "critical", "tasks"}
    dependency  [from, to, kind, [buffer], bytes, critical]
    loop        {"label", "items": [item]}       the turns of one call that a loop repeats

Buffers, items and lanes are referred to by position; times are nanoseconds from the start of the
program, `bound` is what most of the estimate is. Only public data of the schedule is read, so
operations of any kind can be shown.
"""

from typing import Any

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.scene import Wire, plain

HOST = "host"
WORDS = {
    "Kernel": "kernel",
    "MemoryTransfer": "transfer",
    "Synchronization": "sync",
    "HostCallback": "callback",
}
# Fields of operations that the inspector lists as they are, by the words it uses for them.
FACTS = (
    ("function", "function"),
    ("kind", "kind"),
    ("event", "event"),
    ("is_wait", "waits for it"),
    ("scope", "scope"),
    ("dims", "elements"),
    ("source_device", "from device"),
    ("destination_device", "to device"),
    ("source_strides", "source strides"),
    ("destination_strides", "destination strides"),
    ("source_offset", "source offset"),
    ("destination_offset", "destination offset"),
    ("nbytes", "bytes copied"),
    ("is_async", "asynchronous"),
    ("stream", "stream"),
    ("variables", "variables"),
)
# The same of their analysis.
COSTS = (("registers", "registers"), ("occupancy", "in vectors"))


class Buffers:
    """Numbers the buffers of a schedule in the order of their first mention."""

    def __init__(self, entities: Entities, known: dict[Any, str]) -> None:
        self.entities = entities
        self.known = known
        self.rows: list[Wire] = []
        self._numbers: dict[Any, int] = {}

    def number(self, buffer: Any) -> int:
        """The buffer's position in the table; it descends from its node in the kernel graph."""
        number = self._numbers.setdefault(buffer, len(self._numbers))
        if number == len(self.rows):
            parents = (self.known[buffer],) if buffer in self.known else ()
            entity = self.entities.number(f"schedule:buffer {number}", parents)
            self.rows.append({"e": entity, **_buffer(buffer)})
        return number


def _buffer(buffer: Any) -> Wire:
    shape = f"[{','.join(map(str, buffer.shape))}]"
    return {
        "name": visible(buffer.name or shape),
        "dtype": visible(getattr(buffer.dtype, "short", buffer.dtype)),
        "shape": visible(shape),
        "bytes": int(buffer.nbytes),
        "device": visible(getattr(buffer, "device", "CPU")),
        # Numbers below zero are those the compiler gives to what the program itself makes.
        "made": getattr(buffer, "unique", 0) < 0,
    }


def word_of(operation: Any) -> str:
    """What the page calls an operation: kernel, transfer, sync, callback."""
    name = type(operation).__name__
    return WORDS.get(name, visible(name.lower()))


def devices_of(operation: Any) -> tuple[str, ...]:
    """The devices an operation works on."""
    found = getattr(operation, "devices", None) or (getattr(operation, "device", ""),)
    return tuple(str(it) for it in found if it) or ("CPU",)


def lane_of(operation: Any) -> str:
    """The lane an operation is drawn in: its device, of a copy the one that receives."""
    if word_of(operation) in ("callback", "sync"):
        return HOST
    target = getattr(operation, "destination_device", "")
    return visible(target or devices_of(operation)[0])


def lanes_of(items: Any) -> list[str]:
    """The lanes of a schedule: devices by name and number, the host last."""
    found = {lane_of(item.operation) for item in items}
    return sorted(found, key=lambda lane: (lane == HOST, _parts(lane)))


def _parts(lane: str) -> tuple[str, int, str]:
    """`CPU:10` behind `CPU:2`."""
    name, _, number = lane.partition(":")
    return name, int(number) if number.isdecimal() else -1, number


def item_row(
    schedule: Any, position: int, lanes: list[str], buffers: Buffers, tasks: int = 1
) -> Wire:
    """One row of the table of items; `tasks` is by how many runs its work is shared."""
    item = schedule.items[position]
    operation, cost, time = item.operation, schedule.analysis[position], schedule.times[position]
    return {
        "e": buffers.entities.number(schedule.entity(item.item_id)),
        "op": word_of(operation),
        "name": visible(operation.name),
        "lane": lanes.index(lane_of(operation)),
        "args": _arguments(operation, buffers),
        "fixed": [[visible(name), int(value)] for name, value in fixed_of(operation)],
        "facts": [*_facts(operation), *_loops_of(schedule, position, cost)],
        "flops": int(cost.flops),
        "read": int(cost.bytes_read),
        "written": int(cost.bytes_written),
        "ns": plain(cost.estimated_ns),
        "bound": visible(getattr(cost, "bound", "")),
        "cost": plain(time.cost),
        "start": plain(time.earliest_start),
        "late": plain(time.latest_start),
        "critical": is_tight(time),
        "tasks": tasks,
    }


def is_tight(time: Any) -> bool:
    """Whether an item is critical: on the critical path, or on another one as long."""
    return bool(time.earliest_start == time.latest_start)


def fixed_of(operation: Any) -> tuple[tuple[str, int], ...]:
    """The loop counters an operation is run with."""
    return tuple(getattr(operation, "fixed", ()))


def _arguments(operation: Any, buffers: Buffers) -> list[list[Any]]:
    reads, writes = tuple(operation.reads), tuple(operation.writes)
    found = dict.fromkeys((*operation.arguments, *writes, *reads))
    return [
        [buffers.number(it), " ".join(
            word for word, side in (("in", reads), ("out", writes)) if it in side)]
        for it in found
    ]  # fmt: skip


def _facts(operation: Any) -> list[list[str]]:
    rows = [["device", ", ".join(devices_of(operation))]]
    for name, words in FACTS:
        value = getattr(operation, name, None)
        # False, 0 and empty are the defaults of these fields: only an event may be number 0.
        if value is None or (not value and name != "event"):
            continue
        rows.append([words, _words(value)])
    return [[words, visible(text)] for words, text in rows]


def _loops_of(schedule: Any, position: int, cost: Any) -> list[list[str]]:
    """A kernel's registers and iteration space, where the schedule knows its loops."""
    rows = [[words, _words(getattr(cost, name))] for name, words in COSTS if getattr(cost, name, 0)]
    spaces = getattr(schedule, "spaces", ())
    space = spaces[position] if position < len(spaces) else None
    rows += [["iteration space", line] for line in str(space or "").splitlines()]
    return [[words, visible(text)] for words, text in rows]


def _words(value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{100 * value:.0f} %"
    return f"{value:,}" if isinstance(value, int) else str(value)


def dependency_rows(schedule: Any, buffers: Buffers) -> list[list[Any]]:
    """The table of dependencies; critical are those along which no time is to spare."""
    place = {item.item_id: position for position, item in enumerate(schedule.items)}
    times = schedule.times
    tight = [is_tight(it) for it in times]
    rows = []
    for edge in schedule.dependencies:
        source, target = place[edge.producer], place[edge.consumer]
        ends = times[source].earliest_start + times[source].cost
        is_next = ends == times[target].earliest_start
        is_critical = is_next and tight[source] and tight[target]
        numbers = [buffers.number(it) for it in edge.buffers]
        rows.append([source, target, visible(edge.kind), numbers, int(edge.nbytes), is_critical])
    return rows


def loop_rows(schedule: Any) -> list[Wire]:
    """The loops that were unrolled: items that come from one call of the kernel graph."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for position, item in enumerate(schedule.items):
        operation, parents = item.operation, tuple(schedule.parents[position])
        if parents or fixed_of(operation):
            names = tuple(name for name, _ in fixed_of(operation))
            key = (parents, word_of(operation), operation.name, lane_of(operation), names)
            found.setdefault(key, []).append(position)
    return [
        {"label": _label([fixed_of(schedule.items[it].operation) for it in positions]),
         "items": positions}
        for positions in found.values() if len(positions) > 1
    ]  # fmt: skip


def _label(counters: list[tuple[tuple[str, int], ...]]) -> str:
    """`i = 0 … 9` or, where no counter is bound, `turns 0 … 9`."""
    if not counters[0]:
        return f"turns {_range(tuple(range(len(counters))))}"
    names = [name for name, _ in counters[0]]
    columns = list(zip(*([value for _, value in row] for row in counters), strict=True))
    return ", ".join(
        f"{visible(name)} = {_range(values)}" for name, values in zip(names, columns, strict=True)
    )


def _range(values: tuple[int, ...]) -> str:
    few = list(dict.fromkeys(values))
    return ", ".join(map(str, few)) if len(few) <= 4 else f"{few[0]} … {few[-1]}"

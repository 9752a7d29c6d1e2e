"""The invariants of the schedule: items and their dependencies.

Their numbers continue those of the kernel graph in `verify.py`, which lists them all.
"""

from collections.abc import Container, Sequence
from typing import NoReturn

from compiler.core.errors import InternalError
from compiler.graph.devices import is_disk
from compiler.graph.nodes import Buffer
from compiler.schedule.dependencies import conflicts
from compiler.schedule.items import (
    Dependency,
    ItemAnalysis,
    Kernel,
    MemoryTransfer,
    ScheduleItem,
    Synchronization,
)
from compiler.schedule.kahn import kahn
from compiler.schedule.regions import problem_of


def verify_items(items: Sequence[ScheduleItem], dependencies: Sequence[Dependency]) -> None:
    """Check invariants 8 to 13 and 15 to 17 of a schedule by itself."""
    for index, item in enumerate(items):
        if item.item_id != index:
            broken(8, f"item {item.item_id} is not at its index", index, item.item_id)
    _numbers(items, dependencies)
    _agreement(items, dependencies)
    _sequence(items)
    for dependency in dependencies:
        _reason(items, dependency)
    _conflicts(items)
    _operations(items)


def broken(number: int, what: str, got: object, expected: object) -> NoReturn:
    """Raise the error that names the invariant."""
    raise InternalError(
        "schedule", f"invariant {number}: {what}", got=str(got), expected=str(expected)
    )


def _numbers(items: Sequence[ScheduleItem], dependencies: Sequence[Dependency]) -> None:
    """Invariant 9."""
    for item in items:
        for name, ids in (("depends_on", item.depends_on), ("dependents", item.dependents)):
            where = f"{name} of item {item.item_id}"
            if any(not 0 <= i < len(items) for i in ids):
                broken(9, f"{where}: out of range", ids, f"0 … {len(items) - 1}")
            if item.item_id in ids:
                broken(9, f"{where}: the item itself", ids, "other items")
            if list(ids) != sorted(set(ids)):
                broken(9, f"{where}: not sorted, or repeated", ids, sorted(set(ids)))
    for each in dependencies:
        for end in (each.producer, each.consumer):
            if not 0 <= end < len(items):
                broken(9, "a dependency is out of range", end, f"0 … {len(items) - 1}")
        if each.producer == each.consumer:
            broken(9, "a dependency of an item on itself", each.producer, "two items")


def _agreement(items: Sequence[ScheduleItem], dependencies: Sequence[Dependency]) -> None:
    """Invariant 10."""
    before = {(d, item.item_id) for item in items for d in item.depends_on}
    after = {(item.item_id, d) for item in items for d in item.dependents}
    stated = {(d.producer, d.consumer) for d in dependencies}
    for name, edges in (("dependents", after), ("dependencies", stated)):
        if edges != before:
            a, b = min(edges ^ before)
            has = "depends_on" if (a, b) in before else name
            lacks = name if has == "depends_on" else "depends_on"
            broken(10, "the dependencies disagree", f"{a} → {b} in {has}", f"it in {lacks} too")


def _sequence(items: Sequence[ScheduleItem]) -> None:
    """Invariant 11."""
    edges = [(d, item.item_id) for item in items for d in item.depends_on]
    try:
        kahn(len(items), edges)
    except InternalError as error:
        broken(11, "the items wait for each other", error.got, "no cycle")
    for producer, consumer in edges:
        if producer > consumer:
            what = f"item {producer} stands after item {consumer}, which needs it"
            broken(11, what, f"{producer} → {consumer}", "producers first")


def _reason(items: Sequence[ScheduleItem], dependency: Dependency) -> None:
    """Invariant 12."""
    first = items[dependency.producer].operation
    second = items[dependency.consumer].operation
    shared: set[Buffer] = set()
    match dependency.kind:
        case "data":
            shared = {*first.writes} & {*second.reads}
        case "anti":
            shared = {*first.reads} & {*second.writes}
        case "output":
            shared = {*first.writes} & {*second.writes}
    is_wrong = not dependency.buffers if shared else dependency.kind != "control"
    if is_wrong or not set(dependency.buffers) <= shared:
        edge = f"{dependency.producer} → {dependency.consumer}"
        names = ", ".join(b.name for b in dependency.buffers) or "no buffer"
        expected = ", ".join(sorted(b.name for b in shared)) or "no buffer"
        broken(12, f"dependency {edge} is not of kind {dependency.kind}", names, expected)


def _conflicts(items: Sequence[ScheduleItem]) -> None:
    """Invariant 13: it suffices to check the last write, and the reads since."""
    accesses = [(item.operation.reads, item.operation.writes) for item in items]
    ancestors = _Ancestors(items)
    for second, edges in enumerate(conflicts(accesses)):
        for first, reasons in edges.items():
            if first not in items[second].depends_on and first not in ancestors.of(second):
                buffer = next(b for buffers in reasons.values() for b in buffers)
                what = f"item {second} does not wait for item {first}, over {buffer.name}"
                broken(13, what, items[second].depends_on, f"{first} among them")


class _Ancestors:
    """The transitive dependencies of items, computed on demand."""

    def __init__(self, items: Sequence[ScheduleItem]) -> None:
        self._items = items
        self._bits: list[int] = []

    def of(self, item: int) -> Container[int]:
        """All items that an item depends on, directly or through others."""
        while len(self._bits) <= item:
            count = 0
            for d in self._items[len(self._bits)].depends_on:
                count |= self._bits[d] | 1 << d
            self._bits.append(count)
        bits = self._bits[item]
        return {i for i in range(item) if bits >> i & 1}


def _operations(items: Sequence[ScheduleItem]) -> None:
    """Invariants 15, 16 and 17."""
    for item in items:
        match item.operation:
            case MemoryTransfer() as transfer:
                _transfer(transfer)
            case Synchronization() as synchronization:
                _event(items, item.item_id, synchronization)
            case Kernel(name=name, device=device, arguments=arguments):
                devices = {b.device for b in arguments if not is_disk(b.device)}
                if not devices <= {device}:
                    others = " ".join(sorted(devices))
                    broken(17, f"kernel {name} is not where its buffers are", device, others)


def _transfer(transfer: MemoryTransfer) -> None:
    source, destination, region = transfer.source, transfer.destination, transfer.region
    where = f"transfer {transfer.name}"
    problem = problem_of(region, destination, source)
    if problem:
        broken(15, f"{where}: {problem.what}", problem.got, problem.expected)
    stated = transfer.source_device, transfer.destination_device
    if stated != (source.device, destination.device):
        broken(15, f"{where}: other devices", stated, (source.device, destination.device))
    if transfer.nbytes != region.size * source.dtype.itemsize:
        expected = region.size * source.dtype.itemsize
        broken(15, f"{where}: another number of bytes", transfer.nbytes, expected)


def _event(items: Sequence[ScheduleItem], place: int, event: Synchronization) -> None:
    has_number = event.event is not None
    if has_number != (event.kind == "event"):
        broken(16, f"{event.kind} {event.name}", event.event, "a number for an event only")
    if not event.is_wait:
        return
    before = _Ancestors(items).of(place)
    for other in items[:place]:
        signal = other.operation
        if not isinstance(signal, Synchronization) or signal.is_wait:
            continue
        if signal.event == event.event and other.item_id in before:
            return
    what = f"item {place} waits for event {event.event}, which no item before it signals"
    broken(16, what, items[place].depends_on, "an item that signals it among them")


def verify_analysis(items: Sequence[ScheduleItem], analysis: Sequence[ItemAnalysis]) -> None:
    """Check invariant 14."""
    got, expected = [row.item_id for row in analysis], [item.item_id for item in items]
    if got != expected:
        broken(14, "there is not one row of analysis per item", got, expected)

"""levels: the topological levels of a schedule. Items of one level depend on earlier levels only.

    level(i) = 0 if item i waits for nothing, else 1 + the greatest level that it waits for

Two items of one level may run at once unless they touch the same storage and one writes it.
"""

from collections.abc import Mapping, Sequence

from compiler.core.errors import ScheduleError
from compiler.graph.nodes import Buffer
from compiler.schedule.items import ScheduleItem


def levels(items: Sequence[ScheduleItem]) -> tuple[tuple[int, ...], ...]:
    """The item ids of each level, ascending: Kahn's algorithm, one level at a time.

    The order of the items does not matter. Raises `ScheduleError` for a repeated id, for a
    dependency on an id that does not exist, and for a cycle.
    """
    by_id = _by_id(items)
    waiting = {i: len(set(item.depends_on)) for i, item in by_id.items()}
    after: dict[int, list[int]] = {i: [] for i in by_id}
    for item in items:
        for producer in set(item.depends_on):
            after[producer].append(item.item_id)
    level = sorted(i for i, count in waiting.items() if not count)
    result: list[tuple[int, ...]] = []
    while level:
        result.append(tuple(level))
        level = _freed(level, after, waiting)
    left = sorted(set(by_id).difference(*result))
    if left:
        raise ScheduleError("levels", "items wait for each other", got=", ".join(map(str, left)))
    return tuple(result)


def _freed(
    level: Sequence[int], after: dict[int, list[int]], waiting: dict[int, int]
) -> list[int]:
    """The items that become free once this level has run."""
    result: list[int] = []
    for item in level:
        for other in after[item]:
            waiting[other] -= 1
            if not waiting[other]:
                result.append(other)
    return sorted(result)


def _by_id(items: Sequence[ScheduleItem]) -> dict[int, ScheduleItem]:
    """The items by id; checks that ids are unique and dependencies exist."""
    by_id: dict[int, ScheduleItem] = {}
    for item in items:
        if item.item_id in by_id:
            raise ScheduleError("levels", "two items have one id", got=f"item {item.item_id} twice")
        by_id[item.item_id] = item
    for item in items:
        unknown = [d for d in item.depends_on if d not in by_id]
        if unknown:
            what = f"item {item.item_id} waits for an item that does not exist"
            expected = f"an id among {', '.join(map(str, by_id))}"
            raise ScheduleError("levels", what, got=str(unknown[0]), expected=expected)
    return by_id


def levels_to_run(items: Sequence[ScheduleItem]) -> tuple[tuple[int, ...], ...]:
    """The levels; if a synchronisation orders other items, each item is a level of its own."""
    if all(item.operation.arguments for item in items):
        return levels(items)
    levels(items)  # refuses wrong ids
    return tuple((item.item_id,) for item in items)


def level_of(by_level: Sequence[Sequence[int]]) -> dict[int, int]:
    """The number of the level of each item."""
    return {item: number for number, level in enumerate(by_level) for item in level}


def groups(
    items: Mapping[int, ScheduleItem], level: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """The items of a level, split into groups without conflicts; groups run in order.

    Two items conflict if they touch the same storage and one of them writes it.
    """
    result: list[list[int]] = []
    written: dict[Buffer, int] = {}
    touched: dict[Buffer, int] = {}
    """For each buffer, the last group with an item that writes, or touches, it."""
    for item in level:
        reads, writes = items[item].operation.reads, items[item].operation.writes
        behind = [written[b] for b in reads if b in written]
        behind += [touched[b] for b in writes if b in touched]
        place = max(behind, default=-1) + 1
        if place == len(result):
            result.append([])
        result[place].append(item)
        for buffer in writes:
            written[buffer] = max(written.get(buffer, 0), place)
        for buffer in (*reads, *writes):
            touched[buffer] = max(touched.get(buffer, 0), place)
    return tuple(map(tuple, result))

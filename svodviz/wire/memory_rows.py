"""The memory of a schedule as data for the page: live bytes per item, and the planned places.

`alive` counts the buffers of the program itself; inputs are alive throughout and counted apart.
`after` are the places whose memory is used again. Levels are those of the plan, sizes bytes; a
place without an offset is not in the shared arena.
"""

from itertools import accumulate
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible
from svodviz.wire.items import Buffers
from svodviz.wire.reasons import number_rows

if TYPE_CHECKING:
    from compiler.graph.nodes import Buffer
    from compiler.schedule.analysis.places import Place
    from compiler.schedule.analysis.share import MemoryPlan
    from compiler.schedule.printer import Schedule
    from svodviz.data import records

MOST_PLACES = 600  # the largest; the number of others is stated


def memory_row(schedule: "Schedule", buffers: Buffers) -> "records.Memory":
    """Live bytes while each item runs, and the place of each buffer."""
    lives = [(buffers.number(it.buffer), it.first, it.last) for it in schedule.lifetimes]
    produced = [it for it in lives if buffers.rows[it[0]]["made"]]
    alive = _alive(produced, buffers, len(schedule.items))
    inputs = sum(buffers.rows[it[0]]["bytes"] for it in lives if not buffers.rows[it[0]]["made"])
    plan = schedule.memory_plan
    return {
        "alive": alive,
        "inputs": inputs,
        "peak": alive.index(max(alive)) if alive else -1,
        "lives": lives,
        "plan": None if plan is None else _plan(plan, schedule, buffers),
    }


def _alive(lives: "list[records.Life]", buffers: Buffers, count: int) -> list[int]:
    change = [0] * (count + 1)
    for buffer, first, last in lives:
        size = buffers.rows[buffer]["bytes"]
        change[first] += size
        change[min(last, count - 1) + 1] -= size
    return list(accumulate(change))[:count]


def _plan(plan: "MemoryPlan", schedule: "Schedule", buffers: Buffers) -> "records.Plan":
    writers: dict[Buffer, int] = {}
    for position, item in enumerate(schedule.items):
        for buffer in item.operation.writes:
            writers.setdefault(buffer, position)
    order = sorted(range(len(plan.places)), key=lambda it: -plan.places[it].size)
    places = [plan.places[it] for it in sorted(order[:MOST_PLACES])]
    return {
        "unshared": plan.unshared,
        "arena": plan.arena,
        "kept": plan.kept,
        "live": plan.live,
        "peak": plan.peak,
        "levels": plan.level_count,
        "left_out": len(plan.places) - len(places),
        "places": [_place(it, places, writers, buffers) for it in places],
    }


def _place(
    place: "Place", places: "list[Place]", writers: "dict[Buffer, int]", buffers: Buffers
) -> "records.PlaceRow":
    return {
        "buffer": buffers.number(place.buffer),
        "offset": place.offset,
        "size": place.size,
        "first": place.first,
        "last": place.last,
        "reason": visible(place.reason),
        "numbers": number_rows(place.reason),
        "writer": writers.get(place.buffer, -1),
        "after": _used_before(place, places),
    }


def _used_before(place: "Place", places: "list[Place]") -> list[int]:
    """The places whose bytes this one takes over directly: nothing stood there in between."""
    if place.offset is None or not place.size:
        return []
    earlier = [
        (it.last, number) for number, it in enumerate(places)
        if it.offset is not None and it.size and it.last < place.first and _overlap(it, place)
    ]  # fmt: skip
    taken: list[int] = []
    for last, number in sorted(earlier, reverse=True):
        it = places[number]
        if not any(places[by].first > last and _overlap(it, places[by]) for by in taken):
            taken.append(number)
    return sorted(taken)


def _overlap(one: "Place", other: "Place") -> bool:
    if one.offset is None or other.offset is None:
        return False
    is_below = one.offset < other.offset + other.size
    return is_below and other.offset < one.offset + one.size

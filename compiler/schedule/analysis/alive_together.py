"""alive_together: for each buffer the largest buffers whose live ranges overlap with its own.

    tmp1  levels 1 … 2      not with tmp0: both are live in level 1
    tmp2  levels 2 … 3      not with tmp1: both are live in level 2

These are the reasons why a buffer cannot share their memory. Only the largest are reported, of
those live in the first or last level of the buffer: sharing with them would save most.

Relies on: the live ranges of places are those that the plan was computed from.
Ensures: the live ranges of each reported pair overlap.
"""

from collections.abc import Iterable, Mapping

from compiler.core.reason import Number, Reason
from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.places import Place, name_of

MOST_REPORTED = 3
"""The most buffers reported for each buffer: as many as fit on a line."""


def alive_together(places: Iterable[Place]) -> Mapping[Buffer, tuple[Reason, ...]]:
    """For each buffer, the reasons why it does not share memory with the largest live ones."""
    inside = [p for p in places if p.offset is not None and p.size]
    reasons = {p.buffer: tuple[Reason, ...]() for p in places}
    largest = _largest(inside)
    for place in inside:
        others = dict.fromkeys((*largest[place.first], *largest[place.last]))
        others.pop(place, None)
        chosen = sorted(others, key=lambda other: -other.size)[:MOST_REPORTED]
        reasons[place.buffer] = tuple(_reason(place, other) for other in chosen)
    return reasons


def _largest(places: list[Place]) -> dict[int, list[Place]]:
    """The largest live places in each level in which a live range begins or ends."""
    levels = sorted({level for p in places for level in (p.first, p.last)})
    waiting = sorted(places, key=lambda p: p.first, reverse=True)
    alive: list[Place] = []
    result: dict[int, list[Place]] = {}
    for level in levels:
        alive = [p for p in alive if p.last >= level]
        while waiting and waiting[-1].first <= level:
            alive.append(waiting.pop())
        result[level] = sorted(alive, key=lambda p: -p.size)[: MOST_REPORTED + 1]
    return result


def _reason(place: Place, other: Place) -> Reason:
    """`not with tmp3: both are live in levels 2 … 4`"""
    begin, end = max(place.first, other.first), min(place.last, other.last)
    when = f"level {begin}" if begin == end else f"levels {begin} … {end}"
    name = name_of(other)
    return Reason(
        f"not with {name}: both are live in {when}",
        Number(f"first level of {name}", other.first, "", "its own last", place.last),
        Number("its own first level", place.first, "", f"last of {name}", other.last),
        Number(f"size of {name}", other.size, "bytes", "its own", place.size),
    )

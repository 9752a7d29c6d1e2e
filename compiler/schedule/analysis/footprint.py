"""memory: the bytes that a schedule needs, by item and by live ranges.

A buffer counts with its maximal size, for which it is allocated, whatever the values of variables.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compiler.graph.nodes import Buffer
from compiler.schedule.items import ScheduleItem


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The live range of a buffer: from item `first` to item `last`, both included."""

    buffer: Buffer
    first: int
    last: int


def made_buffers(items: Sequence[ScheduleItem]) -> tuple[Buffer, ...]:
    """The buffers that the program computes, each once, in order of first use."""
    touched = (b for i in items for b in (*i.operation.reads, *i.operation.writes))
    return tuple(dict.fromkeys(b for b in touched if b.unique < 0))


def lifetimes(items: Sequence[ScheduleItem], results: Sequence[Buffer]) -> tuple[Lifetime, ...]:
    """The live range of each buffer: inputs are live throughout, results to the end."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    end = max(len(items) - 1, 0)
    for item in items:
        for buffer in (*item.operation.reads, *item.operation.writes):
            first.setdefault(buffer, item.item_id if buffer.unique < 0 else 0)
            last[buffer] = item.item_id if buffer.unique < 0 else end
    for buffer in results:
        first.setdefault(buffer, 0)
        last[buffer] = end
    return tuple(Lifetime(b, first[b], last[b]) for b in first)


def peak_bytes(items: Sequence[ScheduleItem], results: Sequence[Buffer]) -> int:
    """The most bytes live while an item runs; without items, those of all buffers."""
    return peak_of(lifetimes(items, results), len(items))


def peak_of(lives: Iterable[Lifetime], count: int) -> int:
    """The most bytes of `lives` at any of `count` items; without items, the bytes of all."""
    change = [0] * (max(count, 1) + 1)
    for life in lives:
        change[life.first] += life.buffer.nbytes
        change[life.last + 1] -= life.buffer.nbytes
    return max(accumulate(change))


def itemwise_bytes(items: Sequence[ScheduleItem]) -> int:
    """A lower bound: the most bytes that one item reads and writes, each buffer counted once."""
    touched = ({*item.operation.reads, *item.operation.writes} for item in items)
    return max((sum(b.nbytes for b in buffers) for buffers in touched), default=0)

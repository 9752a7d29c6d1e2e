"""Dependencies between the runs of calls: through memory, and for their order alone.

    data      read after write (RAW): it reads what the other wrote last
    anti      write after read (WAR): it writes what the other read since the last write
    output    write after write (WAW): it overwrites what the other wrote last, without reading it
    control   the kernel graph orders them, or it is a later iteration of the same custom call
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from compiler.schedule.items import DependencyKind
from compiler.schedule.kinds import CustomCall
from compiler.schedule.prepare import KernelInvocation, PreSchedule

M = TypeVar("M", bound=Hashable)
Reasons: TypeAlias = dict[DependencyKind, list[M]]


def conflicts(accesses: Iterable[tuple[Iterable[M], Iterable[M]]]) -> list[dict[int, Reasons[M]]]:
    """For each run the earlier runs that it depends on, by kind (RAW, WAR, WAW), with the memory.

    `accesses` has the memory read and written by each run. Dependencies implied by others are left
    out: those on accesses before the last write.
    """
    last_write: dict[M, int] = {}
    readers: dict[M, list[int]] = {}
    waits: list[dict[int, Reasons[M]]] = []
    for place, (reads, writes) in enumerate(accesses):
        edges: dict[int, Reasons[M]] = {}
        read, written = dict.fromkeys(reads), dict.fromkeys(writes)
        for memory in read:
            _add(edges, last_write.get(memory), "data", memory)
        for memory in written:
            if memory not in read:
                _add(edges, last_write.get(memory), "output", memory)
            for reader in readers.pop(memory, ()):
                _add(edges, reader, "anti", memory)
            last_write[memory] = place
        for memory in read:
            if memory not in written:
                readers.setdefault(memory, []).append(place)
        waits.append(edges)
    return waits


def _add(
    edges: dict[int, Reasons[M]], producer: int | None, kind: DependencyKind, memory: M
) -> None:
    if producer is not None:
        edges.setdefault(producer, {}).setdefault(kind, []).append(memory)


def waits_in_iteration(pre: PreSchedule) -> list[set[int]]:
    """For each run the runs that the kernel graph orders before it, in the same iteration."""
    place_of = {item.kernel_id: i for i, item in enumerate(pre.items)}
    producers = [[place_of[d] for d in item.dependencies] for item in pre.items]
    earlier: list[list[int]] = [[] for _ in pre.items]
    waits: list[set[int]] = []
    for place, run in enumerate(pre.invocations):
        before: set[int] = set()
        for producer in producers[run.item]:
            before.update(_same_iteration(place, earlier[producer], pre.invocations))
        if isinstance(pre.items[run.item].kernel, CustomCall):
            before.update(earlier[run.item][-1:])
        earlier[run.item].append(place)
        waits.append(before)
    return waits


def _same_iteration(
    place: int, candidates: Sequence[int], invocations: Sequence[KernelInvocation]
) -> Sequence[int]:
    """The candidates in the same iteration of the loops that they share with the run at `place`."""
    counters = invocations[place].counters
    if candidates and invocations[candidates[-1]].counters.keys() <= counters.keys():
        candidates = candidates[-1:]  # it shares all its loops: only its last run can be meant
    return [
        other
        for other in candidates
        if all(counters.get(r, value) == value for r, value in invocations[other].counters.items())
    ]

"""Topological sorting by Kahn's algorithm, first-in first-out, ids ascending.

An error about a cycle shows its path.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from compiler.core.errors import InternalError

Name: TypeAlias = Callable[[int], str]
"""The name of an item in error messages."""


def kahn(count: int, edges: Sequence[tuple[int, int]], name: Name = str) -> list[int]:
    """0 … count-1 in topological order: `a` is before `b` for each edge (a, b).

    Raises `InternalError` for a cycle, with its path; `name` names the items.
    """
    dependents = _dependents(count, edges)
    result = _freed(dependents)
    if len(result) < count:
        path = _cycle(count, dependents, set(result))
        words = map(name, path)
        raise InternalError("order", "the items wait for each other", got=" → ".join(words))
    return result


def never_free(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """The items of 0 … count-1 on a cycle, or after one."""
    return set(range(count)).difference(_freed(_dependents(count, edges)))


def _dependents(count: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For each item the items that wait for it, each once, ascending."""
    dependents: list[list[int]] = [[] for _ in range(count)]
    for a, b in sorted(set(edges)):
        dependents[a].append(b)
    return dependents


def _freed(dependents: list[list[int]]) -> list[int]:
    """The items that wait for no cycle, in order."""
    waiting = [0] * len(dependents)
    for others in dependents:
        for other in others:
            waiting[other] += 1
    queue = deque(i for i, count in enumerate(waiting) if not count)
    result: list[int] = []
    while queue:
        item = queue.popleft()
        result.append(item)
        for other in dependents[item]:
            waiting[other] -= 1
            if not waiting[other]:
                queue.append(other)
    return result


def _cycle(count: int, dependents: list[list[int]], done: set[int]) -> list[int]:
    """One cycle among the items that are not done, as a path that ends at its start."""
    before = {b: a for a in range(count) if a not in done for b in dependents[a] if b not in done}
    item = next(i for i in range(count) if i not in done)
    seen: list[int] = []
    while item not in seen:
        seen.append(item)
        item = before[item]
    loop = seen[seen.index(item) :]
    loop.reverse()
    return [*loop, loop[0]]

"""Kahn's algorithm, first-in first-out, ids ascending; a cycle is refused by its path."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from compiler.errors import InternalError

Name: TypeAlias = Callable[[int], str]
"""How messages call an item."""


def kahn(
    count: int, edges: Sequence[tuple[int, int]], name: Name = str
) -> list[int]:
    """0 … count-1 so that `a` stands before `b` for each edge (a, b): first-in first-out.

    Raises `InternalError` with the cycle as a path where there is one, written with `name`.
    """
    waiting = [0] * count
    dependents: list[list[int]] = [[] for _ in range(count)]
    for a, b in sorted(set(edges)):
        waiting[b] += 1
        dependents[a].append(b)
    queue = deque(i for i in range(count) if not waiting[i])
    result: list[int] = []
    while queue:
        item = queue.popleft()
        result.append(item)
        for other in dependents[item]:
            waiting[other] -= 1
            if not waiting[other]:
                queue.append(other)
    if len(result) < count:
        path = _cycle(count, dependents, set(result))
        words = map(name, path)
        raise InternalError("order", "the items wait for each other", got=" → ".join(words))
    return result


def _cycle(count: int, dependents: list[list[int]], done: set[int]) -> list[int]:
    """One cycle among the items that are not done, as a path that ends where it began."""
    before = {b: a for a in range(count) if a not in done for b in dependents[a] if b not in done}
    item = next(i for i in range(count) if i not in done)
    seen: list[int] = []
    while item not in seen:
        seen.append(item)
        item = before[item]
    loop = seen[seen.index(item) :]
    loop.reverse()
    return [*loop, loop[0]]

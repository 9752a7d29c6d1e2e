"""order: the calls of a kernel graph as schedule items, in dependency order.

    Before:  …
             %3 = call k0(%1, %2)      f32[64,1]
             %4 = after %1 [%3]
             %5 = call k1(%0, %4)      f32[64,1]
             …
    After:   0 kernel k0 … reads x … writes tmp0 …
             1 kernel k1 … reads tmp0 … writes tmp1 …
             0 → 1 data tmp0

Kahn's algorithm, first-in first-out, ids ascending. Dependencies come from the arguments only:
an argument `After(buffer, calls)` waits for those calls.

Relies on: every `After` names calls of this graph.
Ensures: item i is at index i; producers stand before consumers; a cycle is refused by its path.
"""

from collections import deque
from collections.abc import Sequence

from compiler.errors import InternalError
from compiler.graph.nodes import Buffer
from compiler.node import Node
from compiler.schedule.calls import After, Call, KernelSink, buffer_of, calls_of
from compiler.schedule.items import Dependency, Kernel, ScheduleItem


def order(root: KernelSink) -> tuple[tuple[ScheduleItem, ...], tuple[Dependency, ...]]:
    """Items and dependencies of the calls under `root`."""
    calls = calls_of(root)
    index = {call: i for i, call in enumerate(calls)}
    edges = {
        (index[producer], consumer): buffers
        for consumer, call in enumerate(calls)
        for producer, buffers in _producers(call).items()
        if producer is not call
    }
    sorted_indices = kahn(len(calls), list(edges))
    position = {old: new for new, old in enumerate(sorted_indices)}
    dependencies = tuple(
        sorted(
            (
                Dependency(position[a], position[b], "data", tuple(buffers))
                for (a, b), buffers in edges.items()
            ),
            key=lambda d: (d.consumer, d.producer),
        )
    )
    return _items([calls[i] for i in sorted_indices], dependencies), dependencies


def _producers(call: Call) -> dict[Call, list[Buffer]]:
    """The calls this one waits for, with the buffers it waits for."""
    result: dict[Call, list[Buffer]] = {}
    for argument in call.sources:
        for producer in _calls_before(argument):
            result.setdefault(producer, []).append(buffer_of(argument))
    return result


def _calls_before(argument: Node) -> list[Call]:
    """The calls an argument waits for, through nested `After`s."""
    found: list[Call] = []
    stack = [argument]
    while stack:
        node = stack.pop()
        if isinstance(node, Call):
            found.append(node)
        elif isinstance(node, After):
            stack.extend(reversed(node.sources))
        elif not isinstance(node, Buffer):
            raise InternalError(
                "order",
                "an After may wait for calls and Afters only",
                got=type(node).__name__,
                expected="Call or After",
            )
    return found


def _items(
    calls: Sequence[Call], dependencies: Sequence[Dependency]
) -> tuple[ScheduleItem, ...]:
    before: list[list[int]] = [[] for _ in calls]
    after: list[list[int]] = [[] for _ in calls]
    for edge in dependencies:
        before[edge.consumer].append(edge.producer)
        after[edge.producer].append(edge.consumer)
    return tuple(
        ScheduleItem(
            i,
            Kernel(call.name, call.body, tuple(buffer_of(a) for a in call.sources)),
            tuple(sorted(before[i])),
            tuple(sorted(after[i])),
        )
        for i, call in enumerate(calls)
    )


def kahn(
    count: int, edges: Sequence[tuple[int, int]], names: Sequence[str] | None = None
) -> list[int]:
    """0 … count-1 so that `a` stands before `b` for each edge (a, b): first-in first-out.

    Raises `InternalError` with the cycle as a path where there is one, written with `names`.
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
        words = (names[i] if names else str(i) for i in path)
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

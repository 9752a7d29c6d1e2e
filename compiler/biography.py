"""biography: everything one value is, in every stage, found along the recorded links."""

from collections.abc import Iterable, Mapping

from compiler.stage import Stage
from compiler.trace import Line


def biography(entity: str, stages: Iterable[Stage]) -> tuple[Line, ...]:
    """The lines that `entity` comes from or leads to, in order of stage, each once."""
    lines = [line for stage in stages for line in stage.lines if line.entity]
    children: dict[str, list[str]] = {}
    for line in lines:
        for parent in line.parents:
            children.setdefault(parent, []).append(line.entity or "")
    parents = {line.entity or "": line.parents for line in lines}
    wanted = _reachable(entity, parents) | _reachable(entity, children)
    return tuple(dict.fromkeys(line for line in lines if line.entity in wanted))


def _reachable(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Everything reachable from `start`, itself included."""
    found, stack = {start}, [start]
    while stack:
        for other in edges.get(stack.pop(), ()):
            if other not in found:
                found.add(other)
                stack.append(other)
    return found

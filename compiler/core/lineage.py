"""lineage: everything one value is, in every stage, found along the recorded links.

`coverage` says how many lines have links at all: those that have none say why themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compiler.core.printable import printable
from compiler.core.stage import Stage
from compiler.core.trace import Line


def lineage(entity: str, stages: Iterable[Stage]) -> tuple[Line, ...]:
    """The lines that `entity` comes from or leads to, in order of stage, each once."""
    given_stages = list(stages)
    parents = {name: above for stage in given_stages for name, above in stage.links.items()}
    children: dict[str, list[str]] = {}
    for name, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(name)
    wanted = _reachable(entity, parents) | _reachable(entity, children)
    lines = (line for stage in given_stages for line in stage.lines)
    return tuple(dict.fromkeys(line for line in lines if line.entity in wanted))


def _reachable(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Everything reachable from `start`, itself included."""
    reachable, stack = {start}, [start]
    while stack:
        for other in edges.get(stack.pop(), ()):
            if other not in reachable:
                reachable.add(other)
                stack.append(other)
    return reachable


@dataclass(frozen=True, slots=True)
class Coverage:
    """The lines of one stage: how many lead back to the program, and those that do not."""

    title: str
    lines: int
    linked: int
    alone: tuple[Line, ...]

    @property
    def share(self) -> float:
        """Linked lines among all; 1 where there are none."""
        return self.linked / self.lines if self.lines else 1.0

    def __str__(self) -> str:
        reasons = sorted({line.alone for line in self.alone if line.alone})
        words = f"   the others: {'; '.join(reasons)}" if reasons else ""
        title = printable(self.title)
        return f"{title:<18} {self.linked:>5} of {self.lines:>5} lines linked{words}"


def coverage(stages: Iterable[Stage]) -> tuple[Coverage, ...]:
    """One row for each stage; lines without text are not counted."""
    rows: list[Coverage] = []
    entities: set[str] = set()
    for stage in stages:
        for entity, parents in stage.links.items():
            if entity.startswith("source:") or not entities.isdisjoint(parents):
                entities.add(entity)
        lines = [line for line in stage.lines if line.text.strip()]
        alone = tuple(line for line in lines if line.entity not in entities)
        rows.append(Coverage(stage.title, len(lines), len(lines) - len(alone), alone))
    return tuple(rows)

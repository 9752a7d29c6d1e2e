"""scratch: the loop in which each scratch memory is allocated: the innermost around all its uses.

    for i0            local0 is allocated here, for each iteration of i0
      for i1          writes local0
      for r2          reads local0
"""

from typing import TypeAlias

from compiler.loops import nodes as loops
from compiler.loops.placement import LoopBlock

Path: TypeAlias = tuple[LoopBlock, ...]


def homes(top: LoopBlock) -> dict[LoopBlock, list[loops.Local]]:
    """For each block the scratch memory that is allocated at its start, by number."""
    found: dict[loops.Local, Path] = {}
    stack: list[Path] = [(top,)]
    while stack:
        path = stack.pop()
        for item in path[-1].items:
            if isinstance(item, LoopBlock):
                stack.append((*path, item))
                continue
            local = _accessed(item)
            if local is not None:
                found[local] = _shared(found.get(local, path), path)
    table: dict[LoopBlock, list[loops.Local]] = {}
    for local, path in sorted(found.items(), key=lambda pair: pair[0].number):
        table.setdefault(path[-1], []).append(local)
    return table


def _accessed(item: object) -> loops.Local | None:
    """The scratch memory that an item reads or writes."""
    if not isinstance(item, loops.Load | loops.Store | loops.Update):
        return None
    memory = loops.memory(item)
    return memory if isinstance(memory, loops.Local) else None


def _shared(a: Path, b: Path) -> Path:
    """The loops that are around both."""
    same = 0
    while same < min(len(a), len(b)) and a[same] is b[same]:
        same += 1
    return a[:same]

"""space: the iteration space of a kernel, read off its loops.

    Before:  for i0 in 64, i1 in 16         After:  space: i0:64, i1:16, r2:784 reduction;
               for r2 in 784 reduction                serial i0 i1 r2

A loop runs on one core, turn by turn; LLVM makes vectors of those whose turns read and write one
element after the other (`count.py`), and each loop is one tile.
"""

from compiler.loops.count import count, lanes
from compiler.loops.nodes import Body, DefineVar, Range
from compiler.node import toposort
from compiler.schedule.space import (
    Axis,
    IterationSpace,
    KernelSpace,
    LoopHint,
    Mapping,
    ReductionPlan,
    ScheduleContext,
    Vectorize,
)


def iteration_space(body: Body, device: str = "CPU") -> KernelSpace:
    """The axes of `body` in order of number, where they run, and what LLVM is left to do."""
    ranges = sorted((n for n in toposort([body]) if isinstance(n, Range)), key=lambda r: r.number)
    axes = tuple(_axis(each) for each in ranges)
    work = count(body)
    vectors = {n: width for n, r in enumerate(ranges) if (width := lanes(work, r)) > 1}
    serial = tuple(n for n in range(len(axes)) if n not in vectors)
    tiles = tuple((axis.size,) for axis in axes)
    space = IterationSpace(axes, Mapping(vec=tuple(vectors), serial=serial), tiles)
    hints: tuple[LoopHint, ...] = tuple(Vectorize(n, width) for n, width in vectors.items())
    folded = tuple(n for n, axis in enumerate(axes) if axis.role == "reduction")
    plan = ReductionPlan(folded, "tree" if set(folded) & set(vectors) else "none")
    context = ScheduleContext(device=device)
    return KernelSpace(space, hints, plan if folded else None, context)


def _axis(each: Range) -> Axis:
    extent = each.sources[0]
    variable = extent.name if isinstance(extent, DefineVar) else ""
    return Axis(each.name, each.extent, each.role, variable)

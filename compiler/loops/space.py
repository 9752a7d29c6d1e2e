"""space: the iteration space of a kernel, derived from its loops.

    Before:  for i0 in 64, i1 in 16         After:  space: i0:64, i1:16, r2:784 reduction;
               for r2 in 784 reduction                serial i0 i1 r2

The parts of a tiled axis are its tiles; the remainder is an axis of its own, unless it is masked.
Lanes are vectors, a range divided among tasks is a block on each core, and all others are serial.
If no range is vectorised, LLVM vectorises loops with unit stride (`count.py`).
"""

import math

from compiler.core.node import toposort
from compiler.loops.axis_names import REST
from compiler.loops.count import count, lanes
from compiler.loops.nodes import Body, DefineVar, Load, Range, ScalarNode, Store, axis_name
from compiler.loops.symbolic import at_greatest, limits
from compiler.machines.model import DEFAULT, MachineModel
from compiler.schedule.analysis.iteration_space import (
    Axis,
    IterationSpace,
    KernelSpace,
    LoopHint,
    Mapping,
    ReductionPlan,
    ScheduleContext,
    UnrollHint,
    VectorizeHint,
)
from compiler.schedule.analysis.work import Work

Tiles = list[Range]
"""The parts of one axis, outer to inner."""


def iteration_space(
    body: Body, work: Work | None = None, device: str = "CPU", model: MachineModel = DEFAULT
) -> KernelSpace:
    """The axes of `body` in order of number, the level where each runs, and hints for LLVM.

    `work` is the result of `count` for the body, if it exists already.
    """
    order: list[ScalarNode] = toposort([body])
    groups = _groups([n for n in order if isinstance(n, Range)])
    masks = _masks(order)
    axes = tuple(_axis(tiles, masks) for tiles in groups)
    tiles = tuple(tuple(_trips(part) for part in parts) for parts in groups)
    masked = tuple(n for n, parts in enumerate(groups) if frozenset(parts) in masks)
    widths = _found_by_llvm(order, groups, work or count(body), model)
    space = IterationSpace(axes, _mapping(groups, widths), tiles, masked)
    hints = (*_hints(groups), *(VectorizeHint(n, width) for n, width in widths.items()))
    folded = tuple(n for n, axis in enumerate(axes) if axis.role == "reduction")
    is_tree = any(n in widths or _is_wide(groups[n]) for n in folded)
    tasks = max((part.tasks for parts in groups for part in parts), default=0)
    context = ScheduleContext(global_dims=(max(tasks, 1), 1, 1), device=device)
    plan = ReductionPlan(folded, "tree" if is_tree else "none")
    return KernelSpace(space, hints, plan if folded else None, context)


def _groups(ranges: list[Range]) -> list[Tiles]:
    """The ranges by axis; the remainder of a tiled axis is an axis of its own."""
    groups: dict[tuple[int, tuple[int, ...]], Tiles] = {}
    for each in sorted(ranges, key=lambda r: (r.number, r.part)):
        groups.setdefault((each.number, _rest(each)), []).append(each)
    return list(groups.values())


def _rest(each: Range) -> tuple[int, ...]:
    """The remainder that a range belongs to, if any."""
    last = max((n + 1 for n, cut in enumerate(each.part) if cut == REST), default=0)
    return each.part[:last]


def _masks(order: list[ScalarNode]) -> dict[frozenset[ScalarNode], int]:
    """By ranges, the extents of axes whose loops run further, as the predicates bound them."""
    predicates = dict.fromkeys(n.predicate for n in order if isinstance(n, Load | Store))
    masks: dict[frozenset[ScalarNode], int] = {}
    for predicate in predicates:
        for bounded, limit in filter(None, limits(predicate)):
            trips = [_trips(r) for r in bounded.terms if isinstance(r, Range)]
            if limit < math.prod(trips) and len(trips) > 1:
                masks[frozenset(bounded.terms)] = limit
    return masks


def _trips(each: Range) -> int:
    """The trip count of a range at the greatest values of variables."""
    trips = at_greatest(each.sources[0])
    return each.extent if trips is None else trips


def _axis(parts: Tiles, masks: dict[frozenset[ScalarNode], int]) -> Axis:
    first = parts[0]
    variables = [n.name for n in toposort([first.sources[0]]) if isinstance(n, DefineVar)]
    name = axis_name(first.role, first.number, _rest(first))
    size = masks.get(frozenset(parts), math.prod(map(_trips, parts)))
    return Axis(name, size, first.role, variables[0] if variables else "")


def _found_by_llvm(
    order: list[ScalarNode], groups: list[Tiles], work: Work, model: MachineModel
) -> dict[int, int]:
    """The axes whose innermost loop LLVM vectorises, with their lanes."""
    if any(isinstance(n, Range) and n.level == "vector" for n in order):
        return {}
    inner = {n: parts[-1] for n, parts in enumerate(groups) if parts[-1].level == "loop"}
    widths = {n: lanes(work, each, model.vector_bytes) for n, each in inner.items()}
    return {n: width for n, width in widths.items() if width > 1}


def _mapping(groups: list[Tiles], widths: dict[int, int]) -> Mapping:
    """The level where each part of each axis runs."""
    block: list[int] = []
    vec: list[int] = []
    serial: list[int] = []
    for number, parts in enumerate(groups):
        for part in parts:
            is_lanes = part.level == "vector" or (number in widths and part is parts[-1])
            level = block if part.level == "core" else vec if is_lanes else serial
            level.append(number)
    return Mapping(block=tuple(block), vec=tuple(vec), serial=tuple(serial))


def _hints(groups: list[Tiles]) -> list[LoopHint]:
    """The hints of ranges; a single iteration has none."""
    hints: list[LoopHint] = []
    for number, parts in enumerate(groups):
        for part in parts:
            if part.extent > 1 and part.level == "vector":
                hints.append(VectorizeHint(number, part.extent))
            elif part.extent > 1 and part.level == "unroll":
                hints.append(UnrollHint(number, part.extent))
    return hints


def _is_wide(parts: Tiles) -> bool:
    """True if a reduction has several accumulators, which are combined at the end."""
    return any(part.level in ("unroll", "vector") for part in parts)

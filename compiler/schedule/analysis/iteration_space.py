"""The iteration space of a kernel: its loops, their mapping to the machine, hints and context.

    space      = axes  mapping  tiles  masked
    axis       = name  size  variable  role ∈ {normal, reduction, serial}
    mapping    = block  thread  vec  serial             the axes at each level
    tiles      = for each axis its parts, outer to inner
    hint       = VectorizeHint(axis, width) | UnrollHint(axis, factor)
               | PrefetchHint(name, scope, distance) | PipelineHint(axis, stages, overlap)
    reduction  = axes  within a thread ∈ {none, tree, welford, shuffle}
                 between threads ∈ {none, shared tree, atomic, grid}
    context    = global dims  local dims  upcasted  device  stream

Everything is checked when it is created; each check raises a `ScheduleError`:

 1. An axis that is mapped exists.
 2. There is one list of tiles per axis.
 3. Tiles are positive and multiply to the axis, or to more where the axis is masked.
 4. Each tile of an axis is mapped to exactly one level.
 5. Two axes have two names.
 6. A hint names an axis that exists, and its number makes a difference.
 7. The axes of a reduction plan are reduction axes, each once.
 8. Dims are exactly three, and positive.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.core.errors import ScheduleError
from compiler.schedule.analysis.buffer_layout import Scope

Role = Literal["normal", "reduction", "serial"]
Within = Literal["none", "tree", "welford", "shuffle"]
Between = Literal["none", "shared tree", "atomic", "grid"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop of `size` iterations; with a `variable` as its bound, of at most `size`."""

    name: str
    size: int
    role: Role = "normal"
    variable: str = ""

    def __str__(self) -> str:
        size = f"{self.variable} ≤ {self.size}" if self.variable else str(self.size)
        return f"{self.name}:{size}" + ("" if self.role == "normal" else f" {self.role}")


@dataclass(frozen=True, slots=True)
class Mapping:
    """The axes at each level of the machine, by their position in the space's `axes`.

    On a CPU a block is a core and a thread one of its hardware threads.
    """

    block: tuple[int, ...] = ()
    thread: tuple[int, ...] = ()
    vec: tuple[int, ...] = ()
    serial: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        """The axes of all levels."""
        return (*self.block, *self.thread, *self.vec, *self.serial)


@dataclass(frozen=True, slots=True)
class IterationSpace:
    """The loops of a kernel; the tiles of an axis in `masked` exceed it, under a mask."""

    axes: tuple[Axis, ...]
    mapping: Mapping
    tiles: tuple[tuple[int, ...], ...]
    masked: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.axes)
        for place in (*self.mapping.all, *self.masked):
            _axis_exists(place, count)
        if len(self.tiles) != count:
            got, expected = str(len(self.tiles)), f"{count}, one per axis"
            raise _refused(2, "tiles do not match the axes", got, expected)
        names = [axis.name for axis in self.axes]
        if len(set(names)) != count:
            raise _refused(5, "two axes have one name", ", ".join(names), "different names")
        for number, axis in enumerate(self.axes):
            self._check_tiles(number, axis)

    def _check_tiles(self, number: int, axis: Axis) -> None:
        tiles = self.tiles[number]
        whole = math.prod(tiles)
        is_whole = whole > axis.size if number in self.masked else whole == axis.size
        if not is_whole or any(tile < 0 or (tile == 0 and axis.size) for tile in tiles):
            more = "more than " if number in self.masked else ""
            got = f"{' × '.join(map(str, tiles)) or 'none'} = {whole}"
            raise _refused(3, f"tiles of {axis.name} do not make it", got, f"{more}{axis.size}")
        times = Counter(self.mapping.all)[number]
        if times != len(tiles):
            what = f"each tile of {axis.name} is mapped to one level"
            raise _refused(4, what, f"{times} levels", f"{len(tiles)}, one per tile")

    def __str__(self) -> str:
        parts = ["space: " + ", ".join(map(str, self.axes)) if self.axes else "space: one point"]
        for level in ("block", "thread", "vec", "serial"):
            axes = getattr(self.mapping, level)
            if axes:
                parts.append(f"{level} {' '.join(self.axes[a].name for a in axes)}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class VectorizeHint:
    """Iterations of `axis` run `width` at a time."""

    axis: int
    width: int


@dataclass(frozen=True, slots=True)
class UnrollHint:
    """The loop body of `axis` is repeated `factor` times."""

    axis: int
    factor: int


@dataclass(frozen=True, slots=True)
class PrefetchHint:
    """Buffer `name` is prefetched into `into`, `distance` iterations ahead."""

    name: str
    into: Scope
    distance: int


@dataclass(frozen=True, slots=True)
class PipelineHint:
    """Software pipelining: `stages` iterations of `axis` are in flight."""

    axis: int
    stages: int
    overlap: bool = False


LoopHint: TypeAlias = VectorizeHint | UnrollHint | PrefetchHint | PipelineHint


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """The reduction axes, and how they are reduced within and between threads."""

    axes: tuple[int, ...]
    within: Within = "none"
    between: Between = "none"


@dataclass(frozen=True, slots=True)
class ScheduleContext:
    """The launch context of a kernel: device, stream, and numbers of groups and members."""

    global_dims: tuple[int, ...] = (1, 1, 1)
    local_dims: tuple[int, ...] = (1, 1, 1)
    upcasted: int = 0
    device: str = "CPU"
    stream: int | None = None

    def __post_init__(self) -> None:
        for name, dims in (("global", self.global_dims), ("local", self.local_dims)):
            if len(dims) != 3 or any(size < 1 for size in dims):
                raise _refused(8, f"{name} dims are three positive numbers", str(dims), "(x, y, z)")


@dataclass(frozen=True, slots=True)
class KernelSpace:
    """A kernel's iteration space, with its hints, its reduction plan and its context."""

    space: IterationSpace
    hints: tuple[LoopHint, ...] = ()
    reduction: ReductionPlan | None = None
    context: ScheduleContext = ScheduleContext()

    def __post_init__(self) -> None:
        check_hints(self.space, self.hints)
        if self.reduction is not None:
            _check_reduction(self.space, self.reduction)

    def __str__(self) -> str:
        names = [axis.name for axis in self.space.axes]
        parts = [str(self.space)]
        for hint in self.hints:
            match hint:
                case VectorizeHint(axis, width):
                    parts.append(f"vectorize {names[axis]} by {width}")
                case UnrollHint(axis, factor):
                    parts.append(f"unroll {names[axis]} by {factor}")
                case PrefetchHint(name, into, distance):
                    parts.append(f"prefetch {name} into {into} {distance} ahead")
                case PipelineHint(axis, stages):
                    parts.append(f"pipeline {names[axis]} in {stages} stages")
        return "; ".join(parts)


def check_hints(space: IterationSpace, hints: Sequence[LoopHint]) -> None:
    """Refuse a hint for an axis that does not exist, or a hint without effect."""
    for hint in hints:
        if not isinstance(hint, PrefetchHint):
            _axis_exists(hint.axis, len(space.axes), 6)
        match hint:
            case VectorizeHint(width=number) | UnrollHint(factor=number):
                least = 2
            case PipelineHint(stages=number):
                least = 2
            case PrefetchHint(distance=number):
                least = 1
        if number < least:
            raise _refused(6, f"{hint} changes nothing", str(number), f"at least {least}")


def _check_reduction(space: IterationSpace, plan: ReductionPlan) -> None:
    for axis in plan.axes:
        _axis_exists(axis, len(space.axes), 7)
        if space.axes[axis].role != "reduction":
            got = f"{space.axes[axis].name}, a normal axis"
            raise _refused(7, "a reduction plan folds reduction axes", got, "a reduction axis")
    if len(set(plan.axes)) < len(plan.axes):
        raise _refused(7, "a reduction plan folds each axis once", str(plan.axes), "each once")


def _axis_exists(axis: int, count: int, number: int = 1) -> None:
    if not 0 <= axis < count:
        expected = f"0 … {count - 1}" if count else "no axis: there is none"
        raise _refused(number, "there is no such axis", str(axis), expected)


def _refused(number: int, problem: str, got: str, expected: str) -> ScheduleError:
    return ScheduleError("space", f"({number}) {problem}", got=got, expected=expected)

"""count: the work of a kernel's loops, as `schedule/analysis/work.py` describes it.

    Before:  for i0 in 64, i1 in 10               After:  trips 501,760  fma  in1 +1  in2 +10
               acc %9 = 0.0                               trips 640      out +1
               for r2 in 784
                 %9 = sum(%9, in1[i0*784 + r2] * in2[i1 + r2*10])
               out[i0*10 + i1] = %9

LLVM unrolls short inner loops, so strides are those of the loop around them. Where ranges are
lanes, these are the vectors; elsewhere LLVM is assumed to vectorise. Operations and accesses are
counted by element: once per lane and unrolled iteration.

Relies on: the body is placed as `placement.py` says; invariants of `loops/verify.py`.
Ensures: every load, store, operation and reduction of the body is in exactly one stretch.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.loops.alive import alive
from compiler.loops.dots import converted_in_words
from compiler.loops.nodes import (
    Alu,
    Argument,
    Body,
    Cast,
    Const,
    Level,
    Load,
    Local,
    Range,
    ScalarNode,
    Scan,
    Store,
    Update,
    memory,
)
from compiler.loops.placement import (
    Begin,
    Fold,
    Item,
    LoopBlock,
    Nest,
    dependencies,
    fused_products,
    is_loop,
    place,
)
from compiler.machines.model import FMA, NEVER_VECTOR
from compiler.ops.table import OPS, REDUCTIONS
from compiler.schedule.analysis.traffic import LINE, Footprint, Loop
from compiler.schedule.analysis.work import Access, Operation, Stretch, Work

UNROLLED = 16
"""The most iterations of inner loops that LLVM unrolls fully: an estimate for any body. LLVM 22.1
unrolls a sum of 96 elements, and one of exponentials up to 8, but not 16 (EPYC, AVX2,
2026-11-23)."""
LANES = 4
"""The fewest iterations of a loop that LLVM vectorises. A kernel of a max pool's backward pass
with two iterations in its innermost loop took five times what two lanes would (EPYC, AVX2,
2026-11-27)."""
WAIT = 9
"""The latency of one step of a scan, in simple scalar operations: 1 ns in the default model.
1,000,000 sums, one after the other, take 0.95 to 1.0 ms (EPYC, AVX2, two busy cores,
2026-11-23)."""
MOST_INSIDE = 1 << 20
"""More than the loops of any block: each loop gets a number of its own."""
Path = tuple[Range, ...]
Places = tuple[int, ...]
"""The number of each loop of a path."""


_works: "WeakKeyDictionary[Body, Work]" = WeakKeyDictionary()


def count(body: Body) -> Work:
    """The work of running `body` once; variable extents count with their maximum.

    The result is cached: it is used to estimate kernels, then to list the costs of a schedule.
    """
    work = _works.get(body)
    if work is None:
        work = _works[body] = _Count(body).run()
    return work


class _Count:
    """State of one count."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.needs = dependencies(body)
        self.products = fused_products(body) | converted_in_words(body)
        self.strides: dict[ScalarNode, dict[Range, int | None]] = {}
        self.stretches: list[Stretch] = []
        self.blocks = 0
        self.footprints: dict[Footprint, None] = {}
        self.has_lanes = any(r.level == "vector" for need in self.needs.values() for r in need)
        self.has_lanes |= any(isinstance(n, Scan) for n in self.needs)  # LLVM finds none there

    def run(self) -> Work:
        """The work of the blocks, outermost first."""
        for node in toposort([self.body]):
            self.strides[node] = _strides(node, self.strides, self.needs)
        top = place(self.body)
        stack: list[tuple[LoopBlock, Path, Places]] = [(top, (), ())]
        while stack:
            block, path, places = stack.pop()
            inside = [item for item in block.items if isinstance(item, LoopBlock)]
            self._stretch(block, path, places)
            for number, inner in enumerate(reversed(inside), start=self.blocks * MOST_INSIDE):
                assert inner.range is not None
                stack.append((inner, (*path, inner.range), (*places, number)))
        return Work(tuple(self.stretches), tuple(self.footprints), alive(top, self.needs))

    def _stretch(self, block: LoopBlock, path: Path, places: Places) -> None:
        """The stretches of a block: one for each set of unrolled and vector ranges in it."""
        groups: dict[frozenset[Range], list[Item]] = {}
        for item in block.items:
            if not isinstance(item, LoopBlock | Begin | Argument):
                groups.setdefault(self._sides(item), []).append(item)
        is_inner = _trips_inside(block) <= UNROLLED
        loops = 0 if is_inner else sum(isinstance(item, LoopBlock) for item in block.items)
        begun = loops * math.prod(r.extent for r in path)
        self.blocks += 1
        for sides, items in groups.items():
            stretch = self._together(items, path, sides, is_inner)
            self._touch(items, path, places, sides)
            if stretch is not None:
                self.stretches.append(replace(stretch, begun=begun, block=self.blocks))
                begun = 0

    def _sides(self, item: Item) -> frozenset[Range]:
        """The unrolled and vector ranges of `item` in its block."""
        assert not isinstance(item, LoopBlock)
        node = item.reduce if isinstance(item, Begin | Fold) else item
        is_nest = isinstance(node, Store | Update) or isinstance(item, Fold)
        nest = node.ranges if is_nest and isinstance(node, Nest) else ()
        sides = frozenset(r for r in (*self.needs[node], *nest) if not is_loop(r))
        if isinstance(item, Fold) or item in self.products:  # one instruction takes all of a word
            return frozenset(r for r in sides if r.level != "dot")
        return sides

    def _together(
        self, items: list[Item], path: Path, sides: frozenset[Range], is_inner: bool
    ) -> Stretch | None:
        """The stretch of items with these unrolled and vector ranges; None if it costs nothing."""
        inner = sorted(sides, key=lambda r: (r.number, r.part))  # the same in every process
        vector = _first(inner, "vector") or _first(inner, "dot")
        lane = vector or (path[-1] if self.has_lanes and path else _lane(path))
        operations = [o for item in items for o in self._operations(item)]
        touching = [item for item in items if isinstance(item, Load | Store | Update)]
        accesses = [self._access(item, (*path, *inner), lane) for item in touching]
        if not operations and not accesses:
            return None
        by_llvm = is_inner and not self.has_lanes and _is_vectorized(items, accesses, lane)
        is_scalar = any(operation.name in NEVER_VECTOR for operation in operations)
        is_vector = (vector is not None or by_llvm) and not is_scalar
        trips = math.prod(r.extent for r in (*path, *inner))
        axis = None if lane is None else lane.number
        core = _first(path, "core")
        shared = (1, 1) if core is None else (core.tasks, core.extent)
        return Stretch(trips, is_vector, 0, tuple(operations), tuple(accesses), axis, *shared,
                       waits=self._waits(items, path))  # fmt: skip

    def _waits(self, items: list[Item], path: Path) -> int:
        """The number of float additions that wait for the one before: each lane and unrolled
        iteration has its own accumulator, and LLVM adds accumulators where it vectorises. Loops
        short enough to be unrolled overlap."""
        is_fold = any(isinstance(it, Fold) and it.reduce.dtype.is_float for it in items)
        if not is_fold or not self.has_lanes or not path or path[-1].extent <= UNROLLED:
            return 0
        return math.prod(r.extent for r in path)

    def _operations(self, item: Item) -> list[Operation]:
        """The operations of an item; address arithmetic is free, except divisions."""
        match item:
            case Fold(reduce=node):
                is_product = node.sources[0] in self.products
                return [_operation("add" if is_product else REDUCTIONS[node.op].combine,
                                   node.dtype, is_product)]  # fmt: skip
            case Alu() | Cast() if item in self.products:
                return []  # one multiply-add with the sum
            case Alu(op=op) if item.bounds is None or op in NEVER_VECTOR:
                return [_operation(op, item.sources[-1].dtype)]
            case Cast() if item.bounds is None:
                return [Operation("cast", 1, item.dtype.itemsize)]
            case Scan(op=op):
                sides = [r for r in self.needs[item] if not is_loop(r)]
                is_vector = any(r.level == "vector" for r in sides)
                waits = 1 if is_vector else max(WAIT // math.prod(r.extent for r in sides), 1)
                return [_operation(REDUCTIONS[op].combine, item.dtype)] * waits
            case Update():
                return [_operation("add", item.sources[2].dtype)]
            case _:
                return []

    def _access(self, node: Load | Store | Update, path: Path, lane: Range | None) -> Access:
        argument, index = memory(node), node.sources[1]
        slot = argument.slot if isinstance(argument, Argument) else -1 - argument.number
        strides = self.strides[index]
        stride = strides.get(lane, 0) if lane is not None else 0
        if lane is not None and lane.level == "vector" and _is_exchanged(node, strides, lane, path):
            stride = 1
        if stride is not None and any(r.level == "dot" for r in path if r in strides):
            stride = min(stride, 1)  # words are adjacent
        depth = max((n + 1 for n, r in enumerate(path) if r not in strides), default=0)
        # what the loops inside the innermost one that does not move the index go through
        depth = depth if depth < len(path) else 0
        reused = _span(strides, path[depth:], argument)
        return Access(
            slot, argument.element.itemsize, not isinstance(node, Load), stride, reused
        )

    def _touch(
        self, items: list[Item], path: Path, places: Places, sides: frozenset[Range]
    ) -> None:
        """Add the footprints of the items, by loops, then by unrolled and vector ranges."""
        for item in items:
            if not isinstance(item, Load | Store | Update):
                continue
            argument, strides = memory(item), self.strides[item.sources[1]]
            slot = argument.slot if isinstance(argument, Argument) else -1 - argument.number
            around = [
                Loop(place, each.extent, strides.get(each, 0))
                for each, place in zip(path, places, strict=True)
            ]
            wide = [Loop(-1, each.extent, strides.get(each, 0), True) for each in sides]
            wide.sort(key=lambda loop: (loop.trips, loop.step or 0))  # sets have no order
            itemsize = argument.element.itemsize
            nbytes, is_written = argument.size * itemsize, not isinstance(item, Load)
            self.footprints[Footprint(slot, is_written, itemsize, nbytes, (*around, *wide))] = None


def lanes(work: Work, each: Range, nbytes: int) -> int:
    """The lanes of a loop: elements of its widest type in a vector of `nbytes`, or 1 if it is not
    vectorised."""
    stretches = [s for s in work.stretches if s.axis == each.number]
    if not stretches or not all(s.is_vector for s in stretches):
        return 1
    sizes = [o.itemsize for s in stretches for o in s.operations]
    widest = max([*sizes, *(a.itemsize for s in stretches for a in s.accesses)])
    return max(nbytes // widest, 1)


def _operation(op: str, dtype: DType, is_product: bool = False) -> Operation:
    """An operation on elements of this type; on integers all but division is one instruction.

    With `is_product` it is a fused multiply-add.
    """
    is_simple = not dtype.is_float and op not in NEVER_VECTOR
    name = FMA if is_product else op
    return Operation("simple" if is_simple else name, OPS[op].cost, dtype.itemsize)


def _is_exchanged(
    node: Load | Store | Update, strides: Mapping[Range, int | None], lane: Range, path: Path
) -> bool:
    """True if the access is a transpose in registers: it moves rows along an unrolled range whose
    elements become lanes, or were lanes (`lowered/access.py`)."""
    if strides.get(lane, 0) in (None, 0, 1) or isinstance(node, Update):
        return False
    if isinstance(node, Load) and strides[lane] == 2:
        return True
    rows = (r for r in path if r.level == "unroll" and strides.get(r) == 1 and r.extent > 1)
    return any(isinstance(node, Store) or r.extent % lane.extent == 0 for r in rows)


def _first(ranges: Iterable[Range], level: Level) -> Range | None:
    """The first range of a level."""
    return next((r for r in ranges if r.level == level), None)


def _is_vectorized(items: list[Item], accesses: list[Access], lane: Range | None) -> bool:
    """True if LLVM vectorises these items of an innermost loop: enough iterations, contiguous
    accesses, no predicates and no order to keep."""
    if lane is None or lane.extent < LANES or any(isinstance(it, Update | Scan) for it in items):
        return False
    if any(isinstance(it, Load | Store) and it.predicate is not None for it in items):
        return False
    return all(access.is_contiguous for access in accesses)


def _lane(path: Path) -> Range | None:
    """The loop that LLVM vectorises: the innermost that it does not unroll fully."""
    inside = 1
    for number, each in enumerate(reversed(path)):
        inside *= max(each.extent, 1)
        if inside > UNROLLED or number == len(path) - 1:
            return each
    return None


def _trips_inside(block: LoopBlock) -> int:
    """The most iterations of any loop nest inside one iteration of `block`."""
    most, stack = 1, [(block, 1)]
    while stack:
        at, trips = stack.pop()
        most = max(most, trips)
        for item in at.items:
            if isinstance(item, LoopBlock) and item.range is not None:
                stack.append((item, trips * max(item.range.extent, 1)))
    return most


def _strides(
    node: ScalarNode,
    strides: dict[ScalarNode, dict[Range, int | None]],
    needs: Mapping[ScalarNode, frozenset[Range]],
) -> dict[Range, int | None]:
    """The stride of an index along each range, in elements; None where it varies."""
    match node:
        case Range():
            return {node: 1}
        case Cast():
            return strides[node.sources[0]]
        case Alu(op="add" | "sub", sources=(a, b)):
            sign = 1 if node.op == "add" else -1
            return _sum(strides[a], strides[b], sign)
        case Alu(op="mul", sources=(a, b)) if isinstance(a, Const) or isinstance(b, Const):
            factor, moving = (a, b) if isinstance(a, Const) else (b, a)
            assert isinstance(factor, Const)
            times = int(factor.value) if not factor.dtype.is_float else None
            return {
                r: s * times if s is not None and times is not None else None
                for r, s in strides[moving].items()
            }
        case Alu(op="min" | "max", sources=(a, b)) if isinstance(a, Const) or isinstance(b, Const):
            return strides[b] if isinstance(a, Const) else strides[a]
        case _:
            return dict.fromkeys(needs[node])


def _sum(
    a: dict[Range, int | None], b: dict[Range, int | None], sign: int
) -> dict[Range, int | None]:
    result = dict(a)
    for each, stride in b.items():
        before = result.get(each, 0)
        result[each] = None if stride is None or before is None else before + sign * stride
    return {r: s for r, s in result.items() if s != 0}


def _span(strides: dict[Range, int | None], loops: Path, argument: Argument | Local) -> int:
    """Bytes that these loops touch: whole cache lines, at most the size of the argument."""
    moving = [r for r in loops if r in strides]
    elements = math.prod(r.extent for r in moving)
    steps = [abs(s) for r in moving if (s := strides[r]) is not None]
    nearest = min(steps, default=1) if moving else 1
    width = min(max(nearest, 1) * argument.element.itemsize, LINE)
    return min(max(elements * width, 1), max(argument.size * argument.element.itemsize, 1))

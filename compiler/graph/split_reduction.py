"""split_reduction: a long reduction with few results is split into parts that run on all cores.

    Before:  %0 = buffer x             f32[1048576]
             %1 = reduce sum %0 axes (0) f32[1]
             sink %1
    After:   %0 = buffer x             f32[1048576]
             %3 = reshape %0           f32[16,65536]
             %4 = reduce sum %3 axes (1) f32[16,1]
             %5 = contiguous %4        f32[16,1]
             %6 = reduce sum %5 axes (0) f32[1,1]
             %7 = reshape %6           f32[1]
             sink %7

One reduced axis is split into parts. A first kernel reduces each part and stores the partial
results; a second, small kernel reduces these. Remaining slices, if the extent is no multiple of
the number of parts, are reduced by the second kernel too.

A sum over rows (the first of two axes, for example) is split as well: its parts are blocks of
consecutive rows. So is a matrix product with a long inner axis and few results (split-K), such as
`x.T @ x` of many rows: parallel over results, each core would have to read everything. Not split:
reductions with enough rows for all cores, statistics of rows that one kernel computes and uses,
axes with a dynamic extent, values on several devices, and what `fuse` or `unroll` requests.

Relies on: invariants 1-11 of `verify.py`, no sharded value.
Ensures: the same value, except that floats are summed in another order; at most one partial result
is stored per `SHARE` elements read.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from compiler.core.node import toposort, users
from compiler.core.reason import Number, Reason, shown
from compiler.core.text import microseconds
from compiler.core.trace import Match, Provenance
from compiler.graph import nodes
from compiler.graph.kinds.markers import Fuse
from compiler.graph.nodes import MOVEMENT, TensorNode, elementwise
from compiler.machines.model import DEFAULT
from compiler.ops.table import REDUCTIONS

LONG = 20_000.0
"""Nanoseconds on one core from which a reduction is worth the second kernel, whose overhead is
about 7 µs. Times of the default machine model; measured times were twice as long (EPYC, AVX-512,
two cores, 2026-11-22). On two busy cores of an EPYC with AVX2 (2026-11-23) the second kernel took 2
to 3 µs. Splitting made a sum faster from 4,194,304 floats on, 140 µs in the model (0.63 instead of
0.91 ms); at half of that it made no difference, and at a quarter it cost 4 to 6 µs."""
FEWEST = 2**12
"""Fewer elements never take `LONG`: each would have to take 5 ns."""
PARTS = 16
"""The target number of parts: a multiple of the cores of most machines, for load balance. On two
cores it makes no difference: sums of 1,048,576 floats took 0.25 to 0.29 ms in 2, 4, 8, 16, 32 and
64 parts (EPYC, AVX2, 2026-11-23)."""
LONGEST = 2**16
"""Slices per part above which there are more parts than `PARTS`: the rounding error of a sum grows
with its length. The sum of squares of 16,777,216 float32 between 0 and 1 had an error of 2.3e-6 in
16 parts and of 5.5e-8 in 256, in the same time (2026-11-27, the machine is not on record)."""
MOST = 1024
"""The most parts: one kernel reduces their results. No figure on record."""
WIDEST = 64 * 1024
"""The most bytes of results of one part: they stay in the L1 or L2 cache. Sums over the rows of
65,536 × 64 floats took 0.67 ms split and 0.86 unsplit; of 16,384 × 256, 1.26 and 1.49; of
2,048 × 4,096, 1.44 and 1.51; of 1,024 × 16,384 (65,536 bytes), 1.77 and 1.79 (EPYC, AVX2, two busy
cores, 2026-11-23)."""
SHARE = 64
"""The fewest elements read per partial result, so that storing and loading these costs little.
Chosen, not measured."""
RATIO = 8
"""The least ratio of the slices in a part of a product to the rows, or columns, of its results: the
inner axis of a part then is long, too. 100×100 sums of 20,000 took 15.6 ms in one part, 3.4 in 4,
3.3 in 8, 3.6 in 16, and 23.8 in 32 parts, which are short. 64×64 sums of 100,000 took 21.3, then
9.5, 6.0, 4.9 and 7.2. 2×4,096 sums of 4,096, which are parallel over results, took 1.6 in one part
and 8.4 in 16 (EPYC, AVX2, two busy cores, 2026-11-23)."""
WORST = 0.1
"""The share of the work that runs on one core, or while others wait, from which a split does not
pay. Chosen, not measured."""
ELEMENTWISE = (nodes.Elementwise, nodes.Cast, nodes.Bitcast, *MOVEMENT)
ALGEBRA = "sum(x) = sum(sums of parts of x), likewise prod, max, min"


@dataclass(frozen=True, slots=True)
class Cut:
    """The decision for a reduction: `axis` is split into `parts` (0: not split), with the reason.

    `is_outside`: the results of one part are contiguous, as those of a product.
    """

    axis: int
    parts: int
    reason: str
    is_outside: bool = False


def split_reduction(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with long reductions that have few results split."""
    order = toposort([root])
    return _rebuilt(order, _cuts(order, _times(_plain(order))), provenance, matches)[root]


def reasons(root: TensorNode) -> dict[TensorNode, Cut]:
    """The decision, with its reason, for each reduction under `root`, by the node it becomes."""
    order = toposort([root])
    plain = _plain(order)
    times = _times(plain)
    cuts = _cuts(order, times)
    done = _rebuilt(order, cuts, Provenance(), None)
    cuts |= {node: _short(node, times.get(node)) for node in set(plain) - set(_long(times))}
    return {done[node]: cuts[node] for node in plain if node in cuts}


def _rebuilt(
    order: list[TensorNode],
    chosen: dict[TensorNode, Cut],
    provenance: Provenance[Any],
    matches: list[Match] | None,
) -> dict[TensorNode, TensorNode]:
    """The replacement of each node."""
    cuts = {node: cut for node, cut in chosen.items() if cut.parts}
    if not cuts:
        return dict(zip(order, order, strict=True))
    done: dict[TensorNode, TensorNode] = {}
    for node in order:
        rebuilt = node.with_sources(tuple([done[s] for s in node.sources]))
        if rebuilt is not node:
            provenance.rebuilt(rebuilt, node)
        if isinstance(rebuilt, nodes.Reduce) and node in cuts:
            whole, rebuilt = rebuilt, _in_two(rebuilt, cuts[node])
            provenance.replaced(rebuilt, whole)
            if matches is not None:
                matches.append(Match("split_reduction", ALGEBRA, "", whole, rebuilt))
        done[node] = rebuilt
    return done


def _in_two(node: nodes.Reduce, cut: Cut) -> TensorNode:
    """`node` as two reductions: of each part, stored in memory, and of the partial results."""
    source, axis = node.sources[0], cut.axis
    length, left = divmod(source.shape[axis], cut.parts)
    main = _slices(source, axis, 0, length * cut.parts)
    shape = (*source.shape[:axis], cut.parts, length, *source.shape[axis + 1 :])
    lengths: TensorNode = nodes.Reshape((main,), shape)
    axes, place = tuple(a + (a >= axis) for a in node.axes), axis
    if cut.is_outside:
        order = (axis, *(a for a in range(len(shape)) if a != axis))
        lengths, axes, place = nodes.Permute((lengths,), order), tuple(a + 1 for a in node.axes), 0
    parts = nodes.Contiguous((nodes.Reduce((lengths,), node.op, axes),))
    folded: TensorNode = nodes.Reshape((nodes.Reduce((parts,), node.op, (place,)),), node.shape)
    if not left:
        return folded
    rest = _slices(source, axis, length * cut.parts, source.shape[axis])
    return elementwise(
        REDUCTIONS[node.op].combine, folded, nodes.Reduce((rest,), node.op, node.axes)
    )


def _slices(source: TensorNode, axis: int, begin: int, end: int) -> TensorNode:
    """The slices `begin` … `end` - 1 of an axis."""
    if (begin, end) == (0, source.shape[axis]):
        return source
    bounds = [(0, n) for n in source.shape]
    bounds[axis] = begin, end
    return nodes.Shrink((source,), tuple(bounds))


def _plain(order: list[TensorNode]) -> list[nodes.Reduce]:
    return [n for n in order if isinstance(n, nodes.Reduce) and _is_plain(n)]


def _times(plain: list[nodes.Reduce]) -> dict[nodes.Reduce, float]:
    """The time of each reduction on one core in nanoseconds; small ones are left out."""
    return {n: _nanoseconds(n) for n in plain if n.sources[0].size >= FEWEST}


def _long(times: dict[nodes.Reduce, float]) -> list[nodes.Reduce]:
    """The reductions that take long enough for a second kernel to pay, in order."""
    return [node for node, took in times.items() if took >= LONG]


def _cuts(order: list[TensorNode], times: dict[nodes.Reduce, float]) -> dict[TensorNode, Cut]:
    """The decision for each reduction that takes long enough for a second kernel to pay."""
    long = _long(times)
    if not long:
        return {}
    readers = users(order)
    kept = {n.value for n in order if isinstance(n, Fuse)}
    above = _above_reductions(order)
    return {n: _cut(n, times[n], readers, n in above) for n in long if n not in kept}


def _is_plain(node: nodes.Reduce) -> bool:
    """True if a reduction is a candidate: on one device, not empty, of fixed extents, no unroll."""
    source = node.sources[0]
    is_plain = len(node.devices) <= 1 and not any(source.extents) and not node.unroll
    return is_plain and source.size > 0


def _short(node: nodes.Reduce, took: float | None) -> Cut:
    """The decision not to split a reduction that is too short; `took` is None for a small one."""
    elements = node.sources[0].size
    if took is None:
        words = f"too short for a second kernel: {elements:,} elements"
        return Cut(0, 0, Reason(words, Number("elements folded", elements, "", "at least", FEWEST)))
    words = f"too short for a second kernel: about {shown(took, 'ns')} of one core"
    return Cut(0, 0, Reason(words, _time(took)))


def _time(took: float) -> Number:
    return Number("one core takes about", took, "ns", "worth a second kernel", LONG)


def _nanoseconds(node: nodes.Reduce) -> float:
    """An estimate of the time one core takes to load, or to compute, the reduced elements."""
    source = node.sources[0]
    computed, stack, seen = 0.0, [source], {source}
    while stack:
        below = stack.pop()
        if not isinstance(below, ELEMENTWISE):
            continue
        if isinstance(below, nodes.Elementwise):
            computed += below.size * DEFAULT.operation_ns(below.op, below.dtype.itemsize, True)
        fresh = [s for s in below.sources if s not in seen]
        seen.update(fresh)
        stack += fresh
    return max(computed, source.nbytes / DEFAULT.read[DEFAULT.level(source.nbytes)])


def _above_reductions(order: Iterable[TensorNode]) -> set[TensorNode]:
    """The nodes that may be fused with a reduction below them."""
    above: set[TensorNode] = set()
    for node in order:
        folds = any(isinstance(s, nodes.Reduce) or s in above for s in node.sources)
        if folds and not isinstance(node, nodes.Contiguous):
            above.add(node)
    return above


def _cut(
    node: nodes.Reduce, long: float, readers: dict[TensorNode, list[TensorNode]], is_whole: bool
) -> Cut:
    """The decision for a reduction that takes `long` ns; `is_whole`: prefer equal parts."""
    source = node.sources[0]
    about = f"about {microseconds(long, 0)} of one core"
    sizes = f"{source.size:,} elements to {node.size:,} results"
    seen = [_time(long), Number("elements folded", source.size)]

    def left(against: Reason) -> Cut:
        words = f"{sizes}, {about}: {against}"
        return Cut(0, 0, Reason(words, *seen, *against.numbers))

    parts = _parts_of_axes(node, is_whole)
    axis = next((a for a, n in parts.items() if n), None)
    if axis is None:
        longest = Number("longest axis", max(source.shape[a] for a in node.axes))
        return left(Reason("no axis can be cut into equal parts", longest))
    inner = max(axis for axis, n in enumerate(source.shape) if n > 1)
    is_across = inner not in node.axes
    rows = math.prod(node.shape[:axis]) if is_across else node.size
    to_share = Number("rows to share out", rows, "", "fewer than", PARTS)
    is_product = node.size >= PARTS and _is_product(source)
    if is_product:
        relative = _relative(node, axis, parts[axis])
        against = _against_product(node, relative)
        if against:
            return left(against)
        seen.append(relative)
    elif rows >= PARTS and source.shape[axis] <= 4 * LONGEST:  # four: no figure on record
        return left(Reason(f"enough rows to run in parallel, {rows:,} of them", to_share))
    seen.append(to_share)
    if not is_across and node.size > 1 and _is_statistic(node, readers):
        return left(Reason(f"its {rows} rows are also read where the results are used"))
    written = parts[axis] * node.size * SHARE
    too_many = _too_many(node, written)
    if node.nbytes > WIDEST or written > source.size:
        return left(too_many)
    length, over = divmod(source.shape[axis], parts[axis])
    rest = f", {over} slices left over" if over else ""
    words = f"{sizes}, {about}: axis {axis} in {parts[axis]} parts of {length:,}{rest}"
    why = Reason(words, *seen, *too_many.numbers, Number("parts", parts[axis]))
    return Cut(axis, parts[axis], why, is_product)


def _parts_of_axes(node: nodes.Reduce, is_whole: bool) -> dict[int, int]:
    """The number of parts of each reduced axis; 0 for none. Without equal parts, two kernels read
    the producers: still better than one long sum."""
    source, parts = node.sources[0], dict[int, int]()
    for axis in node.axes:
        extent = source.shape[axis]
        aim = _aim(extent, node, source)
        parts[axis] = (is_whole and _parts(extent, True, aim)) or _parts(extent, False, aim)
    return parts


def _relative(node: nodes.Reduce, axis: int, parts: int) -> Number:
    """The axis of a product, compared with the results."""
    sides = RATIO * parts * max(node.shape)
    against = "long compared with the results from"
    return Number("the axis", node.sources[0].shape[axis], "", against, sides)


def _against_product(node: nodes.Reduce, relative: Number) -> Reason:
    """The reason why a product is left to its tiles; empty if its axis is long and results few."""
    if node.nbytes <= WIDEST and relative.sign != "<":
        return Reason()
    results = Number("results", node.nbytes, "bytes", "at most", WIDEST)
    return Reason("a product, parallel over tiles of results", results, relative)


def _too_many(node: nodes.Reduce, written: int) -> Reason:
    """The reason against too many partial results: their bytes and their share of the elements."""
    size = Number("results of one part", node.nbytes, "bytes", "at most", WIDEST)
    words = f"results of all parts, times {SHARE}"
    share = Number(words, written, "", "elements", node.sources[0].size)
    return Reason("too many partial results to write and read", size, share)


def _aim(extent: int, node: TensorNode, source: TensorNode) -> int:
    """The target number of parts of an axis: more for a long one, except in a product."""
    if node.size >= PARTS and _is_product(source):
        return PARTS
    return max(PARTS, min(extent // LONGEST, MOST) // PARTS * PARTS)


def _parts(extent: int, is_whole: bool, aim: int = PARTS) -> int:
    """The number of parts to split an axis into; 0 where no number works well."""
    least, most = aim // 2, min(2 * aim, extent)
    counts = [n for n in range(least, most + 1) if not is_whole or extent % n == 0]
    best = min(counts, key=lambda n: (_wasted(extent, n), abs(n - aim)), default=0)
    return best if best and _wasted(extent, best) <= WORST else 0


def _wasted(extent: int, parts: int) -> float:
    """The share of the work in remaining slices, and of the time that cores idle at the end."""
    return (extent % parts) / extent + (1 / parts if parts % 4 else 0.0)


def _is_statistic(node: nodes.Reduce, readers: dict[TensorNode, list[TensorNode]]) -> bool:
    """True if the results are broadcast: an elementwise user of them has more elements."""
    seen: set[TensorNode] = set()
    stack: list[TensorNode] = [node]
    while stack:
        for reader in readers[stack.pop()]:
            if not isinstance(reader, ELEMENTWISE) or reader in seen:
                continue
            if reader.size > node.size:
                return True
            seen.add(reader)
            stack.append(reader)
    return False


def _is_product(source: TensorNode) -> bool:
    """True for a product with reuse: each factor is computed from fewer elements than are summed.
    """
    if not isinstance(source, nodes.Elementwise) or source.op != "mul":
        return False
    return all(_read(factor) < source.size for factor in source.sources)


def _read(factor: TensorNode) -> int:
    """The size of the largest array that a factor is computed from."""
    stack, seen, largest = [factor], {factor}, 0
    while stack:
        node = stack.pop()
        if isinstance(node, ELEMENTWISE):
            fresh = [s for s in node.sources if s not in seen]
            seen.update(fresh)
            stack += fresh
        else:
            largest = max(largest, node.size)
    return largest

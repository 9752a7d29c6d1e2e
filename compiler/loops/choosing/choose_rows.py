"""Choices for reductions along rows, and kernels that use them: sums, softmax, norms."""

import itertools

from compiler.core.node import toposort
from compiler.core.reason import Number, Reason
from compiler.loops.choices import CacheRow, Choices, Prefetch, Refused, Row, chosen
from compiler.loops.choosing.accesses import Accesses, extents
from compiler.loops.choosing.choose_taps import TAPS, side_by_side
from compiler.loops.choosing.lanes import (
    against_lanes,
    against_order,
    has_lanes,
    in_vectors,
    is_read_in_order,
    kept_on_one_core,
    lanes_along,
    shared_out,
    streamed,
)
from compiler.loops.choosing.row_folds import BLOCK, around, in_rows
from compiler.loops.nodes import Alu, Range, Reduce, ScalarNode, axis_name
from compiler.loops.transforms.axes import next_number
from compiler.loops.transforms.cache_row import repeated
from compiler.loops.transforms.levels import length
from compiler.machines.model import EXPENSIVE, NEVER_VECTOR, MachineModel

ACCUMULATORS = 4
"""Interleaved accumulators of a cheap reduction: an addition waits only for the fourth before it. A
sum of 65,537 takes 4.9, 4.0, 3.8 and 3.9 µs with 1, 2, 4 and 8 (EPYC, AVX2, 2026-11-23)."""
WORTH_KEEPING = 0.1
"""Nanoseconds of an operation from which its result is stored instead of recomputed. softmax of
1024² takes 0.83 ms with 0.1 or less, where the exponentials are stored, and 1.25 with 0.3 (EPYC,
AVX2, 2026-11-23)."""
WORTH_CACHING = frozenset(
    op for op, ns in EXPENSIVE.items() if ns >= WORTH_KEEPING and op not in NEVER_VECTOR
)
"""Operations that take longer than storing their result in a near cache and reading it again."""
FEW_VECTORS = 2
"""The same as `ACCUMULATORS` for values that are expensive to compute: these need registers and
hide the latency. softmax of 1024² takes 0.98, 0.87 and 0.93 ms with 1, 2 and 4 (EPYC, AVX2,
2026-11-23)."""

MOST_SUMS = 64
"""Unrolled vectors of sums, if several results share their loads. More than the registers hold: 9
results of 4 vectors, 36, take 0.51 ms, of one vector at a time 0.59 (EPYC, Zen 3, AVX2,
2026-11-27)."""

PAGE = 4096
"""Bytes of a row from which hardware no longer prefetches the beginning of the next. softmax of
4096², with prefetches, went from 6.0 to 4.7 ms on two cores (EPYC, AVX-512, 2026-11-22). Rows of
2,048 bytes take as long without; of 4,096 3.6 ms rather than 2.9, of 16,384 7.4 rather than 5.7
(EPYC, AVX2, 2026-11-23)."""

LEAST_TRIPS = {16: 9, 8: 12}
"""By lanes, the trip count from which vectors, the last one masked, beat loops unrolled by LLVM.
Chosen where masks are cheap, without a figure on record; without such masks 1,000 sums of 9 take
2.1 µs in vectors and 2.0 plain, rows of 9 less their maximum 10.8 and 3.4 (EPYC, AVX2,
2026-11-23)."""
LEAST_WRITTEN = {16: 9, 8: 9}
"""The same where rows are written as well. 1,000 rows of 9, 10 and 11 less their maximum take 3.9,
5.0 and 4.8 µs in vectors of 8, 5.1, 5.8 and 5.6 plain, layernorm 5.9, 6.9 and 6.9, and 9.9, 11.3
and 12.0; maxima alone 3.5, 4.2 and 4.6, and 3.0, 3.1 and 3.2 (EPYC, Zen 5, AVX2, 2026-11-24). In
float64 the first take 4.7, 4.5 and 4.5, and 15.8, 17.9 and 20.6 (the same machine, AVX-512)."""
LEAST_OF_MANY, MANY_ROWS = {16: 7, 8: 7}, 4
"""The same where one result reduces that many rows, with one reduction of the lanes. 400 results of
16 by 5, 7 and 9 take 5.5, 5.3 and 6.0 µs in vectors, 5.0, 6.7 and 8.5 plain, maxima 6.5, 6.6 and
7.2 and 8.9, 11.8 and 15.0; of 2 by 7 1.4 and 1.1; in float64 of 16 by 5, 7 and 9 5.4, 6.1 and 9.8
and 4.7, 6.4 and 8.2 (Xeon, AVX-512, 2026-11-23)."""


def rows(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Vectors along every reduction and the innermost axis of the output; cores over the rows."""
    if not seen.reductions:
        return Reason("it does not fold")
    if _is_fold_of_sums(seen):
        return Reason("of folds that stand in each other one has several loops")
    folded, inside = _rows_apart(seen)
    inner = seen.ranges[-1] if seen.ranges else None
    apart = None if inner is None or _is_needed(seen, inner) else inner
    lanes = lanes_along(seen, folded if apart is None else [*folded, apart], model)
    against = next(filter(None, (_against_row(seen, axis, lanes) for axis in folded)), None)
    if against:
        return against
    written = inner if inner is not None and _is_written_along(seen, inner, lanes) else None
    passes = folded if written is None else [*folded, written]
    choices: list[Row] = [*_kept(seen, passes, lanes, model), *inside]
    for axis in folded:
        choices += in_rows(seen, axis, lanes, _side_by_side(seen, axis))
    if written is not None:
        choices += _written(seen, written, lanes, model)
    elif apart is not None:
        least = LEAST_WRITTEN.get(lanes, 0)
        why = against_order(seen, apart) or against_lanes(seen, apart, lanes, least)
        choices.append(Refused("vectorize", why))
    else:
        choices += _beside(seen, folded, lanes)
    if len(seen.ranges) > (written is not None):
        choices += shared_out(seen, seen.ranges[0].name, seen.ranges[0].extent, model)
    else:
        choices += kept_on_one_core(seen, model)
    return chosen((*choices, *_fetched(seen, passes, choices, model)))


def _is_needed(seen: Accesses, axis: Range) -> bool:
    """True if a reduction depends on `axis`."""
    return any(axis in seen.needs[fold] for fold in seen.reductions)


def _written(seen: Accesses, inner: Range, lanes: int, model: MachineModel) -> list[Row]:
    """Vectors along the row that is written, stored past the caches where that pays."""
    what = "the row that is written"
    vectors = in_vectors(inner.name, inner.extent, lanes, FEW_VECTORS, what)
    return [*vectors, *streamed(seen, inner, lanes, model)]


def _beside(seen: Accesses, folded: list[Range], lanes: int) -> list[Row]:
    """The unrolling of a few results that share their loads."""
    vectors = sum(min(-(-axis.extent // lanes), BLOCK) for axis in folded)
    unrolled = side_by_side(seen, min(TAPS, MOST_SUMS // max(vectors, 1)))
    return [] if isinstance(unrolled, Reason) else unrolled


def _is_fold_of_sums(seen: Accesses) -> bool:
    """True if reductions are nested and one has several loops: a kernel of its own for the inner
    sums, with tiles, pays. Means of 16 windows of 3×3 by 16 channels of 24² take 52 µs in one
    kernel of rows, 26 in two (Xeon, AVX-512, 2026-11-23)."""
    loops = frozenset[ScalarNode]().union(*(fold.ranges for fold in seen.reductions))
    is_nested = any(seen.needs[fold] & loops for fold in seen.reductions)
    return is_nested and any(len(fold.ranges) > 1 for fold in seen.reductions)


def _rows_apart(seen: Accesses) -> tuple[list[Range], list[Row]]:
    """The reduction axes to vectorise, the longest of nested ones, and the reasons against the
    others: a value depends on both, and may depend on one vector axis only."""
    every = list(dict.fromkeys(r.ranges[-1] for r in seen.reductions))
    together = [seen.needs[n].union(*(seen.needs[s] for s in n.sources)) for n in seen.order]
    rows, inside = list[Range](), list[Row]()
    for axis in sorted(every, key=lambda r: -(length(r) or 0)):
        longer = next((r for r in rows if any({r, axis} <= below for below in together)), None)
        if longer is None:
            rows.append(axis)
            continue
        words = f"a value depends on {axis.name} and on {longer.name}, which has more iterations"
        trips = Number(f"trip count of {axis.name}", axis.extent, "", longer.name, longer.extent)
        inside.append(Refused("vectorize", Reason(words, trips)))
    return [axis for axis in every if axis in rows], inside


def _fetched(
    seen: Accesses, passes: list[Range], chosen_rows: list[Row], model: MachineModel
) -> list[Row]:
    """The prefetch of the next row, in the longest pass over a row."""
    keeps = [row for row in chosen_rows if isinstance(row, CacheRow)]
    outside = [r for r in seen.ranges if r not in passes]
    if not keeps or not outside:
        return []  # without expensive passes memory is busy anyway
    near = Number("bytes touched", seen.nbytes, "bytes", "level-2 cache", model.cache_bytes[1])
    if seen.nbytes < model.cache_bytes[1]:
        return [Refused("prefetch", Reason("what is touched stays in the level-2 cache", near))]
    along = next(axis for axis in passes if axis.name == keeps[0].axis)
    kept = axis_name("normal", next_number(seen.body))
    steps = {
        a.argument.slot: (a.step(outside[-1]) or 0) * a.argument.element.itemsize
        for a in seen.loads
        if a.step(along) == 1
    }
    longest = Number("longest row read", max(steps.values(), default=0), "bytes", "a page", PAGE)
    slots = [slot for slot, step in steps.items() if step >= PAGE]
    if not slots:
        words = "the hardware prefetches rows as short as these"
        return [Refused("prefetch", Reason(words, near, longest))]
    words = f"memory brings the next {along.extent} elements while these are computed with"
    why = Reason(words, near, longest)
    return [Prefetch(slot, kept, outside[-1].name, why) for slot in sorted(slots)]


def _kept(seen: Accesses, passes: list[Range], lanes: int, model: MachineModel) -> list[Row]:
    """Values that two passes over a row compute, cached if expensive and if the row fits a
    cache."""
    number, choices = next_number(seen.body), list[Row]()
    for axis, into in itertools.combinations(passes, 2):
        most = model.cache_bytes[1] // 2 // seen.widest
        if axis.sources != into.sources or axis.extent <= lanes:
            continue  # what is one vector is computed again before it could be read again
        pairs = repeated(seen.body, axis, into)
        below = (node for value, _ in pairs for node in _own(seen, value, axis))
        costly = {node.op for node in below if node.op in WORTH_CACHING}
        if not costly:
            continue
        names = " and ".join(sorted(costly))
        row = axis.extent * seen.widest
        near = Number("bytes of a row", row, "bytes", "half the level-2 cache", most * seen.widest)
        if axis.extent > most:
            words = f"a row of {axis.extent:,} elements does not stay near: {names} again"
            choices.append(Refused("cache_row", Reason(words, near)))
            continue
        words = f"{names} again for {axis.extent} elements costs more than {seen.widest} bytes each"
        took = max(EXPENSIVE[name] for name in costly)
        name = "the most expensive operation"
        costliest = Number(name, took, "ns", "worth storing from", WORTH_KEEPING)
        more = Number("elements of a row", axis.extent, "", "lanes", lanes)
        choices.append(CacheRow(axis.name, into.name, Reason(words, costliest, near, more)))
        for _ in pairs:
            choices += in_vectors(
                axis_name("normal", number), axis.extent, lanes, FEW_VECTORS, "the cached row"
            )
            number += 1
        return choices
    return choices


def _own(seen: Accesses, value: ScalarNode, axis: Range) -> list[Alu]:
    """The operations of `value` that depend on `axis`."""
    order: list[ScalarNode] = toposort([value])
    return [n for n in order if isinstance(n, Alu) and axis in seen.needs[n]]


def _against_row(seen: Accesses, axis: Range, lanes: int) -> Reason:
    """The reason why `axis` is not vectorised: a strided load, or few iterations; empty if it
    is."""
    along = {a.step(axis) for a in seen.loads if axis in seen.needs[a.node]}
    if 1 not in along:
        return Reason(f"nothing is read one element after the other along {axis.name}")
    jumps = along - {0, 1}
    if jumps:
        largest = max((step for step in jumps if step is not None), key=abs, default=None)
        words = f"a load is strided along {axis.name}"
        if largest is None:
            return Reason(words)
        return Reason(words, Number(f"step of {axis.name}", largest, "", "at most", 1))
    return against_lanes(seen, axis, lanes, _least(seen, axis, lanes))


def _least(seen: Accesses, axis: Range, lanes: int) -> int:
    """The trip count from which vectorising the reduction of a row pays, with others or alone."""
    if extents(around(seen, axis)) >= MANY_ROWS:
        return LEAST_OF_MANY.get(lanes, lanes)
    is_written = any(all(r not in seen.needs[f] for f in seen.reductions) for r in seen.ranges[-1:])
    return (LEAST_WRITTEN if is_written else LEAST_TRIPS).get(lanes, lanes)


def _is_written_along(seen: Accesses, axis: Range, lanes: int) -> bool:
    """True if the output is contiguous along `axis`, and only loads depend on it."""
    is_apart = all(axis not in seen.needs[r] for r in seen.reductions)
    is_in_order = seen.store.step(axis) == 1 and is_read_in_order(seen, axis)
    return is_apart and is_in_order and _fills(seen, axis, lanes)


def _fills(seen: Accesses, axis: Range, lanes: int) -> bool:
    """True if iterations of `axis` can be lanes, and are more than LLVM unrolls fully."""
    return has_lanes(seen, axis, lanes, LEAST_WRITTEN.get(lanes, lanes))


def _side_by_side(seen: Accesses, axis: Range) -> int:
    """The number of interleaved accumulators."""
    inside = (n for n in seen.order if axis in seen.needs[n])
    is_expensive = any(isinstance(n, Alu | Reduce) and n.op in EXPENSIVE for n in inside)
    return FEW_VECTORS if is_expensive else ACCUMULATORS

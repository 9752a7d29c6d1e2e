"""lanes: choices for vectorisation and parallelisation, shared by all kinds of kernels.

    tile i0 64, tile i0.1 16:   for i0.0 …   i0.1.0 unroll, i0.1.1 vector
                                for i0.2.0 … i0.2.1 vector   the remainder of 64, in vectors
                                i0.2.2.1 vector              the remainder of these, masked
"""

from collections.abc import Iterable

from compiler.core.reason import Number, Reason, shown
from compiler.core.text import microseconds
from compiler.loops.alive import alive
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import (
    Choice,
    Parallelize,
    Refused,
    Row,
    Stream,
    Tile,
    Unroll,
    Vectorize,
)
from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.nodes import Alu, Range
from compiler.loops.placement import place
from compiler.loops.transforms.levels import length, obstacle
from compiler.machines.model import POLYNOMIALS, MachineModel

LINE, PARTS = 64, (16, 32)
"""Bytes of one cache line, on x86 and most others. Non-temporal stores of parts of a line are
combined until the line is whole."""
IN_VECTORS = (0, 1, 2)
"""The greatest stride between lanes of one load; with a greater one each lane is loaded by itself
(`lowered/access.py`)."""
MASKED = 64
"""Bytes of a vector from which machines have mask registers: AVX-512 and SVE do, AVX2 and NEON do
not."""
NEAR = 2
"""The share of the last cache, 1/n, from which non-temporal stores are faster. Changed from 4
on 2026-11-22 (EPYC, AVX-512), without a figure on record; four operations on 1,000,000, or 16 MB in
all, take 285, 275 and 272 µs with 1, 2 and 4, on 2,000,000 845, 876 and 774 (EPYC, AVX2,
2026-11-23)."""
BESIDE_CONSTANTS = 2
"""Unrolled vectors if constants of polynomials are in registers too. With 4 LLVM spills values of
gelu, exp, tanh and the logistic function, with AVX2 and with NEON; with 2 gelu of 16,384 takes 8.4
µs rather than 7.9, the logistic function 7.7 rather than 7.4, of 2²⁴ all the same (EPYC, Zen 5,
AVX2, 2026-11-24)."""
WORTH_THREADS = 20_000.0
"""Nanoseconds of work below which a kernel stays on one core. A round number, not measured: handing
work over takes 0.84 µs where a thread waits for it, 52 to 58 where it sleeps (Xeon,
AVX-512, before 2026-11-22)."""


def lane_count(seen: Accesses, model: MachineModel) -> int:
    """The lanes of a vector register, for the widest type."""
    return max(model.vector_bytes // seen.widest, 1)


def lanes_along(seen: Accesses, axes: Iterable[Range], model: MachineModel) -> int:
    """The same for the widest type that depends on one of `axes`."""
    return max(model.vector_bytes // seen.widest_along(axes), 1)


def way_bytes(model: MachineModel) -> int:
    """The bytes between lines that share a set of the first cache: 4,096 on most x86."""
    return model.cache_bytes[0] // model.ways[0]


def has_masks(model: MachineModel) -> bool:
    """True if the machine has mask registers; elsewhere a mask is a vector, which LLVM computes in
    each iteration."""
    return model.vector_bytes >= MASKED


def has_lanes(seen: Accesses, axis: Range, lanes: int, least: int = 0) -> bool:
    """True if iterations of `axis` can be lanes, and are at least `least`, or fill a vector."""
    return not against_lanes(seen, axis, lanes, least)


def against_lanes(seen: Accesses, axis: Range, lanes: int, least: int = 0) -> Reason:
    """The reason why the iterations of `axis` cannot be lanes; empty if they can."""
    trips, wanted = length(axis), least or lanes
    if trips is None:
        return Reason(f"the extent of {axis.name} is a variable")
    if lanes < 2:
        few = Number("lanes of a vector", lanes, "", "at least", 2)
        return Reason("a vector holds one element", few)
    if trips < wanted:
        words = f"{axis.name} has {trips} iterations, fewer than {wanted}"
        return Reason(words, trip_count(axis.name, trips, "the least that pays", wanted))
    return Reason(obstacle(seen.order, axis, seen.needs))


def trip_count(name: str, trips: int, against: str, limit: int) -> Number:
    """The trip count of an axis with its limit."""
    return Number(f"trip count of {name}", trips, "", against, limit)


def is_read_in_order(seen: Accesses, axis: Range) -> bool:
    """True if every load has stride 1 or 0 along `axis`."""
    return all(a.step(axis) in (0, 1) for a in seen.loads if axis in seen.needs[a.node])


def against_order(seen: Accesses, axis: Range) -> Reason:
    """The reason why vectors along `axis` would be strided; empty if they are not.

    A stride of 2 is accepted: it is loaded as two vectors, of which half is used.
    """
    step = seen.store.step(axis)
    if step != 1:
        moved = "an unknown number of" if step is None else f"{step:,}"
        words = f"an iteration of {axis.name} moves {moved} elements of the output"
        return Reason(words, *([] if step is None else [_step(seen.store, axis, step)]))
    for load in (a for a in seen.loads if axis in seen.needs[a.node]):
        along = load.step(axis)
        if along is None:
            return Reason(f"{load.argument.name} has no constant stride along {axis.name}")
        if along not in IN_VECTORS:
            words = f"an iteration of {axis.name} moves {along:,} elements of {load.argument.name}"
            return Reason(words, _step(load, axis, along))
    return Reason()


def _step(access: Access, axis: Range, step: int) -> Number:
    """The stride of an access along an axis."""
    where = f"step of {axis.name} in {access.argument.name}"
    return Number(where, step, "", "one after another", 1)


def side_by_side(seen: Accesses, model: MachineModel, most: int) -> int:
    """The unrolled vectors of a kernel without reductions: all their values fit in registers."""
    several = BESIDE_CONSTANTS if has_polynomials(seen) and not model.broadcasts else most
    return max(min(several, model.registers // max(alive(place(seen.body), seen.needs), 1)), 1)


def has_polynomials(seen: Accesses) -> bool:
    """True if the kernel has operations with many constants."""
    return any(isinstance(n, Alu) and n.op in POLYNOMIALS for n in seen.order)


def in_vectors(
    name: AxisName, trips: int, lanes: int, unroll: int, what: str
) -> list[Choice]:
    """The iterations of an axis as lanes of `unroll` registers, with the remainder in vectors."""
    if trips < lanes:
        return _masked(name, trips, lanes)
    unroll = max(min(unroll, trips // lanes), 1)
    seen = trip_count(name, trips, "lanes", lanes)
    words = Reason(f"{what}: {trips} iterations in vectors of {lanes}", seen)
    if unroll == 1:
        whole: list[Choice] = [Tile(name, lanes, "peel", words), Vectorize(name.inner, words)]
        return whole + _masked(name.rest, trips % lanes, lanes)
    several = trip_count(name, trips, f"{unroll} vectors of {lanes}", lanes * unroll)
    choices: list[Choice] = [
        Tile(name, lanes * unroll, "peel", Reason(f"{words}, {unroll} at a time", several)),
        Tile(name.inner, lanes, "peel", words),
        Unroll(name.inner.outer,
               Reason(f"{unroll} vectors at a time hide the latency of each", several)),
        Vectorize(name.inner.inner, words),
    ]  # fmt: skip
    return choices + _rest(name.rest, trips % (lanes * unroll), lanes, unroll)


def _rest(name: AxisName, trips: int, lanes: int, unroll: int) -> list[Choice]:
    """The remainder of unrolled vectors: one vector at a time, the last one masked."""
    if trips < lanes:
        return _masked(name, trips, lanes)
    seen = trip_count(name, trips, "lanes", lanes)
    words = Reason(f"{trips} iterations are left by {unroll} vectors of {lanes}", seen)
    whole: list[Choice] = [Tile(name, lanes, "peel", words), Vectorize(name.inner, words)]
    return whole + _masked(name.rest, trips % lanes, lanes)


def _masked(name: AxisName, trips: int, lanes: int) -> list[Choice]:
    """The remainder of whole vectors: one masked vector."""
    if trips < 2:
        return []
    seen = trip_count(name, trips, "lanes", lanes)
    words = Reason(f"{trips} iterations are left by vectors of {lanes}: one more, masked", seen)
    return [Tile(name, lanes, "mask", words), Vectorize(name.inner, words)]


def shared_out(seen: Accesses, name: str, trips: int, model: MachineModel) -> list[Row]:
    """The outermost axis divided among all cores, if the work is worth it."""
    took, outside = seen.nanoseconds(model), trip_count(name, trips, "cores", model.cores)
    work = _work(took)
    cost = f"about {microseconds(took, 0)} of work"
    words = f"{cost}, {trips} iterations outside, {model.cores} cores"
    against = _against_threads(took, model)
    if not against and trips < model.cores:
        against = Reason(f"{words}: too few iterations to share out", work, outside)
    if against:
        return [Refused("parallelize", against)]
    return [Parallelize(name, model.cores, Reason(words, work, outside))]


def kept_on_one_core(seen: Accesses, model: MachineModel) -> list[Row]:
    """The rejected parallelisation, with its reason, if the work is not worth several cores."""
    against = _against_threads(seen.nanoseconds(model), model)
    return [Refused("parallelize", against)] if against else []


def _against_threads(took: float, model: MachineModel) -> Reason:
    """The reason why a kernel stays on one core, whatever its loops; empty if there is none."""
    if model.cores < 2:
        return Reason("one core runs the program", Number("cores", model.cores, "", "at least", 2))
    if took < WORTH_THREADS:
        words = f"about {shown(took, 'ns')} of work: too little to share out"
        return Reason(words, _work(took))
    return Reason()


def _work(took: float) -> Number:
    """The estimated time of a kernel on one core."""
    return Number("work", took, "ns", "worth several threads", WORTH_THREADS)


def is_worth_threads(seen: Accesses, model: MachineModel) -> bool:
    """True if the kernel has enough work for several cores."""
    return model.cores > 1 and seen.nanoseconds(model) >= WORTH_THREADS


def streamed(seen: Accesses, axis: Range, lanes: int, model: MachineModel) -> list[Row]:
    """Non-temporal stores of whole cache lines, if the kernel touches more than the caches hold."""
    held = model.cache_bytes[-1] // NEAR
    size = seen.store.argument.element.itemsize
    touched = Number("bytes touched", seen.nbytes, "bytes", f"1/{NEAR} of the last cache", held)
    if seen.nbytes < held:
        words = f"{seen.nbytes:,} bytes are touched: they may stay in the last cache"
        return [Refused("stream", Reason(words, touched))]
    if lanes * size % LINE and lanes * size not in PARTS:
        line = Number("a vector stores", lanes * size, "bytes", "a line of memory", LINE)
        words = "vectors are no whole lines of memory, nor a half or a quarter of one"
        return [Refused("stream", Reason(words, touched, line))]
    apart = [step * size for each, step in seen.store.steps.items() if each is not axis]
    odd = next((nbytes for nbytes in apart if nbytes % LINE), 0)
    if odd:
        words = f"rows of the output are {odd:,} bytes apart, no multiple of {LINE}"
        over = Number("bytes past whole lines", odd % LINE, "bytes", "none", 0)
        return [Refused("stream", Reason(words, touched, over))]
    words = f"{seen.nbytes:,} bytes are touched: it pays from {held:,}, 1/{NEAR} of the last cache"
    return [Stream(0, Reason(words, touched))]

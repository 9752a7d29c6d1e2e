"""Choices for a few sums that share their loads, such as the gradient of a filter's taps.

    out[i0, i1, i2] = Σ r3 r4 r5  image[i0, r3, i1 + r4, i2 + r5] * change[i0, r3, r4, r5]

The results of one iteration of the outer loops are unrolled: shared operands are loaded once for
all of them, and no addition waits for another result. Where rows of the sum are vectors,
`choose_rows.py` does this; elsewhere, as for strided windows, sums stay plain. For the weights of
64 filters of 3×3, each on a channel of 28² of 8 images, the gradient takes 0.51 ms so and 0.88 one
tap after the other, with steps of two 0.28 and 1.20, of 32 filters on 56² of 16 images 1.13 and
2.23 (EPYC, Zen 3, AVX2, two busy cores, 2026-11-27).
"""

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Row, Unroll, chosen
from compiler.loops.choosing.accesses import Accesses
from compiler.loops.choosing.lanes import shared_out
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import length
from compiler.machines.model import MachineModel

TAPS = 16
"""The most unrolled results. Not measured: 9 of 3×3 are, of 5×5 one line of 5 at a time."""


def taps(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """A few unrolled results; cores over the outermost loop."""
    unrolled = side_by_side(seen, TAPS)
    if isinstance(unrolled, Reason):
        return unrolled
    outer = seen.ranges[0]
    return chosen((*unrolled, *shared_out(seen, outer.name, outer.extent, model)))


def side_by_side(seen: Accesses, most: int) -> list[Row] | Reason:
    """The unrolling of at most that many results, or the reason against it."""
    if len(seen.reductions) != 1 or len(seen.ranges) < 2:
        return Reason("it is not one sum for each of several rows")
    axes, results = list[Range](), 1
    for axis in reversed(seen.ranges[1:]):
        trips = length(axis)
        if trips is None or results * trips > most:
            break
        axes.append(axis)
        results *= trips
    few = Number("unrolled results", results, "", "at most", most)
    if results < 2:
        return Reason("its innermost loops have too many results to unroll", few)
    folded, beside = set(seen.reductions[0].ranges), set(axes)
    inside = [seen.needs[a.node] for a in seen.loads if seen.needs[a.node] & folded]
    shared = sum(not needs & beside for needs in inside)
    if shared in (0, len(inside)):
        return Reason("the results of an iteration share nothing that they read, or all of it")
    loads = Number("loads that all of them share", shared, "", "at least", 1)
    words = f"{results} sums share their loads, and none waits for another"
    return [Unroll(axis.name, Reason(words, few, loads)) for axis in axes]

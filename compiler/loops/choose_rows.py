"""Choices for reductions along rows, and what is computed from them: sums, softmax, norms."""

import itertools

from compiler.loops.accesses import Accesses
from compiler.loops.axes import next_number
from compiler.loops.choices import Choice, Choices, Keep, Prefetch
from compiler.loops.keep import repeated
from compiler.loops.lanes import (
    has_lanes,
    in_vectors,
    is_read_in_order,
    lanes_along,
    shared_out,
    streamed,
)
from compiler.loops.nodes import Alu, Range, Reduce, ScalarNode
from compiler.machine import EXPENSIVE, NEVER_VECTOR, MachineModel
from compiler.node import toposort

ACCUMULATORS = 4
"""Vectors that a cheap fold adds to by turns: an addition waits only for the fourth before it."""
DEAR_ONES = frozenset(op for op, ns in EXPENSIVE.items() if ns >= 0.1 and op not in NEVER_VECTOR)
"""Operations that take longer than to keep their result near, and to read it again."""
DEAR = 2
"""The same where each value is dear to compute, which takes registers and hides the wait."""

PAGE = 4096
"""Bytes of a row from which its beginning is no longer what the processor fetches by itself."""

LEAST = {16: 9, 8: 12}
"""By lanes: turns from which vectors, a masked one at the end, beat loops that LLVM unrolls."""


def rows(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along every reduction and the output's innermost axis; cores over the rows."""
    if not seen.reductions or any(len(r.ranges) != 1 for r in seen.reductions):
        return None
    folded = list(dict.fromkeys(r.ranges[0] for r in seen.reductions))
    apart = [r for r in seen.ranges[-1:] if all(r not in seen.needs[f] for f in seen.reductions)]
    lanes = lanes_along(seen, [*folded, *apart], model)
    if not all(_is_row(seen, axis) and _fills(seen, axis, lanes) for axis in folded):
        return None
    inner = seen.ranges[-1] if seen.ranges else None
    is_written = inner is not None and _is_written_along(seen, inner, lanes)
    passes = [*folded, inner] if inner is not None and is_written else folded
    choices: list[Choice] = _kept(seen, passes, lanes, model)
    for axis in folded:
        side = _side_by_side(seen, axis)
        choices += in_vectors(axis.name, axis.extent, lanes, side, "a fold along a row")
    if inner is not None and is_written:
        choices += in_vectors(inner.name, inner.extent, lanes, DEAR, "the row that is written")
        choices += streamed(seen, inner, lanes, model)
    if len(seen.ranges) > is_written:
        choices += shared_out(seen, seen.ranges[0].name, seen.ranges[0].extent, model)
    return Choices((*choices, *_fetched(seen, passes, choices, model)))


def _fetched(
    seen: Accesses, passes: list[Range], chosen: list[Choice], model: MachineModel
) -> list[Choice]:
    """The row that follows, asked for by the pass over a row that computes longest."""
    keeps = [row for row in chosen if isinstance(row, Keep)]
    outside = [r for r in seen.ranges if r not in passes]
    if not keeps or not outside or seen.nbytes < model.cache_bytes[1]:
        return []  # without dear passes memory is busy anyway; what is near need not be fetched
    along = next(axis for axis in passes if axis.name == keeps[0].axis)
    kept = f"i{next_number(seen.body)}"
    slots = {
        a.argument.slot
        for a in seen.loads
        if a.step(along) == 1
        and (step := a.step(outside[-1]))
        and step * a.argument.element.itemsize >= PAGE
    }
    words = f"memory brings the next {along.extent} elements while these are computed with"
    return [Prefetch(slot, kept, outside[-1].name, words) for slot in sorted(slots)]


def _kept(
    seen: Accesses, passes: list[Range], lanes: int, model: MachineModel
) -> list[Choice]:
    """What two passes over a row compute, once, where it is dear and a row is near."""
    number, choices = next_number(seen.body), list[Choice]()
    for axis, into in itertools.combinations(passes, 2):
        is_near = lanes < axis.extent <= model.cache_bytes[1] // 2 // seen.widest
        if axis.sources != into.sources or not is_near:
            continue  # and what is one vector is computed again before it could be read again
        pairs = repeated(seen.body, axis, into)
        dear = {n.op for value, _ in pairs for n in _own(seen, value, axis) if n.op in DEAR_ONES}
        if not dear:
            continue
        names = " and ".join(sorted(dear))
        words = f"{names} again for {axis.extent} elements costs more than {seen.widest} bytes each"
        choices.append(Keep(axis.name, into.name, words))
        for _ in pairs:
            choices += in_vectors(f"i{number}", axis.extent, lanes, DEAR, "the row that is kept")
            number += 1
        return choices
    return choices


def _own(seen: Accesses, value: ScalarNode, axis: Range) -> list[Alu]:
    """The operations below `value` that are done for every turn of `axis`."""
    order: list[ScalarNode] = toposort([value])
    return [n for n in order if isinstance(n, Alu) and axis in seen.needs[n]]


def _is_row(seen: Accesses, axis: Range) -> bool:
    """Whether some load goes along `axis` one by one, and none jumps."""
    along = [a.step(axis) for a in seen.loads if axis in seen.needs[a.node]]
    return 1 in along and set(along) <= {0, 1}


def _is_written_along(seen: Accesses, axis: Range, lanes: int) -> bool:
    """Whether the output is written in order along `axis`, which nothing but loads depends on."""
    is_apart = all(axis not in seen.needs[r] for r in seen.reductions)
    is_in_order = seen.store.step(axis) == 1 and is_read_in_order(seen, axis)
    return is_apart and is_in_order and _fills(seen, axis, lanes)


def _fills(seen: Accesses, axis: Range, lanes: int) -> bool:
    """Whether the turns of `axis` can be lanes, and are more than LLVM unrolls as they are."""
    return has_lanes(seen, axis, lanes, LEAST.get(lanes, lanes))


def _side_by_side(seen: Accesses, axis: Range) -> int:
    """How many vectors are folded by turns."""
    inside = (n for n in seen.order if axis in seen.needs[n])
    is_dear = any(isinstance(n, Alu | Reduce) and n.op in EXPENSIVE for n in inside)
    return DEAR if is_dear else ACCUMULATORS

"""Phases of a transposed convolution with stride `step`.

The elements whose positions have one remainder by the step are a phase. Each phase is computed by
one correlation with stride 1, and the results are interleaved.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.graph import nodes
from compiler.graph.kinds.shaping import broadcast_node, counting, reshaped, shrunk, zero_padded
from compiler.graph.nodes import Shape, TensorNode, const, elementwise


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase along an axis: `count` positions with one remainder by the step.

    `taps` weights contribute, every `apart`-th from the `first` on; `gap` and `border` are the
    dilation and padding of the phase's correlation.
    """

    count: int
    first: int
    apart: int
    taps: int
    gap: int
    border: tuple[int, int]


def phases(n: int, size: int, m: int, step: int, gap: int, before: int) -> list[Phase]:
    """The phases along an axis of `n` elements, for `m` windows of `size` elements and padding
    `before`.

    Position j gets contributions from windows t and weights r with j + before = t·step + r·gap: for
    each phase, these are every second, third, … weight r, or none.
    """
    both = math.gcd(step, gap)
    apart, between, count = step // both, gap // both, -(-n // step)
    phases_of_axis = []
    for place in range(before, before + min(step, n)):
        first = next((r for r in range(min(apart, size)) if (place - r * gap) % step == 0), size)
        taps = -(-(size - first) // apart)
        reach = (taps - 1) * between
        front = reach - (place - first * gap) // step
        border = (front, count + reach - m - front)
        phases_of_axis.append(Phase(count, first, apart, taps, between, border))
    return phases_of_axis


def taking_part(weight: TensorNode, axes: Sequence[Phase]) -> TensorNode:
    """The weights that contribute to a phase: a strided slice along each of the last axes."""
    lead = weight.shape[: len(weight.shape) - len(axes)]
    whole = tuple((0, n) for n in lead)
    ends = (min(axis.first + axis.taps * axis.apart, n)
            for axis, n in zip(axes, weight.shape[len(lead) :], strict=True))  # fmt: skip
    bounds = tuple((axis.first, end) for axis, end in zip(axes, ends, strict=True))
    node = shrunk(weight, (*whole, *bounds))
    cut = tuple((axis.taps, axis.apart) for axis in axes)
    behind = tuple((0, math.prod(pair) - (end - first))
                   for pair, (first, end) in zip(cut, bounds, strict=True))  # fmt: skip
    node = zero_padded(node, (*((0, 0) for _ in lead), *behind))
    node = reshaped(node, (*lead, *itertools.chain.from_iterable(cut)))
    ones = (((0, axis.taps), (0, 1)) for axis in axes)
    node = shrunk(node, (*whole, *itertools.chain.from_iterable(ones)))
    return reshaped(node, (*lead, *(axis.taps for axis in axes)))


def apart(node: TensorNode, axis: int, step: int) -> TensorNode:
    """The elements of an axis `step` apart, with zeros between them."""
    shape, n = node.shape, node.shape[axis]
    if step == 1 or n < 2:
        return node
    node = reshaped(node, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    behind = tuple((0, (step - 1) * (place == axis + 1)) for place in range(len(node.shape)))
    node = reshaped(zero_padded(node, behind), (*shape[:axis], n * step, *shape[axis + 1 :]))
    ends = ((n - 1) * step + 1 if place == axis else end for place, end in enumerate(node.shape))
    return shrunk(node, tuple((0, end) for end in ends))


def interleaved(parts: Sequence[TensorNode], counts: Shape) -> TensorNode:
    """The parts interleaved along each of the last axes.

    `counts` has the number of parts along each axis; parts along the last axis are adjacent.
    """
    if len(parts) == 1:
        return parts[0]
    shape, axes = parts[0].shape, len(counts)
    lead = shape[: len(shape) - axes]
    pairs = [*zip(shape[len(lead) :], counts, strict=True)]
    apart = (*lead, *itertools.chain.from_iterable((n, 1) for n, _ in pairs))
    full = (*lead, *itertools.chain.from_iterable(pairs))
    placed = [broadcast_node(reshaped(_written_once(part), apart), full) for part in parts]
    for axis in reversed(range(axes)):
        places = counting(full, len(lead) + 2 * axis + 1)
        starts = range(0, len(placed), counts[axis])
        placed = [_selected(placed[start : start + counts[axis]], places) for start in starts]
    return reshaped(placed[0], (*lead, *(n * count for n, count in pairs)))


def _written_once(part: TensorNode) -> TensorNode:
    """A part in memory, so that its sums are not computed where another part is selected."""
    return part if isinstance(part, nodes.Const) else nodes.Contiguous((part,))


def _selected(parts: Sequence[TensorNode], places: TensorNode) -> TensorNode:
    """At each element, the part whose number is in `places`."""
    selected = parts[-1]
    for number, part in reversed([*enumerate(parts[:-1], 1)]):
        is_it = elementwise("lt", places, const(number, places.dtype, places.shape))
        selected = elementwise("where", is_it, part, selected)
    return selected

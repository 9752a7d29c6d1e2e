"""Correlation: what convolutions of networks compute, and what both of their gradients are.

    node = Correlate(x, w; borders, steps, gaps, groups)

    y[n, o, t…] = Σ c r…  x[n, c, t·step + r·gap - before, …] · w[o, c, r…]

The image is [n, c, …], weights are [o, c / groups, …]. `borders` has a pair for each axis, how many
zeros stand before and behind it; of a negative number elements are cut off. Windows begin `steps`
apart, their elements are `gaps` apart.

Written as one node, so that its derivative is made of such nodes: by way of windows the change of
an image would be a sum of windows that overlap, which are written to memory one by one. By the
image it is a correlation of the result's change with the weights turned round; where windows begin
`step` apart, one for each remainder of a position by `step`, as other weights take part in each.
By the weights it is a correlation of the image with the result's change, steps for gaps.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compiler.core.dtypes import DType
from compiler.graph import nodes
from compiler.graph.kinds.composite import Array, Composite, Problem, same_types, written
from compiler.graph.kinds.shaping import (
    broadcast_node,
    cast_to,
    counting,
    permuted,
    reshaped,
    shrunk,
    zero_padded,
)
from compiler.graph.kinds.sliding import windows_of_image
from compiler.graph.nodes import Flip, Pairs, Shape, TensorNode, const, elementwise

MOST_PHASES = 16
"""Remainders by the steps of all axes for which there is a correlation each. Not measured."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Correlate(Composite):
    """Sums of products of windows and weights. Floats of 16 bits are multiplied and summed in
    float32; bool: or of ands."""

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "reduce"
    borders: Pairs
    steps: Shape
    gaps: Shape
    groups: int = 1

    @property
    def is_reduction(self) -> bool:
        """Over channels and over windows."""
        return True

    @property
    def _sizes(self) -> Shape:
        """The extents of a window."""
        return self.sources[1].shape[2:]

    def _bordered(self) -> Shape:
        """The extents of the image with its borders."""
        pairs = zip(self.sources[0].shape[2:], self.borders, strict=True)
        return tuple(n + before + behind for n, (before, behind) in pairs)

    def _spans(self) -> Shape:
        """How many elements of the image a window goes over, along each axis."""
        return tuple(g * (k - 1) + 1 for g, k in zip(self.gaps, self._sizes, strict=True))

    def result(self) -> tuple[Shape, DType]:
        """[n, o, counts of windows …]."""
        x, w = self.sources
        axes = zip(self._bordered(), self._spans(), self.steps, strict=True)
        return (x.shape[0], w.shape[0], *((n - span) // s + 1 for n, span, s in axes)), x.dtype

    def own_problem(self) -> Problem | None:
        """Ranks or channels that do not fit, windows that are larger than the image."""
        x, w = self.sources
        rank, given = len(x.shape), (self.borders, self.steps, self.gaps)
        if len(w.shape) != rank or rank < 3 or any(len(each) != rank - 2 for each in given):
            got = f"ranks {rank} and {len(w.shape)}, {' '.join(str(len(each)) for each in given)}"
            return Problem("the ranks do not fit", got, "equal ranks, and entries for each axis")
        if min(*self.steps, *self.gaps, self.groups) < 1:
            got = f"{self.steps} {self.gaps} {self.groups}"
            return Problem("a step, a gap or groups are below 1", got, "1 or more")
        if x.shape[1] != w.shape[1] * self.groups or w.shape[0] % self.groups:
            return Problem("the channels do not fit", f"{x.shape} and {w.shape}",
                           f"channels of {self.groups} groups")  # fmt: skip
        whole, spans = self._bordered(), self._spans()
        if any(n < max(span, 1) for n, span in zip(whole, spans, strict=True)):
            return Problem("the window is larger than the image", spans, f"at most {whole}")
        return same_types(self)

    def reference(self, values: list[Array]) -> Array:
        """NumPy's windows, and einsum over them."""
        x, w = (value.astype(self.dtype.accumulator.numpy) for value in values)
        if not w.size:
            return np.zeros((len(x), *self.shape[1:]), self.dtype.numpy)
        x = np.pad(x, [(0, 0), (0, 0), *((max(a, 0), max(b, 0)) for a, b in self.borders)])
        pairs = zip(x.shape[2:], self.borders, strict=True)
        kept = (slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in pairs)
        x = x[(slice(None), slice(None), *kept)]
        axes, groups = len(self.steps), self.groups
        every = (slice(None, None, s) for s in (*self.steps, *self.gaps))
        slid = np.lib.stride_tricks.sliding_window_view(x, self._spans(), tuple(range(2, 2 + axes)))
        slid = slid[(slice(None), slice(None), *every)]
        slid = slid.reshape(len(x), groups, x.shape[1] // groups, *slid.shape[2:])
        w = w.reshape(groups, len(w) // groups, *w.shape[1:])
        places, taps = range(4, 4 + axes), range(4 + axes, 4 + 2 * axes)
        made = np.einsum(slid, [0, 1, 2, *places, *taps], w, [1, 3, 2, *taps], [0, 1, 3, *places])
        return np.asarray(made).reshape(len(x), *self.shape[1:]).astype(self.dtype.numpy)

    def expansion(self) -> TensorNode:
        """correlate(x, w) = sum over channels and taps of windows(x) * w"""
        x, weight = (cast_to(source, self.dtype.accumulator) for source in self.sources)
        slid = windows_of_image(_within(x, self.borders), self._sizes, self.steps, self.gaps)
        axes, groups = len(self.steps), self.groups
        n, c = slid.shape[:2]
        counts, sizes = slid.shape[2 : 2 + axes], slid.shape[2 + axes :]
        o, part = weight.shape[0], c // groups
        full = (n, groups, o // groups, *counts, part, *sizes)
        x = reshaped(slid, (n, groups, 1, part, *counts, *sizes))
        places = range(4, 4 + 2 * axes)
        order = (0, 1, 2, *places[:axes], 3, *places[axes:])
        x = broadcast_node(permuted(x, order), full)
        w = reshaped(weight, (1, groups, o // groups, *(1,) * axes, part, *sizes))
        product = elementwise("mul", x, broadcast_node(w, full))
        total = nodes.Reduce((product,), "sum", tuple(range(3 + axes, 4 + 2 * axes)))
        return cast_to(reshaped(total, (n, o, *counts)), self.dtype)

    @property
    def has_derivative(self) -> bool:
        """Not where an extent is variable or 0, and not where each element of a window has one
        thing to add, so that windows are as good: one channel for many results, windows that do
        not overlap; nor of so many remainders by the steps that each is small."""
        x, w = self.sources
        if x.extents or w.extents or not (x.size and w.size):
            return False
        is_one = w.shape[1] == 1 and w.shape[0] > self.groups
        pairs = zip(self._spans(), self.steps, strict=True)
        is_apart = max(self.steps) > 1 and all(span <= step for span, step in pairs)
        return not (is_one or is_apart or math.prod(self.steps) > MOST_PHASES)

    def derivative(self, g: TensorNode) -> list[TensorNode]:
        """dx = dy correlated with w turned round; dw = x correlated with dy"""
        return [self._by_image(g), self._by_weights(g)]

    def _by_image(self, g: TensorNode) -> TensorNode:
        """For each remainder of a position by the steps a correlation, side by side."""
        x, weight = self.sources
        w = turned(weight, self.groups)
        axes = [_phases(self, axis) for axis in range(len(self.steps))]
        made = [self._phase(g, w, each) for each in itertools.product(*axes)]
        whole = _interleaved(made, tuple(map(len, axes)))
        return shrunk(whole, tuple((0, n) for n in x.shape))

    def _phase(self, g: TensorNode, w: TensorNode, axes: "tuple[_Phase, ...]") -> TensorNode:
        """The elements of one remainder along each axis; 0 where no weight takes part."""
        x = self.sources[0]
        if not all(axis.taps for axis in axes):
            return const(0, g.dtype, (*x.shape[:2], *(axis.count for axis in axes)))
        w = Flip((_taking_part(w, axes),), tuple(range(2, len(w.shape))))
        borders, gaps = tuple(axis.border for axis in axes), tuple(axis.gap for axis in axes)
        return Correlate((g, w), borders, (1,) * len(axes), gaps, self.groups)

    def _by_weights(self, g: TensorNode) -> TensorNode:
        """The channels of a group are images, images and groups are channels."""
        x, weight = self.sources
        n, c, o, groups = x.shape[0], x.shape[1], weight.shape[0], self.groups
        lead = (n, groups, c // groups)
        image = permuted(reshaped(x, (*lead, *x.shape[2:])), (2, 1, 0, *range(3, len(x.shape) + 1)))
        image = reshaped(image, (c // groups, groups * n, *x.shape[2:]))
        change = reshaped(g, (n, groups, o // groups, *g.shape[2:]))
        change = permuted(change, (1, 2, 0, *range(3, len(g.shape) + 1)))
        change = reshaped(change, (o, n, *g.shape[2:]))
        read = zip(self._bordered(), self._spans(), self.steps, strict=True)
        left = ((extent - span) % step for extent, span, step in read)
        borders = tuple((a, b - more) for (a, b), more in zip(self.borders, left, strict=True))
        made = Correlate((image, change), borders, self.gaps, self.steps, groups)
        return permuted(made, (1, 0, *range(2, len(g.shape))))

    def describe(self) -> str:
        """`step (2,2) border 1:1 0:-1 groups 2`, without what is usual."""
        parts = [f"step {written(self.steps)}"] * (max(self.steps) > 1)
        parts += [f"gap {written(self.gaps)}"] * (max(self.gaps) > 1)
        borders = " ".join(f"{before}:{behind}" for before, behind in self.borders)
        parts += [f"border {borders}"] * any(map(any, self.borders))
        return " ".join(parts + [f"groups {self.groups}"] * (self.groups > 1))


@dataclass(frozen=True, slots=True)
class _Phase:
    """Along an axis the positions of one remainder by the step: which weights take part, `apart`
    from the `first` on, and the windows of the result's change that they meet."""

    count: int
    first: int
    apart: int
    taps: int
    gap: int
    border: tuple[int, int]


def _phases(node: Correlate, axis: int) -> list[_Phase]:
    """Every remainder by the step of an axis, those of all elements of the image.

    Position j + before = t·step + r·gap for every second, third, … of the r, or for none.
    """
    x, weight = node.sources
    step, gap, (before, _) = node.steps[axis], node.gaps[axis], node.borders[axis]
    n, size, m = x.shape[2 + axis], weight.shape[2 + axis], node.shape[2 + axis]
    both = math.gcd(step, gap)
    apart, between, count = step // both, gap // both, -(-n // step)
    made = []
    for place in range(before, before + min(step, n)):
        first = next((r for r in range(min(apart, size)) if (place - r * gap) % step == 0), size)
        taps = -(-(size - first) // apart)
        reach = (taps - 1) * between
        front = reach - (place - first * gap) // step
        border = (front, count + reach - m - front)
        made.append(_Phase(count, first, apart, taps, between, border))
    return made


def turned(weight: TensorNode, groups: int) -> TensorNode:
    """Weights [o, c / groups, …] as [c, o / groups, …]: from results to channels."""
    o, part, *sizes = weight.shape
    node = reshaped(weight, (groups, o // groups, part, *sizes))
    node = permuted(node, (0, 2, 1, *range(3, 3 + len(sizes))))
    return reshaped(node, (groups * part, o // groups, *sizes))


def _within(node: TensorNode, borders: Pairs) -> TensorNode:
    """Zeros put around the last axes, or elements cut off there."""
    lead = ((0, 0),) * (len(node.shape) - len(borders))
    wide = zero_padded(node, (*lead, *((max(a, 0), max(b, 0)) for a, b in borders)))
    pairs = zip(wide.shape, (*lead, *borders), strict=True)
    return shrunk(wide, tuple((max(-a, 0), n - max(-b, 0)) for n, (a, b) in pairs))


def _taking_part(weight: TensorNode, axes: "Sequence[_Phase]") -> TensorNode:
    """Along each of the last axes the weights of a phase, every second, third, …"""
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


def _interleaved(parts: Sequence[TensorNode], counts: Shape) -> TensorNode:
    """Elements of all parts in turn along each of the last axes: so many parts for each of them,
    those for the last one next to each other."""
    if len(parts) == 1:
        return parts[0]
    shape, axes = parts[0].shape, len(counts)
    lead = shape[: len(shape) - axes]
    pairs = [*zip(shape[len(lead) :], counts, strict=True)]
    apart = (*lead, *itertools.chain.from_iterable((n, 1) for n, _ in pairs))
    full = (*lead, *itertools.chain.from_iterable(pairs))
    made = [broadcast_node(reshaped(_written_once(part), apart), full) for part in parts]
    for axis in reversed(range(axes)):
        places = counting(full, len(lead) + 2 * axis + 1)
        starts = range(0, len(made), counts[axis])
        made = [_in_turn(made[start : start + counts[axis]], places) for start in starts]
    return reshaped(made[0], (*lead, *(n * count for n, count in pairs)))


def _written_once(part: TensorNode) -> TensorNode:
    """A part in memory, so that no element is summed where another part is taken."""
    return part if isinstance(part, nodes.Const) else nodes.Contiguous((part,))


def _in_turn(parts: Sequence[TensorNode], places: TensorNode) -> TensorNode:
    """At each place the part of this number."""
    made = parts[-1]
    for number, part in reversed([*enumerate(parts[:-1], 1)]):
        is_it = elementwise("lt", places, const(number, places.dtype, places.shape))
        made = elementwise("where", is_it, part, made)
    return made

"""Correlation (convolution in neural networks) and transposed convolution, its gradient.

    node = Correlate(x, w; borders, steps, gaps, groups)
         | Spread(y, w; borders, steps, gaps, groups, image)

    y[n, o, t…] = Σ c r…  x[n, c, t·step + r·gap - before, …] · w[o, c, r…]
    x[n, c, t·step + r·gap - before, …] += y[n, o, t…] · w[o, c, r…]    for all o, t, r

The image is [n, c, …], weights are [o, c / groups, …]. `borders` is the padding: a pair for each
axis; negative numbers crop elements. `steps` are the strides of the windows, `gaps` the dilation.

These are kinds of their own, so that their derivatives are such nodes, too: if windows were
differentiated, the gradient of the image would be a sum of overlapping windows that are stored one
by one. The gradient by the image is a transposed convolution (`Spread`). The gradient by the
weights is a correlation of the image with the result's cotangent, with stride and dilation
exchanged.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compiler.core.dtypes import Array, DType
from compiler.graph import nodes
from compiler.graph.kinds.composite import Composite, Problem, same_types, written
from compiler.graph.kinds.phases import Phase, apart, interleaved, phases, taking_part
from compiler.graph.kinds.shaping import (
    broadcast_node,
    cast_to,
    permuted,
    reshaped,
    shrunk,
    zero_padded,
)
from compiler.graph.kinds.sliding import windows_of_image
from compiler.graph.nodes import Flip, Pairs, Shape, TensorNode, const, elementwise

LEAST_WORK = 1 << 23
"""Multiply-adds with inserted zeros from which phases are worth their additional kernels. For 16 by
8 channels of 8² with 4×4 weights, half a million multiply-adds, phases take 0.64 ms on one core and
zeros 0.25; for 64 by 32 channels, 8 images of 16², 4×4, 2.6 and 7.6 (EPYC, AVX2, 2026-11-27)."""
MOST_PHASES = 16
"""The most phases, with one correlation each; half as many where windows do not overlap. The
gradient of 8 images of 3 channels of 64² for 96 adjacent windows of 4×4 takes 3.2 ms on one core
with 16 phases and 1.7 with windows; of 32 channels of 32² for 64 windows of 2×2, 1.3 with 4 phases
and 2.6; of one channel for 32 windows of 3×3, 1.8 and 1.5 (EPYC, AVX2, 2026-11-27)."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Correlate(Composite):
    """A convolution: sums of products of windows and weights.

    16-bit floats are multiplied and accumulated in float32; bool: or of ands.
    """

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "reduce"
    borders: Pairs
    steps: Shape
    gaps: Shape
    groups: int = 1

    @property
    def is_reduction(self) -> bool:
        """True: it sums over channels and windows."""
        return True

    @property
    def _sizes(self) -> Shape:
        """The extents of a window."""
        return self.sources[1].shape[2:]

    def _bordered(self) -> Shape:
        """The extents of the padded image."""
        pairs = zip(self.sources[0].shape[2:], self.borders, strict=True)
        return tuple(n + before + behind for n, (before, behind) in pairs)

    def _spans(self) -> Shape:
        """The dilated extent of a window along each axis."""
        return tuple(g * (k - 1) + 1 for g, k in zip(self.gaps, self._sizes, strict=True))

    def result(self) -> tuple[Shape, DType]:
        """Shape [n, o, number of windows …], and type."""
        x, w = self.sources
        axes = zip(self._bordered(), self._spans(), self.steps, strict=True)
        return (x.shape[0], w.shape[0], *((n - span) // s + 1 for n, span, s in axes)), x.dtype

    def own_problem(self) -> Problem | None:
        """Ranks or channels that do not match, windows larger than the padded image."""
        x, w = self.sources
        rank, pairs = len(x.shape), (self.borders, self.steps, self.gaps)
        if len(w.shape) != rank or rank < 3 or any(len(each) != rank - 2 for each in pairs):
            got = f"ranks {rank} and {len(w.shape)}, {' '.join(str(len(each)) for each in pairs)}"
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
            return np.zeros((len(x), len(w), *self.shape[2:]), self.dtype.numpy)
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
        result = np.einsum(slid, [0, 1, 2, *places, *taps], w, [1, 3, 2, *taps], [0, 1, 3, *places])
        channels = (len(x), result.shape[1] * result.shape[2], *result.shape[3:])
        return np.asarray(result).reshape(channels).astype(self.dtype.numpy)

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
        """True unless an extent is dynamic or 0, or windows are as fast because few of them overlap
        on an element: one channel for many results, or many phases."""
        x, w = self.sources
        if x.extents or w.extents or not (x.size and w.size):
            return False
        is_one = w.shape[1] == 1 and w.shape[0] > self.groups
        pairs = zip(self._spans(), self.steps, strict=True)
        is_apart = all(span <= step for span, step in pairs)
        return not is_one and math.prod(self.steps) <= MOST_PHASES // (1 + is_apart)

    def derivative(self, g: TensorNode) -> list[TensorNode]:
        """dx = transposed convolution of dy with w; dw = x correlated with dy"""
        x, w = self.sources
        parameters = self.borders, self.steps, self.gaps, self.groups
        return [Spread((g, w), *parameters, x.shape[2:]), _by_weights(x, g, w.shape, *parameters)]

    def describe(self) -> str:
        """`step (2,2) border 1:1 0:-1 groups 2`, without default values."""
        return _described(self.borders, self.steps, self.gaps, self.groups)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Spread(Composite):
    """A transposed convolution: the gradient of a correlation by its image.

    Each element of [n, o, t…] times the weights [o, c / groups, r…] is added to a window of an
    image [n, c, …]; the windows are `steps` apart. With a stride above 1 it is computed as one
    correlation per phase (the remainder of a position by the stride), because the elements of a
    phase use the same subset of the weights. 16-bit floats are multiplied and accumulated in
    float32.
    """

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "reduce"
    borders: Pairs
    steps: Shape
    gaps: Shape
    groups: int
    image: Shape

    def result(self) -> tuple[Shape, DType]:
        """The shape [n, c, …] of the image that the correlation reads, and its type."""
        x, w = self.sources
        return (x.shape[0], w.shape[1] * self.groups, *self.image), x.dtype

    def own_problem(self) -> Problem | None:
        """Shapes that no correlation with an image of these extents could have."""
        x, w = self.sources
        shape = (x.shape[0], *w.shape[1:2], *self.image)
        if len(w.shape) != len(x.shape) or len(shape) != len(x.shape):
            got = f"ranks {len(x.shape)} and {len(w.shape)}, {len(self.image)} extents"
            return Problem("the ranks do not fit", got, "equal ranks, and an extent for each axis")
        whole = self._correlated(const(0, x.dtype, (shape[0], shape[1] * self.groups, *self.image)))
        if problem := whole.problem():
            return problem
        fits = x.shape[:2] == whole.shape[:2] and all(
            0 < n <= most for n, most in zip(x.shape[2:], whole.shape[2:], strict=True)
        )
        return None if fits else Problem("the image is too small", self.image, "all windows")

    def _correlated(self, image: TensorNode) -> "Correlate":
        return Correlate((image, self.sources[1]), self.borders, self.steps, self.gaps, self.groups)

    def reference(self, values: list[Array]) -> Array:
        """For each tap of the weights, add its products to a strided slice of the image."""
        x, w = (value.astype(self.dtype.accumulator.numpy) for value in values)
        n, groups, part = len(x), self.groups, w.shape[1]
        pairs = [*zip(self.image, self.borders, strict=True)]
        whole = (n + max(a, 0) + max(b, 0) for n, (a, b) in pairs)
        image = np.zeros((n, groups, part, *whole), x.dtype)
        x = x.reshape(n, groups, -1, *x.shape[2:])
        w = w.reshape(groups, -1, *w.shape[1:])
        for tap in itertools.product(*map(range, w.shape[3:])):
            along = tuple(
                slice(max(-a, 0) + t * g, max(-a, 0) + t * g + (m - 1) * s + 1, s)
                for t, g, m, s, (a, _) in zip(
                    tap, self.gaps, x.shape[3:], self.steps, self.borders, strict=True
                )
            )
            weight: tuple[Any, ...] = (*(slice(None),) * 3, *tap)
            share = np.einsum("ngo...,goc->ngc...", x, w[weight])
            image[:, :, :, *along] += share
        inside = (slice(max(a, 0), max(a, 0) + n) for n, (a, _) in pairs)
        image = image[:, :, :, *inside]
        return image.reshape(n, groups * part, *self.image).astype(self.dtype.numpy)

    def expansion(self) -> TensorNode:
        """spread(x, w) = x, with zeros between, correlated with w flipped; or in phases"""
        w = transposed(self.sources[1], self.groups)
        return self._in_phases(w) if self._is_in_phases() else self._by_zeros_between(w)

    def _is_in_phases(self) -> bool:
        """True if phases pay off: there are not too many of them, and enough work."""
        x, w = self.sources
        work = math.prod(self.shape) * w.shape[0] // self.groups * math.prod(w.shape[2:])
        is_fixed = not (x.extents or w.extents)
        return is_fixed and math.prod(self.steps) <= MOST_PHASES and work >= LEAST_WORK

    def _by_zeros_between(self, w: TensorNode) -> TensorNode:
        """One correlation of `x` with zeros inserted between elements `steps` apart."""
        x, axes = self.sources[0], len(self.steps)
        for axis, step in enumerate(self.steps):
            x = apart(x, axis + 2, step)
        w = Flip((w,), tuple(range(2, 2 + axes)))
        rows = zip(self.image, x.shape[2:], self.borders, self.gaps, w.shape[2:], strict=True)
        reaches = ((n, m, a, gap * (size - 1)) for n, m, (a, _), gap, size in rows)
        borders = tuple((reach - a, n + a - m) for n, m, a, reach in reaches)
        return Correlate((x, w), borders, (1,) * axes, self.gaps, self.groups)

    def _in_phases(self, w: TensorNode) -> TensorNode:
        """One correlation for each phase, interleaved."""
        x, weight = self.sources
        axes = [phases(*each) for each in zip(
            self.image, weight.shape[2:], x.shape[2:], self.steps, self.gaps,
            (before for before, _ in self.borders), strict=True
        )]  # fmt: skip
        phases_of_axes = [self._phase(w, each) for each in itertools.product(*axes)]
        whole = interleaved(phases_of_axes, tuple(map(len, axes)))
        return shrunk(whole, tuple((0, n) for n in self.shape))

    def _phase(self, w: TensorNode, axes: tuple[Phase, ...]) -> TensorNode:
        """The elements of one phase; 0 where no weight contributes."""
        if not all(axis.taps for axis in axes):
            return const(0, self.dtype, (*self.shape[:2], *(axis.count for axis in axes)))
        w = Flip((taking_part(w, axes),), tuple(range(2, len(w.shape))))
        borders, gaps = tuple(axis.border for axis in axes), tuple(axis.gap for axis in axes)
        return Correlate((self.sources[0], w), borders, (1,) * len(axes), gaps, self.groups)

    @property
    def has_derivative(self) -> bool:
        """True unless an extent is dynamic or 0."""
        x, w = self.sources
        return not (x.extents or w.extents) and bool(x.size and w.size)

    def derivative(self, g: TensorNode) -> list[TensorNode]:
        """dx = dy correlated with w; dw = dy correlated with x"""
        x, w = self.sources
        by_elements = shrunk(self._correlated(g), tuple((0, n) for n in x.shape))
        parameters = self.borders, self.steps, self.gaps, self.groups
        return [by_elements, _by_weights(g, x, w.shape, *parameters)]

    def describe(self) -> str:
        """`step (2,2) border 1:1 0:-1 groups 2`, without default values."""
        return _described(self.borders, self.steps, self.gaps, self.groups)


def _described(borders: Pairs, steps: Shape, gaps: Shape, groups: int) -> str:
    parts = [f"step {written(steps)}"] * (max(steps) > 1)
    parts += [f"gap {written(gaps)}"] * (max(gaps) > 1)
    pairs = " ".join(f"{before}:{behind}" for before, behind in borders)
    parts += [f"border {pairs}"] * any(map(any, borders))
    return " ".join(parts + [f"groups {groups}"] * (groups > 1))


def _by_weights(
    x: TensorNode, g: TensorNode, weight: Shape, borders: Pairs, steps: Shape, gaps: Shape,
    groups: int,
) -> TensorNode:  # fmt: skip
    """The gradient of a correlation by its weights, from its image `x` and its cotangent `g`.

    It is a correlation with the channels of a group as batch and images and groups as channels.
    """
    n, c, o = x.shape[0], x.shape[1], weight[0]
    rank = len(x.shape)
    image = reshaped(x, (n, groups, c // groups, *x.shape[2:]))
    image = permuted(image, (2, 1, 0, *range(3, rank + 1)))
    image = reshaped(image, (c // groups, groups * n, *x.shape[2:]))
    change = reshaped(g, (n, groups, o // groups, *g.shape[2:]))
    change = permuted(change, (1, 2, 0, *range(3, rank + 1)))
    change = reshaped(change, (o, n, *g.shape[2:]))
    read = (
        (m - 1) * step + gap * (size - 1) + 1
        for m, step, gap, size in zip(g.shape[2:], steps, gaps, weight[2:], strict=True)
    )
    exact = tuple(
        (before, end - before - extent)
        for extent, (before, _), end in zip(x.shape[2:], borders, read, strict=True)
    )
    gradient = Correlate((image, change), exact, gaps, steps, groups)
    return permuted(gradient, (1, 0, *range(2, rank)))


def transposed(weight: TensorNode, groups: int) -> TensorNode:
    """Weights [o, c / groups, …] transposed to [c, o / groups, …]."""
    o, part, *sizes = weight.shape
    node = reshaped(weight, (groups, o // groups, part, *sizes))
    node = permuted(node, (0, 2, 1, *range(3, 3 + len(sizes))))
    return reshaped(node, (groups * part, o // groups, *sizes))


def _within(node: TensorNode, borders: Pairs) -> TensorNode:
    """`node` with its last axes padded with zeros, or cropped where a border is negative."""
    lead = ((0, 0),) * (len(node.shape) - len(borders))
    wide = zero_padded(node, (*lead, *((max(a, 0), max(b, 0)) for a, b in borders)))
    pairs = zip(wide.shape, (*lead, *borders), strict=True)
    return shrunk(wide, tuple((max(-a, 0), n - max(-b, 0)) for n, (a, b) in pairs))

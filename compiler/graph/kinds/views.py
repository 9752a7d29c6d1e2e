"""Views: existing memory read with another shape, with strides, under a mask.

    node = View(x; views)    x through a shape tracker

A shape tracker is a tuple of `Strided` views, innermost first: the first indexes the elements of
x in row-major order, each further one the elements of the view before it.
"""

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array, DType
from compiler.graph.kinds.composite import Composite, Problem, written
from compiler.graph.kinds.shaping import (
    affine,
    broadcast_node,
    counting,
    permuted,
    reshaped,
    shrunk,
    zero_padded,
)
from compiler.graph.nodes import Flip, Index, Pairs, Shape, TensorNode, const, elementwise


@dataclass(frozen=True, slots=True)
class Strided:
    """One view: element [i, j, …] is element offset + i·strides[0] + j·strides[1] + … below it.

    Outside `mask`, a [begin, end) per axis, elements are 0 and memory is not read.
    """

    shape: Shape
    strides: Shape
    offset: int = 0
    mask: Pairs | None = None

    @property
    def bounds(self) -> Pairs:
        """The mask, or the whole shape if there is none."""
        return tuple((0, n) for n in self.shape) if self.mask is None else self.mask

    @property
    def valid_shape(self) -> Shape:
        """The extents of the part inside the mask."""
        return tuple(end - begin for begin, end in self.bounds)

    @property
    def valid_offset(self) -> int:
        """The offset of the first element inside the mask."""
        begins = (begin for begin, _ in self.bounds)
        return self.offset + sum(b * s for b, s in zip(begins, self.strides, strict=True))

    def reach(self) -> tuple[int, int]:
        """The least and greatest element number that is read; at least one has to be."""
        spans = [(n - 1) * s for n, s in zip(self.valid_shape, self.strides, strict=True)]
        first = self.valid_offset
        return first + sum(s for s in spans if s < 0), first + sum(s for s in spans if s > 0)

    def problem(self, below: int) -> Problem | None:
        """The problem of this view of `below` elements; None if it is valid."""
        rank = len(self.shape)
        if len(self.strides) != rank or len(self.bounds) != rank:
            got = f"{len(self.strides)} strides, {len(self.bounds)} pairs"
            return Problem("strides and mask need an entry per axis", got, f"{rank} of each")
        if any(n < 0 for n in self.shape):
            return Problem("an extent is negative", self.shape, "extents of 0 or more")
        pairs = zip(self.bounds, self.shape, strict=True)
        if any(not 0 <= begin <= end <= n for (begin, end), n in pairs):
            return Problem("the mask reaches outside the view", self.mask, f"inside {self.shape}")
        if 0 in self.valid_shape:
            return None
        low, high = self.reach()
        if low < 0 or high >= below:
            return Problem(
                "the view reaches outside its source", f"elements {low} to {high}",
                f"inside 0 to {below - 1}" if below else "nothing: the source is empty",
                "cut the view with a mask: what is outside it is 0 and not read",
            )  # fmt: skip
        return None

    def describe(self) -> str:
        """`(2,3) strides (3,1) offset 4 mask 0:1 0:3`, without what is 0 or whole."""
        parts = [written(self.shape), f"strides {written(self.strides)}"]
        parts += [f"offset {self.offset}"] * bool(self.offset)
        mask = " ".join(f"{begin}:{end}" for begin, end in self.bounds)
        return " ".join(parts + [f"mask {mask}"] * (self.mask is not None))


Tracker: TypeAlias = tuple[Strided, ...]


def tracker_problem(views: Tracker, size: int) -> Problem | None:
    """The problem of a shape tracker over `size` elements; None if it is valid."""
    if not views:
        return Problem("a shape tracker needs a view", "none", "1 or more")
    for view in views:
        objection = view.problem(size)
        if objection:
            return objection
        size = math.prod(view.shape)
    return None


def described(views: Tracker) -> str:
    """A shape tracker as printed programs write it, innermost view first."""
    return " then ".join(view.describe() for view in views)


def positions(views: Tracker) -> tuple[Array, Array]:
    """For every element of the outermost view its number in the source, and its mask."""
    outer = views[-1]
    numbers, valid = _numbers(outer, list(np.indices(outer.shape, dtype=np.int64)))
    for view in reversed(views[:-1]):
        safe = np.where(valid, numbers, 0)
        inside = [np.zeros_like(safe)] * len(view.shape)
        if view.shape and 0 not in view.shape:
            inside = list(np.unravel_index(safe, view.shape))
        numbers, is_read = _numbers(view, inside, safe.shape)
        valid = valid & is_read
    return numbers, valid


def _numbers(
    view: Strided, indices: list[Array], shape: Shape | None = None
) -> tuple[Array, Array]:
    """The number in the source and the mask at these indices."""
    shape = view.shape if shape is None else shape
    numbers = np.full(shape, view.offset, np.int64)
    valid = np.ones(shape, bool)
    for index, stride, (begin, end) in zip(indices, view.strides, view.bounds, strict=True):
        numbers = numbers + index * stride
        valid = valid & (index >= begin) & (index < end)
    return numbers, valid


def viewed(x: TensorNode, view: Strided) -> TensorNode:
    """One view of the elements of `x`, as movement, or as an Index if axes overlap.

    The part inside the mask is padded with zeros.
    """
    shape = view.valid_shape
    if 0 in shape:
        return const(0, x.dtype, view.shape)
    flat = reshaped(x, (x.size,))
    inside = _moved(flat, shape, view.strides, view.valid_offset)
    if inside is None:
        inside = _read(flat, shape, view.strides, view.valid_offset)
    pairs = zip(view.bounds, view.shape, strict=True)
    return zero_padded(inside, tuple((begin, n - end) for (begin, end), n in pairs))


def _moved(flat: TensorNode, shape: Shape, strides: Shape, offset: int) -> TensorNode | None:
    """Strided elements of a row by shrink, reshape, permute, flip and expand; None if two axes
    overlap, like the windows of a convolution."""
    loops = [(abs(s), n, axis) for axis, (n, s) in enumerate(zip(shape, strides, strict=True))]
    loops = sorted((s, n, axis) for s, n, axis in loops if n > 1 and s)[::-1]
    spans = list(accumulate(((n - 1) * s for s, n, _ in reversed(loops)), initial=0))[::-1]
    if any(s <= span for (s, _, _), span in zip(loops, spans[1:], strict=True)):
        return None
    flipped = tuple(a for a, (n, s) in enumerate(zip(shape, strides, strict=True)) if n > 1 > 0 > s)
    first = offset + sum((shape[axis] - 1) * strides[axis] for axis in flipped)
    moved = shrunk(flat, ((first, flat.size),))
    for stride, extent, _ in loops:
        moved = _cut(moved, extent * stride)
        moved = reshaped(moved, (*moved.shape[:-1], extent, stride))
    moved = _cut(moved, 1)
    axes = [axis for _, _, axis in loops]
    moved = reshaped(moved, tuple(shape[axis] for axis in axes))
    moved = permuted(moved, tuple(sorted(range(len(axes)), key=axes.__getitem__)))
    moved = reshaped(moved, tuple(n if axis in axes else 1 for axis, n in enumerate(shape)))
    moved = Flip((moved,), flipped) if flipped else moved
    return broadcast_node(moved, shape)


def _cut(node: TensorNode, extent: int) -> TensorNode:
    """The last axis cut to `extent`, or padded with zeros that are never read."""
    *outer, last = node.shape
    kept = tuple((0, n) for n in outer)
    if extent <= last:
        return shrunk(node, (*kept, (0, extent)))
    return zero_padded(node, (*((0, 0) for _ in outer), (0, extent - last)))


def _read(flat: TensorNode, shape: Shape, strides: Shape, offset: int) -> TensorNode:
    """Strided elements of a row by an Index. Positions are sums of loop indices, so that their
    bounds are known and loops need no bounds check."""
    total: TensorNode | None = None
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        if extent > 1 and stride:
            part = affine(counting(shape, axis), stride, 0)
            total = part if total is None else elementwise("add", total, part)
    assert total is not None
    return Index((flat, affine(total, 1, offset)))


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class View(Composite):
    """The operand read through a shape tracker."""

    views: Tracker

    def result(self) -> tuple[Shape, DType]:
        """The shape of the outermost view."""
        return self.views[-1].shape, self.sources[0].dtype

    def own_problem(self) -> Problem | None:
        """A view that reads, inside its mask, out of the bounds of the view below."""
        return tracker_problem(self.views, self.sources[0].size)

    def reference(self, values: list[Array]) -> Array:
        """The element numbers of all elements, then one lookup."""
        (x,) = values
        numbers, valid = positions(self.views)
        if not x.size:
            return np.zeros(self.shape, x.dtype)
        elements = x.reshape(-1)[np.where(valid, numbers, 0)]
        return np.where(valid, elements, x.dtype.type(0))

    def expansion(self) -> TensorNode:
        """view(x; …) = x moved, or x[offset + i*stride + …]; 0 outside the mask"""
        node = self.sources[0]
        for view in self.views:
            node = viewed(node, view)
        return node

    def describe(self) -> str:
        """The views, innermost first."""
        return described(self.views)

"""`interpolate`: resized images, axis by axis, each element a weighted sum of a few neighbours.

The neighbours and weights of each element are known when the graph is built: they are constants for
each axis. The rules are PyTorch's, element for element.
"""

import math
from collections.abc import Callable, Sequence
from typing import Self, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError, ShapeError
from compiler.graph.nodes import Shape
from compiler.tensors.indexing import Indexing
from compiler.tensors.products import Products
from compiler.tensors.reductions import Reductions
from compiler.tensors.shapes import written
from compiler.tensors.value import traced

Kernel: TypeAlias = Callable[[Array], Array]
Taps: TypeAlias = tuple[Array, Array]
"""Indices [count, taps] and weights [count, taps] of the neighbours of each element."""

MODES = {
    "nearest": "nearest", "nearest-exact": "nearest-exact", "area": "area", "linear": "linear",
    "bilinear": "linear", "trilinear": "linear", "cubic": "cubic", "bicubic": "cubic",
}  # fmt: skip
MOST_TAPS = 8
"""Up to this many neighbours are gathered one by one; more become a product with a weight
matrix."""


@traced
class Resampling(Indexing, Reductions, Products):
    """Resized images."""

    __slots__ = ()

    def interpolate(
        self, size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
        align_corners: bool | None = None, antialias: bool = False,
    ) -> Self:  # fmt: skip
        """[n, c, …] with all axes after the second resized to `size`, or by `scale_factor`.

        `mode`: "nearest", "nearest-exact", "area" (means), "linear" (also "bilinear", "trilinear")
        or "cubic" ("bicubic"). With `align_corners` the first and last elements keep their
        positions. With `antialias` a downscaled element averages everything that it covers.
        """
        kind, axes = MODES.get(mode), self.ndim - 2
        if kind is None:
            names = ", ".join(MODES)
            raise DataError("interpolate", "unknown mode", got=repr(mode), expected=names)
        if axes not in (1, 2, 3) or not self.size:
            raise ShapeError("interpolate", "this is not an image",
                             got=f"shape {written(self.shape)}",
                             expected="[n, c] and one to three axes of 1 or more")  # fmt: skip
        image = self.shape[2:]
        sizes, scales = _sizes(image, size, scale_factor)
        if kind == "area":
            pool: Self = getattr(self, f"adaptive_avg_pool{axes}d")(sizes)
            return pool
        if align_corners and kind.startswith("nearest"):
            raise DataError("interpolate", "align_corners is for linear and cubic",
                            got=repr(mode), expected="linear or cubic")  # fmt: skip
        made: Self = self
        for axis, (n, count, scale) in enumerate(zip(image, sizes, scales, strict=True), 2):
            if kind.startswith("nearest"):
                made = made._nearest(axis, _nearest(n, count, scale, kind == "nearest-exact"))
            elif n != count or not align_corners:
                make = _covering if antialias else _between
                made = made._weighted(axis, make(kind, n, count, scale, bool(align_corners)))
        is_weighted = made is not self and not kind.startswith("nearest")
        return made.cast(self._statistic_type()) if is_weighted else made

    def _nearest(self, axis: int, places: Array) -> Self:
        is_same = len(places) == self.shape[axis] and bool((places == np.arange(len(places))).all())
        return self._same() if is_same else self.take(places, axis)

    def _weighted(self, axis: int, taps: Taps) -> Self:
        """The axis resized: each element a weighted sum of neighbours, in a wide type."""
        places, weights = taps
        inner = self._as_wide()
        if weights.shape[1] > MOST_TAPS:
            matrix = np.zeros((self.shape[axis], len(places)))
            np.add.at(matrix, (places, np.arange(len(places))[:, None]), weights)
            rows = inner.movedim(axis, -1).matmul(self._lift(matrix).cast(inner.dtype))
            return rows.movedim(-1, axis)
        made: Self | None = None
        shape = (-1, *(1,) * (self.ndim - axis - 1))
        for tap in range(weights.shape[1]):
            weight = self._lift(weights[:, tap].reshape(shape)).cast(inner.dtype)
            term = inner.take(places[:, tap], axis).mul(weight)
            made = term if made is None else made.add(term)
        assert made is not None
        return made


def _sizes(
    image: Shape, size: int | Sequence[int] | None, scale: float | Sequence[float] | None
) -> tuple[Shape, tuple[float, ...]]:
    """The new extent of each axis, and the width of a new element in old elements."""
    given = scale if size is None else size
    if (size is None) == (scale is None) or given is None:
        raise DataError("interpolate", "give one of size and scale_factor",
                        got="both" if size is not None else "none")  # fmt: skip
    numbers = (given,) * len(image) if isinstance(given, int | float) else tuple(given)
    if len(numbers) != len(image) or min(numbers) <= 0:
        raise ShapeError("interpolate", "the size does not fit", got=str(given),
                         expected=f"one number, or {len(image)}, above 0")  # fmt: skip
    if size is not None:
        sizes = tuple(int(n) for n in numbers)
        return sizes, tuple(n / count for n, count in zip(image, sizes, strict=True))
    sizes = tuple(math.floor(n * by) for n, by in zip(image, numbers, strict=True))
    if min(sizes) < 1:
        raise ShapeError("interpolate", "nothing is left", got=str(scale), expected="more")
    return sizes, tuple(1 / by for by in numbers)


def _nearest(n: int, count: int, scale: float, is_exact: bool) -> Array:
    middle = np.float32(0.5 if is_exact else 0)
    places = np.floor((np.arange(count, dtype=np.float32) + middle) * np.float32(scale))
    return np.asarray(np.minimum(places.astype(np.int64), n - 1))


def _between(kind: str, n: int, count: int, scale: float, is_aligned: bool) -> Taps:
    """The two or four neighbours of each element."""
    index = np.arange(count)
    if is_aligned:
        where = index * ((n - 1) / (count - 1) if count > 1 else 0.0)
    else:
        where = (index + 0.5) * scale - 0.5
    if kind == "linear":
        where = np.maximum(where, 0)
    begin = np.floor(where).astype(np.int64)
    offsets = np.arange(2) if kind == "linear" else np.arange(-1, 3)
    kernel = linear if kind == "linear" else cubic(-0.75)
    places = np.clip(begin[:, None] + offsets, 0, n - 1)
    return places, kernel((where - begin)[:, None] - offsets)


def _covering(kind: str, n: int, count: int, scale: float, is_aligned: bool) -> Taps:
    """All old elements that each new element covers."""
    if is_aligned:
        scale = (n - 1) / (count - 1) if count > 1 else 0.0
    kernel, reach = (linear, 1.0) if kind == "linear" else (cubic(-0.5), 2.0)
    wide = max(scale, 1.0)
    middle = scale * (np.arange(count) + 0.5)
    low = np.maximum((middle - reach * wide + 0.5).astype(np.int64), 0)
    high = np.minimum((middle + reach * wide + 0.5).astype(np.int64), n)
    offsets = np.arange(int((high - low).max()))
    places = low[:, None] + offsets
    weights = kernel((places - middle[:, None] + 0.5) / wide) * (places < high[:, None])
    weights /= weights.sum(1, keepdims=True)
    return np.minimum(places, n - 1), weights


def linear(x: Array) -> Array:
    """A kernel that falls from 1 to 0 at a distance of 1."""
    return np.asarray(np.maximum(1 - np.abs(x), 0))


def cubic(a: float) -> Kernel:
    """Keys' cubic convolution kernel (1981)."""

    def kernel(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((x - 5) * x + 8) * x * a - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0))

    return kernel

"""sums: the error bound of a sum of floats, in any order in which its terms may be added.

Each of n - 1 additions is off by half a unit of a partial sum, and no partial sum is greater than
the sum of the magnitudes: that is the worst case, and it holds for any order.

Roundings of different numbers add up by chance, like the root of n. This is taken only where
it is so: where most terms of a sum differ from each other, and by more than the unit of the
greatest partial sum; else they may all go the same way. A partial sum is

    of any order       at most the sum of the positive terms, or of the negative ones
    of a long sum      as far as sums in a row, of every fourth, 16th, … term, and along each
                       axis come: engines add up lane by lane or tile by tile, none at random

A sum of products of two operands is followed without its products, however many there are: sums of
their magnitudes are products of matrices themselves.

    Σ |a b| = |a| @ |b|        positive terms  (|a| @ |b| + a @ b) / 2
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy as np

from compiler.core.dtypes import Array, float_limits

CHANCE = 1.0
"""With the reference, which rounds as well, more than ten standard deviations: derived from the
variance of a rounding, not measured."""
VARIED = 0.5
"""The share of different numbers among terms from which their roundings are taken for chance. It
and the next four are chosen, and tried on the sums of `tests/ask/test_sums.py`; not measured."""
PARTIAL = 4
"""Partial sums that every engine has where terms are smaller than the unit of the whole sum."""
SAMPLE = 64
"""Terms of each sum that are looked at for that; of products fewer."""
SAMPLE_OF_PRODUCTS = 16
ANY_ORDER = 4096
"""Terms up to which every order is taken to be possible."""
STRIDES = 1, 4, 16, 64, 256
BLOCK = 1 << 22
"""Elements that are looked at together: 32 MB of float64, a bound on memory."""


def of_terms(terms: Array, axes: tuple[int, ...]) -> Array:
    """The error bound of each sum of `terms` over `axes`; shaped like the sums, axes kept."""
    epsilon = float(float_limits(terms.dtype).eps)
    kept = [1 if axis in axes else n for axis, n in enumerate(terms.shape)]
    if not terms.size:
        return np.zeros(kept)
    inner = [terms.shape[axis] for axis in axes]
    moved = np.moveaxis(terms, axes, range(-len(axes), 0))
    rows = moved.reshape(-1, prod(inner))
    strides = {*STRIDES, *(prod(inner[k:]) for k in range(1, len(inner)))}
    bounds = np.empty(len(rows))
    for part in _blocks(len(rows), rows.shape[1]):
        bounds[part] = _of_rows(rows[part], epsilon, sorted(strides))
    return bounds.reshape(kept)


def _of_rows(terms: Array, epsilon: float, strides: Sequence[int]) -> Array:
    """The error bound of the sum of each row of terms."""
    count = terms.shape[-1]
    wide = terms.astype(np.float64)
    total, size = np.sum(wide, -1), np.sum(np.abs(wide), -1)
    sample = np.abs(wide[:, :: max(1, count // SAMPLE)])
    worst = _bound(_Sums(count, total, size, sample), epsilon)
    if count <= ANY_ORDER or np.all(size <= 3 * np.abs(total)):
        return worst  # no order brings partial sums that are much smaller
    reach = np.max([_reach(wide, stride) for stride in strides if stride < count], 0)
    reach += np.sqrt(np.sum(wide * wide, -1))
    return np.minimum(worst, _by_chance(count, reach, sample, size, epsilon))


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of `count` terms each: their values, the sums of magnitudes, some magnitudes."""

    count: int
    total: Array
    size: Array
    sample: Array


def _bound(sums: _Sums, epsilon: float) -> Array:
    """The error bound of sums in any order: the worst case, or what chance makes of it."""
    reach = (sums.size + np.abs(sums.total)) / 2
    return _by_chance(sums.count, reach, sums.sample, sums.size, epsilon)


def _by_chance(count: int, reach: Array, sample: Array, size: Array, epsilon: float) -> Array:
    """The error of additions up to partial sums of `reach`; where that is no matter of chance
    the worst case."""
    worst = (count - 1) / 2 * epsilon * size
    chance = CHANCE * sqrt(count) * epsilon * reach
    is_chance = _spread(sample) * PARTIAL > epsilon * reach
    return np.asarray(np.where(is_chance, np.minimum(worst, chance), worst))


def _spread(sample: Array) -> Array:
    """The range of the middle half of the magnitudes; zeros aside, which round nothing. It is
    0 where most of them are equal to others."""
    ordered = np.sort(sample, -1)
    first = np.sum(ordered == 0, -1)
    count = ordered.shape[-1] - first
    is_new = np.diff(ordered, axis=-1, prepend=0.0) > 0
    is_varied = np.sum(is_new, -1) >= VARIED * count
    low, high = (
        np.take_along_axis(ordered, np.minimum(place, ordered.shape[-1] - 1)[..., None], -1)[..., 0]
        for place in (first + count // 4, first + 3 * count // 4)
    )
    return np.asarray(np.where(is_varied & (count > 0), high - low, 0.0))


def _reach(terms: Array, stride: int) -> Array:
    """The largest partial sums of every `stride`-th term, and then those of their results."""
    short = -terms.shape[-1] % stride
    padded = np.pad(terms, ((0, 0), (0, short))) if short else terms
    sums = np.cumsum(padded.reshape(len(terms), -1, stride), 1)
    return np.asarray(np.maximum(_range(sums, 1).max(-1), _range(np.cumsum(sums[:, -1], -1), -1)))


def _range(sums: Array, axis: int) -> Array:
    return np.asarray(np.maximum(sums.max(axis), 0.0) - np.minimum(sums.min(axis), 0.0))


def _blocks(count: int, size: int) -> Iterator[slice]:
    """`count` rows of `size` elements in parts of about `BLOCK` elements."""
    step = max(1, BLOCK // max(size, 1))
    for start in range(0, count, step):
        yield slice(start, start + step)


@dataclass(frozen=True, slots=True)
class Products:
    """Sums of products of two operands: values, and how far they may be off by themselves and
    by what the operands bring. Shaped like the sums, axes kept."""

    value: Array
    error: Array


def of_products(
    operands: Sequence[Array], errors: Sequence[Array], axes: tuple[int, ...], dtype: Any
) -> Products:
    """The sums over `axes` of products of two operands of one shape, which may be views."""
    layout = _layout(operands[0], operands[1], axes)
    left, right = (
        layout.matrices(layout.cut(x, place).astype(np.float64), place)
        for place, x in enumerate(operands)
    )
    limits, count = float_limits(np.dtype(dtype)), layout.count
    epsilon = float(limits.eps)
    total = left @ right
    a, b = np.abs(left), np.abs(right)
    size = a @ b
    bounds = np.empty(size.shape)
    step = max(1, count // SAMPLE_OF_PRODUCTS)
    some, others = a[:, :, ::step], b[:, ::step, :]
    for batch in range(len(size)):
        for rows in _blocks(size.shape[1], size.shape[2] * some.shape[2]):
            sample = some[batch, rows, None, :] * others[batch].T[None]
            sums = _Sums(count, total[batch, rows], size[batch, rows], sample)
            bounds[batch, rows] = _bound(sums, epsilon)
    bounds += size * epsilon / 2 + count * float(limits.tiny)  # each product is rounded as well
    # our own sums, in float64, are off as much as those of float64 are
    bounds *= 2 if dtype.itemsize == 8 else 1
    bounds += _brought(layout, (a, b), errors, operands[0].shape)
    bounds = np.where(size < float(limits.max), bounds, np.inf)
    return Products(layout.whole(total).astype(dtype), layout.whole(bounds))


def _brought(
    layout: "_Layout", sizes: tuple[Array, Array], errors: Sequence[Array], shape: tuple[int, ...]
) -> Array:
    """The errors of the sums that come from those of the operands."""
    moves = [
        layout.matrices(layout.spread(np.asarray(e), n, shape), n) if np.any(e) else None
        for n, e in enumerate(errors)
    ]
    total: Array = np.zeros(())
    if moves[0] is not None:
        total = total + moves[0] @ sizes[1]
    if moves[1] is not None:
        grown = sizes[0] if moves[0] is None else sizes[0] + moves[0]
        total = total + grown @ moves[1]
    return total


@dataclass(frozen=True, slots=True)
class _Layout:
    """Operands of one shape as stacks of matrices: the axes that each of them varies along.

    `axes` are those in front (of both), of rows, of columns, and those that are summed.
    """

    shape: tuple[int, ...]
    axes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    @property
    def count(self) -> int:
        """The number of terms of each sum."""
        return self._extent(3)

    def _extent(self, kind: int) -> int:
        return prod(self.shape[axis] for axis in self.axes[kind])

    def cut(self, operand: Array, place: int) -> Array:
        """An operand without the axes along which it only repeats."""
        others = self.axes[2 if place == 0 else 1]
        every = range(operand.ndim)
        return operand[tuple(slice(0, 1) if axis in others else slice(None) for axis in every)]

    def spread(self, error: Array, place: int, shape: tuple[int, ...]) -> Array:
        """The errors of an operand, shaped as `cut` leaves it; where it repeats, the greatest."""
        whole = np.broadcast_to(error, shape)
        others = self.axes[2 if place == 0 else 1]
        repeats = all(whole.shape[axis] == 1 or not whole.strides[axis] for axis in others)
        return self.cut(whole, place) if repeats else np.max(whole, axis=others, keepdims=True)

    def matrices(self, operand: Array, place: int) -> Array:
        """A cut operand as a stack of matrices: rows by terms, or terms by columns."""
        front, rows, columns, summed = self.axes
        others = columns if place == 0 else rows
        order = (*front, *rows, *summed) if place == 0 else (*front, *summed, *columns)
        outer = self._extent(1) if place == 0 else self.count
        stacks = operand.transpose(*order, *others)
        return stacks.reshape(self._extent(0), outer, -1)

    def whole(self, result: Array) -> Array:
        """The result with the axes of the operands; those that are summed have extent 1."""
        front, rows, columns, summed = self.axes
        order = (*front, *rows, *columns, *summed)
        shape = [self.shape[axis] for axis in (*front, *rows, *columns)]
        result = result.reshape(*shape, *[1] * len(summed))
        return result.transpose(np.argsort(order))


def _layout(left: Array, right: Array, axes: tuple[int, ...]) -> _Layout:
    """The axes by their kind: an operand repeats along those of stride 0."""
    kinds: tuple[list[int], list[int], list[int], list[int]] = [], [], [], []
    for axis, extent in enumerate(left.shape):
        one, other = (extent > 1 and bool(x.strides[axis]) for x in (left, right))
        kind = 3 if axis in axes else 0 if one and other else 2 if other else 1
        kinds[kind].append(axis)
    front, rows, columns, summed = map(tuple, kinds)
    return _Layout(left.shape, (front, rows, columns, summed))

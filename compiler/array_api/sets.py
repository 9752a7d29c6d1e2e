"""Distinct elements. Their number depends on data, so tensors are computed here.

NaN is distinct from every NaN, and -0.0 equals 0.0, as in comparisons.

    x            3 1 3 2      flat
    order        1 3 0 2      stable
    is_new       T T T F      an element of x[order] that differs from the one before it
    starts       0 1 2        where it is true: one program computes up to here, another the rest
"""

from typing import NamedTuple

from compiler.array_api.arguments import tensor
from compiler.core.dtypes import int64
from compiler.core.keywords import public
from compiler.tensor import Tensor


class UniqueAll(NamedTuple):
    """Distinct elements, the index of the first of each, the inverse indices, and the counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct elements and their counts."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct elements and the inverse indices."""

    values: Tensor
    inverse_indices: Tensor


@public
def unique_all(x: Tensor, /) -> UniqueAll:
    """The sorted distinct elements, the index of the first of each in the flattened tensor, the
    index among them of each element, and the counts."""
    return _unique("unique_all", x)


@public
def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The sorted distinct elements, and their counts."""
    found = _unique("unique_counts", x)
    return UniqueCounts(found.values, found.counts)


@public
def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The sorted distinct elements, and the index among them of each element, in the shape of
    `x`."""
    found = _unique("unique_inverse", x)
    return UniqueInverse(found.values, found.inverse_indices)


@public
def unique_values(x: Tensor, /) -> Tensor:
    """The sorted distinct elements."""
    return _unique("unique_values", x).values


def _unique(operation: str, given: Tensor) -> UniqueAll:
    x = tensor(operation, given)
    if not x.size:
        none = Tensor.zeros((0,), dtype=int64)
        return UniqueAll(x.reshape(0), none, none.reshape(x.shape), none)
    flat = x.reshape(x.size)
    order = flat.argsort()
    ordered = flat.take(order, 0)
    is_new = ordered[1:].ne(ordered[:-1]).pad(((1, 0),), True)
    ordered.realize(order, is_new)
    (starts,) = is_new.nonzero(as_tuple=True)
    ends = starts[1:].cat(Tensor.full((1,), x.size, int64))
    inverse = order.zeros_like().scatter(0, order, is_new.cast(int64).cumsum(0).sub(1))
    return UniqueAll(
        ordered.take(starts, 0), order.take(starts, 0), inverse.reshape(x.shape), ends.sub(starts)
    )

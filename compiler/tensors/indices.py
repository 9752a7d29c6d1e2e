"""Read the index in `x[…]` by NumPy's rules: one item per axis, or per added axis.

    x[0, 1:5:2, None, ..., mask, [2, 0]]
    item = number | slice | None | Positions       a mask is the positions where it is true

A Positions item on an added axis stands for a truth value: it takes that axis, of extent 1, once or
not at all.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import AxisError, DataError, DTypeError
from compiler.graph.nodes import Shape
from compiler.graph.words import short
from compiler.tensors.gathering import known, out_of_range
from compiler.tensors.shapes import written
from compiler.tensors.value import TensorValue
from compiler.tensors.variables import Variable, refuse_symbolic

WORKS = (
    "integers, slices, None, ..., and truth values, lists, arrays and tensors of integers or "
    "truth values, e.g. x[0, 1:5:2, ..., [2, 0]]"
)


@dataclass(frozen=True, slots=True)
class Positions:
    """Integer indices along one axis, of any rank; `is_new` if the index adds that axis."""

    where: Array | TensorValue
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class _Mask:
    """A mask, for as many axes as its rank."""

    truth: Array


Item: TypeAlias = int | slice | Positions | None
_Read: TypeAlias = int | slice | EllipsisType | Positions | _Mask | None


@dataclass(frozen=True, slots=True)
class Index:
    """A parsed index, with an item for each axis and each added axis.

    `is_together` is True if integers and index arrays were written next to each other: then the
    axes of their result replace them, else they go in front.
    """

    items: tuple[Item, ...]
    is_together: bool

    @property
    def has_positions(self) -> bool:
        """True if the index contains more than integers, slices and None."""
        return any(isinstance(item, Positions) for item in self.items)

    @property
    def basic(self) -> tuple[int | slice | None, ...]:
        """The slices and added axes; integers too, unless index arrays join them."""
        return tuple(self._basic(item) for item in self.items)

    def _basic(self, item: Item) -> int | slice | None:
        if isinstance(item, Positions):
            return None if item.is_new else slice(None)
        return slice(None) if isinstance(item, int) and self.has_positions else item

    @property
    def chosen(self) -> tuple[Array | TensorValue | None, ...]:
        """The indices along each axis of the result of `basic`, None for all of an axis."""
        return tuple(map(_chosen, self.items))


def _chosen(item: Item) -> Array | TensorValue | None:
    if isinstance(item, Positions):
        return item.where
    return np.asarray(item) if isinstance(item, int) else None


def index_of(given: object, shape: Shape) -> Index:
    """The parsed index `given` for a tensor of `shape`. A mask that is lazy is computed now.

    Raises `DataError` and `DTypeError` for invalid items, and `AxisError` for too many items or for
    a mask whose shape differs from the axes it covers.
    """
    read = [_read(item) for item in (given if isinstance(given, tuple) else (given,))]
    used, dots = sum(map(_width, read)), sum(item is ... for item in read)
    if dots > 1 or used > len(shape):
        raise AxisError(
            "getitem", "too many indices", got=f"{used} indices, {dots} times ...",
            expected=f"at most {len(shape)} indices and one ...",
        )  # fmt: skip
    place = next((n for n, item in enumerate(read) if item is ...), len(read))
    rest: list[_Read] = [slice(None)] * (len(shape) - used)
    items: list[Item] = []
    axis = 0
    for item in (*read[:place], *rest, *read[place + 1 :]):
        items += _placed(item, axis, shape)
        axis += _width(item)
    return Index(tuple(items), _are_together(read))


def _are_together(read: Sequence[_Read]) -> bool:
    """True if integers, index arrays and masks are next to each other, without even an empty `...`
    in between."""
    places = [n for n, item in enumerate(read) if isinstance(item, int | Positions | _Mask)]
    return not places or places[-1] - places[0] + 1 == len(places)


def _width(item: _Read) -> int:
    """The number of tensor axes that an item covers."""
    if item is None or item is ...:
        return 0
    return item.truth.ndim if isinstance(item, _Mask) else 1


def _read(item: object) -> _Read:
    """An item of one of the kinds. Rank 0 is an integer or a truth value, as in NumPy."""
    if item is None or item is ... or isinstance(item, slice):
        return item
    if isinstance(item, TensorValue) and item.dtype.kind != "bool" and known(item) is None:
        return Positions(item)
    array = _computed(item) if isinstance(item, TensorValue) else _array(item)
    if isinstance(array, int):
        return array
    if array.dtype.kind == "b":
        return _Mask(array)
    if array.dtype.kind not in "iu":
        raise DTypeError("getitem", "positions must be integers", got=str(array.dtype),
                         expected="an integer type, or bool for a mask")  # fmt: skip
    if array.ndim:
        return Positions(item if isinstance(item, TensorValue) else array)
    return int(array)


def _computed(item: TensorValue) -> Array:
    """The data of a tensor. A mask decides how many elements are taken, so its data are needed."""
    refuse_symbolic("getitem", item.node, range(item.ndim))
    try:
        return np.asarray(item)
    except DataError as error:
        raise DataError(
            "getitem", f"the data of a mask are needed at once, but {error.problem}",
            got=short(item.node), expected="a mask with known data: it decides the shape",
            hint="mask.where(x, 0) keeps the shape of x",
        ) from error  # fmt: skip


def _array(item: object) -> Array | int:
    """The data of an item that is an array, a number or a list. Raises `DataError` for others."""
    if isinstance(item, np.ndarray | bool | np.bool_):
        return np.asarray(item)
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        return _from_list(item)
    if hasattr(item, "__array__") and not isinstance(item, np.generic):
        return np.asarray(item)
    try:
        return operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        got, hint = type(item).__name__, ""
        if isinstance(item, Variable):
            hint = f"x[Tensor({item})] takes the element at a position that is a variable"
        what = f"cannot index with {got}"
        raise DataError("getitem", what, got=got, expected=WORKS, hint=hint) from None


def _from_list(item: Sequence[Any]) -> Array:
    """A nested list or tuple of integers or truth values. An empty one counts as integers."""
    try:
        array = np.asarray(item)
    except (ValueError, TypeError, OverflowError) as error:
        is_ragged = "inhomogeneous" in str(error)
        what = f"NumPy cannot read the positions: {error}"
        raise DataError("getitem", "the lists of positions are ragged" if is_ragged else what,
                        got=type(item).__name__,
                        expected="lists of equal length at each level") from error  # fmt: skip
    return array if array.size else array.astype(np.int64)


def _placed(item: _Read, axis: int, shape: Shape) -> list[Item]:
    """The items that `item` stands for on the axes from `axis` on, checked; masks become
    indices."""
    assert item is not ...
    if isinstance(item, _Mask):
        return _unmasked(item.truth, axis, shape)
    if isinstance(item, int) and not -shape[axis] <= item < shape[axis]:
        raise out_of_range("getitem", item, axis, shape[axis])
    return [item]


def _unmasked(truth: Array, axis: int, shape: Shape) -> list[Item]:
    """The indices where a mask, which covers the axes from `axis` on, is true.

    As in NumPy, a mask of extent 0 along an axis fits any extent of the tensor there.
    """
    if not truth.ndim:
        return [Positions(np.zeros(int(truth), np.int64), is_new=True)]
    covered = shape[axis : axis + truth.ndim]
    if any(n not in (0, m) for n, m in zip(truth.shape, covered, strict=True)):
        raise AxisError(
            "getitem", "the mask does not fit the axes it covers",
            got=f"shape {written(truth.shape)}", expected=f"shape {written(covered)}",
        )  # fmt: skip
    return [Positions(found) for found in np.nonzero(truth)]

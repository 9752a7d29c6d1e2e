"""`tensor[…]`: integers, slices, None, Ellipsis from movements; arrays through `gathering.py`."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Self, TypeAlias

import numpy as np

from compiler.dtypes import int64
from compiler.errors import AxisError, DataError
from compiler.graph.nodes import Flip, Pad, Shape, Shrink, TensorNode, const, elementwise
from compiler.graph.words import short
from compiler.tensors.gathering import gathered, is_data, select, selected
from compiler.tensors.joining import Joining
from compiler.tensors.shapes import axes_of, written
from compiler.tensors.value import Operand, TensorValue, reshaped, traced
from compiler.tensors.variables import has_variable, shortened

Item: TypeAlias = "int | slice | EllipsisType | None"

_WORKS = (
    "integers, slices, None, ... and arrays of integers or truth values, "
    "e.g. x[0, 1:5:2, ..., [2, 0]]"
)


@dataclass(frozen=True, slots=True)
class Part:
    """What is taken of one axis: `count` elements from `begin` on, every `step`th, in the end
    reversed if `is_reversed`. An integer takes one and drops the axis."""

    begin: int
    count: int
    step: int = 1
    is_reversed: bool = False
    is_dropped: bool = False

    @property
    def length(self) -> int:
        """Elements the part spans, `step` for each it takes."""
        return self.count * self.step


def _part_of(item: Any, axis: int, extent: int) -> Part:
    if not isinstance(item, slice):
        return _single(item, axis, extent)
    try:
        indices = range(*item.indices(extent))
    except (TypeError, ValueError) as error:
        raise AxisError("getitem", str(error), got=str(item), expected=_WORKS) from error
    count = len(indices)
    if not count:
        return Part(0, 0)
    step = abs(indices.step) if count > 1 else 1
    return Part(min(indices[0], indices[-1]), count, step, indices.step < 0 and count > 1)


def _single(item: Any, axis: int, extent: int) -> Part:
    """One element of an axis."""
    index = int(operator.index(item))
    if not -extent <= index < extent:
        raise AxisError(
            "getitem",
            f"index {index} is out of range for axis {axis}",
            got=str(index),
            expected=f"{-extent} to {extent - 1}" if extent else "nothing: the axis is empty",
        )
    return Part(index % extent, 1, is_dropped=True)


def _items_of(given: Any, rank: int) -> list[Item]:
    """The items for every axis, None where an axis is added; Ellipsis is filled in."""
    items = list(given) if isinstance(given, tuple) else [given]
    for item in items:
        _check(item)
    used = sum(item is not None and item is not ... for item in items)
    if items.count(...) > 1 or used > rank:
        raise AxisError(
            "getitem", "too many indices", got=f"{used} indices, {items.count(...)} times ...",
            expected=f"at most {rank} indices and one ...",
        )  # fmt: skip
    place = items.index(...) if ... in items else len(items)
    return items[:place] + [slice(None)] * (rank - used) + items[place + 1 :]


def _check(item: Any) -> None:
    """`DataError` for an index that is not one of the four kinds; a bool is a mask."""
    is_number = hasattr(item, "__index__") and not isinstance(item, bool) and not _has_axes(item)
    if item is None or item is ... or isinstance(item, slice) or is_number:
        return
    raise DataError(
        "getitem",
        f"cannot index with {type(item).__name__}",
        got=type(item).__name__,
        expected=_WORKS,
    )


def _has_axes(item: Any) -> bool:
    return bool(getattr(item, "ndim", 0)) or getattr(item, "dtype", None) == "bool"


def _taken(node: TensorNode, parts: list[Part]) -> TensorNode:
    """The parts of every axis of `node`: cut out, thinned, reversed."""
    pairs = list(zip(parts, node.shape, strict=True))
    bounds = tuple((p.begin, min(p.begin + p.length, n)) for p, n in pairs)
    if bounds != tuple((0, n) for n in node.shape):
        node = Shrink((node,), bounds)
    if any(part.step > 1 for part in parts):
        node = _thinned(node, parts)
    turned = tuple(axis for axis, part in enumerate(parts) if part.is_reversed)
    return Flip((node,), turned) if turned else node


def _thinned(node: TensorNode, parts: list[Part]) -> TensorNode:
    """Every `step`th element: [count * step] is [count, step], of which column 0 is kept.

    The last step may reach over the end: then zeros are added, which are not kept.
    """
    widths = tuple((0, p.length - n) for p, n in zip(parts, node.shape, strict=True))
    if any(after for _, after in widths):
        node = Pad((node,), widths)
    steps = [n for part in parts for n in (part.count, part.step)]
    columns = [b for part in parts for b in ((0, part.count), (0, 1))]
    kept = Shrink((reshaped(node, tuple(steps)),), tuple(columns))
    return reshaped(kept, tuple(part.count for part in parts))


def _result_shape(items: list[Item], parts: list[Part]) -> Shape:
    """The extents that stay, with a 1 for every None."""
    remaining = iter(parts)
    shape = []
    for item in items:
        part = None if item is None else next(remaining)
        if part is None or not part.is_dropped:
            shape.append(1 if part is None else part.count)
    return tuple(shape)


def parts_and_shape(index: Any, shape: Shape) -> tuple[list[Part], Shape]:
    """What an index without arrays takes of each axis of `shape`, and the shape that gives."""
    items = _items_of(index, len(shape))
    taken = [item for item in items if item is not None]
    pairs = enumerate(zip(taken, shape, strict=True))
    parts = [_part_of(item, axis, extent) for axis, (item, extent) in pairs]
    return parts, _result_shape(items, parts)


def split_index(items: list[Any], rank: int) -> tuple[tuple[Any, ...], list[Any]]:
    """An index with arrays in two steps: slices and None, then per axis an array, a number or
    None for all of it."""
    whole = _with_masks_as_positions(items)
    basic = [slice(None) if is_data(i) or hasattr(i, "__index__") else i for i in whole]
    used = sum(i is not None and i is not ... for i in basic)
    if used > rank:
        raise AxisError(
            "getitem", "too many indices", got=f"{used} indices",
            expected=f"at most {rank} indices",
        )  # fmt: skip
    place = next((n for n, i in enumerate(whole) if i is ...), len(whole))
    rest = [slice(None)] * (rank - used)
    arrays = [*whole[:place], *rest, *whole[place + 1 :]]
    return tuple(basic), [i if is_data(i) or hasattr(i, "__index__") else None for i in arrays]


def positions_in(node: TensorNode, items: list[Any]) -> list[TensorNode]:
    """Where in `node` an index with arrays takes its elements: positions per axis."""
    shape = node.shape
    basic, per_axis = split_index(items, len(shape))
    parts, _ = parts_and_shape(basic, shape)
    kept = [part.count for part in parts]
    added = [n for n, item in enumerate(_items_of(basic, len(shape))) if item is None]
    for place in added:
        kept.insert(place, 1)
    found = selected(tuple(kept), per_axis, node)
    own = [node for n, node in enumerate(found) if n not in added]
    return [_moved(each, part) for each, part in zip(own, parts, strict=True)]


def _moved(node: TensorNode, part: Part) -> TensorNode:
    """Positions among the elements that `part` takes, as positions on the whole axis."""
    first = part.begin + (part.count - 1) * part.step if part.is_reversed else part.begin
    step = -part.step if part.is_reversed else part.step
    if step != 1:
        node = elementwise("mul", node, const(step, int64, node.shape))
    return node if not first else elementwise("add", node, const(first, int64, node.shape))


def _check_masks(items: list[Any], shape: Shape) -> None:
    """`AxisError` where a mask has another shape than the axes it stands for."""
    widths = [_axes_used(item) for item in items]
    axis = 0
    for place, (item, width) in enumerate(zip(items, widths, strict=True)):
        if item is ...:
            axis = len(shape) - sum(widths[place + 1 :])
        covered = shape[axis : axis + width]
        if _is_mask(item) and np.shape(item) != covered:
            raise AxisError(
                "getitem", "the mask does not fit the axes it stands for",
                got=f"shape {written(np.shape(item))}", expected=f"shape {written(covered)}",
            )  # fmt: skip
        axis += width


def _is_mask(item: Any) -> bool:
    """Whether an index item is an array of truth values."""
    return is_data(item) and str(getattr(item, "dtype", None) or np.asarray(item).dtype) == "bool"


def _axes_used(item: Any) -> int:
    """How many axes of the tensor an index item stands for."""
    if item is None or item is ...:
        return 0
    return len(np.shape(item)) if _is_mask(item) else 1


def _with_masks_as_positions(items: list[Any]) -> list[Any]:
    """Each mask replaced by the positions where it is true; a computed mask is computed now."""
    result: list[Any] = []
    for item in items:
        if not is_data(item):
            result.append(item)
            continue
        if _is_mask(item) and not np.ndim(item):
            what, expected = "a mask has an element per element of an axis", "rank 1 or more"
            raise AxisError("getitem", what, got="a truth value, rank 0", expected=expected)
        result.extend(np.nonzero(np.asarray(item)) if _is_mask(item) else [item])
    return result


@traced
class Indexing(Joining):
    """Selection by position."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Self:
        if has_variable(index):
            node, rest = shortened(self.node, index)
            return self._new(node)[rest]
        if any(map(is_data, index if isinstance(index, tuple) else (index,))):
            return self._selected(list(index) if isinstance(index, tuple) else [index])
        parts, shape = parts_and_shape(index, self.shape)
        return self._new(reshaped(_taken(self.node, parts), shape))

    def _selected(self, items: list[Any]) -> Self:
        """Indexing with arrays: slices and None first, then integers together with arrays."""
        _check_masks(items, self.shape)
        basic, per_axis = split_index(items, self.ndim)
        return self._new(select(self[basic].node, per_axis))

    def gather(self, axis: int, index: Operand, *, dim: int | None = None) -> Self:
        """Element [i, j, …] is this tensor's at [i, j, …] with `index[i, j, …]` on `axis`.

        `index` has this tensor's rank. Negative positions count from the end; known ones out of
        range are refused (`AxisError`), computed ones read 0.
        """
        (place,) = axes_of("gather", axis if dim is None else dim, self.ndim)
        return self._new(gathered(self.node, index, place))

    def take(self, index: Operand, axis: int | None = None, *, dim: int | None = None) -> Self:
        """The slices at positions `index` along `axis`; without one, of the flat tensor."""
        axis = axis if dim is None else dim
        source = self if axis is not None else self._new(reshaped(self.node, (self.size,)))
        (place,) = axes_of("take", 0 if axis is None else axis, source.ndim)
        items: list[Any] = [None] * source.ndim
        items[place] = index if isinstance(index, TensorValue) else np.asarray(index)
        return self._new(select(source.node, items))

    def __len__(self) -> int:
        if not self.ndim:
            raise DataError("len", "a tensor of rank 0 has no length", got="shape ()")
        if self.node.extents and self.node.extents[0] is not None:
            extent = self.node.extents[0]
            raise DataError(
                "len", f"axis 0 has {extent.described} elements, known when the program runs",
                got=short(self.node), hint="symbolic_shape names it; len(x.numpy()) counts them",
            )  # fmt: skip
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return iter([self[index] for index in range(len(self))])

    def __contains__(self, value: Any) -> bool:
        raise DataError(
            "in", "membership needs the data", got=type(value).__name__,
            hint="use bool((x == value).any())",
        )  # fmt: skip

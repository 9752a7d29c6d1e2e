"""`tensor[…]`: integers, slices, None and ... become movement operations; index arrays go through
`gathering.py`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from compiler.core.dtypes import int64
from compiler.core.errors import AxisError, DataError
from compiler.graph.extents import symbolic
from compiler.graph.nodes import Flip, Pad, Shape, Shrink, TensorNode, const, elementwise
from compiler.graph.words import short
from compiler.tensors.gathering import gathered, positions_of, select, selected
from compiler.tensors.indices import WORKS, Index, Positions, index_of
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.shapes import axes_of, is_of_number
from compiler.tensors.value import Operand, TensorValue, reshaped, traced
from compiler.tensors.variable_parts import is_variable_part, part_at_variable
from compiler.tensors.variables import Variable


@dataclass(frozen=True, slots=True)
class Part:
    """The slice of one axis: `count` elements from `begin` on, every `step`th, then reversed if
    `is_reversed`. An integer takes one element and drops the axis."""

    begin: int
    count: int
    step: int = 1
    is_reversed: bool = False
    is_dropped: bool = False

    @property
    def length(self) -> int:
        """Elements that the slice spans: `step` for each element it takes."""
        return self.count * self.step

    def row(self, extent: int) -> int:
        """Offset of the slice's rows of `step` elements on an axis of `extent` elements.

        To let `[k::step]` become one column of the whole axis, rows begin at a multiple of `step`.
        If that does not fit, the last row ends with the axis; if that does not fit either, rows
        begin at the first element taken.
        """
        for begin in (self.begin - self.begin % self.step, self.begin, extent - self.length):
            if 0 <= begin <= extent - self.length:
                return begin
        return self.begin


def _part_of(item: int | slice, extent: int) -> Part:
    """The slice that an integer in range, or a Python slice, takes of an axis."""
    if isinstance(item, int):
        return Part(item % extent, 1, is_dropped=True)
    try:
        indices = range(*item.indices(extent))
    except (TypeError, ValueError) as error:
        raise AxisError("getitem", str(error), got=str(item), expected=WORKS) from error
    count = len(indices)
    if not count:
        return Part(0, 0)
    step = abs(indices.step) if count > 1 else 1
    return Part(min(indices[0], indices[-1]), count, step, indices.step < 0 and count > 1)


def _taken(node: TensorNode, parts: list[Part]) -> TensorNode:
    """The slices of every axis of `node`: shrunk, strided, reversed."""
    pairs = list(zip(parts, node.shape, strict=True))
    rows = [part.row(extent) for part, extent in pairs]
    bounds = tuple((row, min(row + p.length, n)) for row, (p, n) in zip(rows, pairs, strict=True))
    if bounds != tuple((0, n) for n in node.shape):
        node = Shrink((node,), bounds)
    if any(part.step > 1 for part in parts):
        node = _thinned(node, parts, [p.begin - row for p, row in zip(parts, rows, strict=True)])
    turned = tuple(axis for axis, part in enumerate(parts) if part.is_reversed)
    return Flip((node,), turned) if turned else node


def _thinned(node: TensorNode, parts: list[Part], columns: list[int]) -> TensorNode:
    """Every `step`th element: [count * step] is reshaped to [count, step], and one column is kept.

    The last row may extend past the end: it is padded with zeros, which are not kept.
    """
    widths = tuple((0, p.length - n) for p, n in zip(parts, node.shape, strict=True))
    if any(after for _, after in widths):
        node = Pad((node,), widths)
    steps = [n for part in parts for n in (part.count, part.step)]
    kept = [
        b for p, column in zip(parts, columns, strict=True)
        for b in ((0, p.count), (column, column + 1))
    ]  # fmt: skip
    node = Shrink((reshaped(node, tuple(steps)),), tuple(kept))
    return reshaped(node, tuple(part.count for part in parts))


def parts_and_shape(index: Index, shape: Shape) -> tuple[list[Part], Shape]:
    """The slice of each axis for an index of integers and slices, and the shape of the result, with
    a 1 for every None."""
    extents = iter(shape)
    parts = [None if item is None else _part_of(item, next(extents)) for item in index.basic]
    result = tuple(1 if p is None else p.count for p in parts if p is None or not p.is_dropped)
    return [part for part in parts if part is not None], result


def chosen_in(method: str, node: TensorNode, index: Index) -> list[TensorNode | None]:
    """The indices along each axis of the sliced `node`, None for all of an axis. Arrays go to the
    device of `node`."""
    found: list[TensorNode | None] = []
    axis = 0
    for item, where in zip(index.items, index.chosen, strict=True):
        is_added = item is None or (isinstance(item, Positions) and item.is_new)
        extent = 1 if is_added else symbolic(node.shape, node.extents)[axis]
        found.append(None if where is None else positions_of(method, where, extent, axis, node))
        axis += not is_added
    return found


def positions_in(method: str, node: TensorNode, index: Index) -> list[TensorNode]:
    """The indices along each axis of `node` of the elements that advanced indexing takes."""
    parts, _ = parts_and_shape(index, node.shape)
    counts = iter([part.count for part in parts])
    kept = tuple(1 if item is None else next(counts) for item in index.basic)
    chosen = chosen_in(method, node, index)
    found = selected(method, kept, chosen, is_together=index.is_together)
    own = [each for each, item in zip(found, index.basic, strict=True) if item is not None]
    return [_moved(each, part) for each, part in zip(own, parts, strict=True)]


def _moved(node: TensorNode, part: Part) -> TensorNode:
    """Indices into a slice, as indices into the whole axis."""
    first = part.begin + (part.count - 1) * part.step if part.is_reversed else part.begin
    step = -part.step if part.is_reversed else part.step
    if step != 1:
        node = elementwise("mul", node, const(step, int64, node.shape))
    return node if not first else elementwise("add", node, const(first, int64, node.shape))


def _shortened(node: TensorNode, index: Index) -> tuple[TensorNode, Index]:
    """`node` shrunk along axes whose extent is a variable, and the index that remains to be
    applied."""
    items, axis = list(index.items), 0
    for place, item in enumerate(items):
        if is_variable_part(node, axis, item):
            assert isinstance(item, int | slice)
            node, items[place] = part_at_variable(node, axis, item)
        axis += not (item is None or (isinstance(item, Positions) and item.is_new))
    return node, replace(index, items=tuple(items))


def written_index(method: str, given: object, node: TensorNode) -> Index:
    """The index of a write to `node`. Raises `AxisError` if a variable ends one of its slices."""
    read = index_of(given, node.shape)
    shortened, rest = _shortened(node, read)
    if shortened is node:
        return rest
    slices = [i for i in read.items if isinstance(i, slice)]
    end = next((i.stop for i in slices if isinstance(i.stop, Variable)), "n")
    raise AxisError(
        method,
        "a slice with a variable end cannot be written",
        got=f"x[:{end}]",
        expected="a slice with a known end",
        hint=f"choose by a mask: x.assign((Tensor.arange(…) < {end}).where(value, x))",
    )


@traced
class Indexing(TensorValue):
    """Indexing."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Self:
        node, read = _shortened(self.node, index_of(index, self.shape))
        parts, shape = parts_and_shape(read, node.shape)
        taken = reshaped(_taken(node, parts), shape)
        if not read.has_positions:
            return self._new(taken)
        chosen = chosen_in("getitem", node, read)
        return self._new(select("getitem", taken, chosen, read.is_together))

    @of_rank_zero
    def gather(self, axis: int, index: Operand, *, dim: int | None = None) -> Self:
        """Element [i, j, …] is this tensor's element at [i, j, …], with `index[i, j, …]` on `axis`.

        `index` is an integer tensor of the same rank, and the result has its shape. Negative
        indices count from the end. A known index out of range raises `AxisError`; a computed one
        reads 0.
        """
        (place,) = axes_of("gather", axis if dim is None else dim, self.ndim)
        return self._new(gathered(self.node, index, place))

    def take(self, index: Operand, axis: int | None = None, *, dim: int | None = None) -> Self:
        """The slices at positions `index` along `axis`, in place of that axis; without an axis,
        elements of the flattened tensor."""
        axis = axis if dim is None else dim
        is_flat = axis is None or is_of_number(axis, self.ndim)
        source = self._new(reshaped(self.node, (self.size,))) if is_flat else self
        (place,) = axes_of("take", 0 if axis is None else axis, source.ndim)
        positions: list[TensorNode | None] = [None] * source.ndim
        extent = symbolic(source.shape, source.node.extents)[place]
        positions[place] = positions_of("take", index, extent, place, source.node)
        return self._new(select("take", source.node, positions))

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

"""Tensor methods that make larger tensors: pad, cat, stack, repeat."""

from collections.abc import Iterator, Sequence
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Scalar
from compiler.core.errors import DataError, DTypeError, ShapeError
from compiler.graph.kinds.joins import Cat
from compiler.graph.kinds.shaping import like
from compiler.graph.nodes import Const, Pad, Pairs, Shape, TensorNode, const, elementwise
from compiler.tensors import data as tensor_data
from compiler.tensors.movement import Movement
from compiler.tensors.shapes import axis_of, extents, integers, within_memory, written
from compiler.tensors.value import (
    Operand,
    TensorValue,
    broadcast_node,
    cast_to,
    common_type,
    reshaped,
    traced,
)
from compiler.tensors.variables import refuse_symbolic, shape_of

T = TypeVar("T", bound=TensorValue)
Operands: TypeAlias = Sequence[Operand]
Widths: TypeAlias = int | Sequence[int] | Sequence[Sequence[int] | None]


def padded(node: TensorNode, widths: Pairs, value: TensorNode, method: str = "pad") -> TensorNode:
    """`node` padded with `value`: a plain Pad if the value's bits are 0, else a choice between the
    padded tensor and the value by a padded mask."""
    if not any(before or after for before, after in widths):
        return node
    pairs = zip(node.shape, widths, strict=True)
    shape = within_memory(method, tuple(n + before + after for n, (before, after) in pairs))
    zeros = Pad((node,), widths)
    if isinstance(value, Const) and not value.bits:
        return zeros
    return elementwise("where", mask_of(node, widths), zeros, broadcast_node(value, shape))


def mask_of(node: TensorNode, widths: Pairs) -> TensorNode:
    """A mask of the padded shape: true where `padded` takes its element from `node`."""
    return Pad((like(const(True, dtypes.bool_, node.shape), node),), widths)


def _widths_of(given: Widths, rank: int) -> Pairs:
    """One (before, after) pair per axis, from any of the three forms of `widths`."""
    if isinstance(given, int):
        return ((given, given),) * rank
    if not isinstance(given, Sequence):
        raise _wrong_widths(given, rank)
    if all(isinstance(w, int) for w in given):
        return _widths_from_last(integers("pad", (given,)), rank)
    if len(given) != rank or any(isinstance(w, int) for w in given):
        raise _wrong_widths(given, rank)
    pairs = [(0, 0) if w is None else integers("pad", (w,)) for w in given]
    if any(len(pair) != 2 for pair in pairs):
        raise _wrong_widths(given, rank)
    return tuple((pair[0], pair[1]) for pair in pairs)


def _widths_from_last(flat: Shape, rank: int) -> Pairs:
    """(left, right, top, bottom, …) as pairs: the flat list starts with the last axis."""
    if len(flat) % 2 or len(flat) > 2 * rank:
        raise _wrong_widths(flat, rank)
    pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    return ((0, 0),) * (rank - len(pairs)) + tuple(reversed(pairs))


_MODES = {"reflect": "reflect", "symmetric": "symmetric", "edge": "edge", "replicate": "edge",
          "wrap": "wrap", "circular": "wrap"}  # fmt: skip
"""NumPy's name of each mode, by NumPy's and PyTorch's names."""


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """For each run of positions: its start, its step (1, 0 or -1) and its length."""
    begin = 0
    while begin < len(places):
        end = begin + 1
        step = places[end] - places[begin] if end < len(places) else 1
        step = step if abs(step) <= 1 else 1
        while end < len(places) and places[end] - places[end - 1] == step:
            end += 1
        yield places[begin], step, end - begin
        begin = end


def _places(before: int, after: int, n: int, mode: str) -> list[int]:
    """The source position of each element of a padded axis. Elements are cut off before "wrap"
    continues from the other end, and after "reflect", "symmetric" and "edge" continue."""
    if mode == "edge":
        return [min(max(place - before, 0), n - 1) for place in range(n + before + after)]
    low, high = max(-before, 0), n - max(-after, 0)
    around: Any = max(before, 0), max(after, 0)
    kept: Any = np.arange(low, high) if mode == "wrap" else np.arange(n)
    if not kept.size:
        return []
    places: list[int] = np.pad(kept, around, mode).tolist()  # type: ignore[call-overload]
    return places if mode == "wrap" else places[low : len(places) - max(-after, 0)]


def _wrong_widths(given: object, rank: int) -> ShapeError:
    return ShapeError(
        "pad",
        "the widths do not fit the tensor",
        got=repr(given),
        expected=f"{rank} pairs (before, after), or a flat list of pairs from the last axis on",
    )


@traced
class Joining(Movement):
    """Padding, concatenation and repetition."""

    __slots__ = ()

    def pad(self, widths: Widths, value: Scalar = 0, mode: str = "constant") -> Self:
        """Padded with `value`, or by `mode` with elements of the tensor. Same type.

        `widths` is a (before, after) pair per axis, None for an axis left unchanged; or a flat list
        of such pairs from the last axis on, (left, right, top, bottom, …); or one int for all
        sides. A negative width crops.

        `mode`: "constant"; "reflect" mirrors at the last element, "symmetric" behind it; "edge"
        ("replicate") repeats the last element; "wrap" ("circular") continues from the other end.
        Names and meanings are NumPy's, with PyTorch's in parentheses. Raises `ShapeError` where
        widths do not fit.
        """
        pairs = _widths_of(widths, self.ndim)
        if mode != "constant":
            return self._continued(pairs, _MODES.get(mode, mode))
        if self.dtype.kind == "bool" and type(value) is int and value in (0, 1):
            value = bool(value)  # 0 is the default value
        if not isinstance(value, bool | int | float | np.generic):
            got = type(value).__name__
            raise DataError("pad", "the value is not a number", got=got, expected="a number")
        if self.dtype != common_type([self.node, value]):
            raise DTypeError(
                "pad", f"the value does not fit into {self.dtype}", got=repr(value),
                expected=f"a value of kind {self.dtype.kind}", hint="cast the tensor first",
            )  # fmt: skip
        for axis, ((before, after), extent) in enumerate(zip(pairs, self.shape, strict=True)):
            if extent + min(before, 0) + min(after, 0) < 0:
                raise ShapeError(
                    "pad", f"axis {axis} is cropped by more than its extent",
                    got=f"{(before, after)}", expected=f"at most {extent} elements cropped",
                )  # fmt: skip
        cut = [(max(-b, 0), n - max(-a, 0)) for (b, a), n in zip(pairs, self.shape, strict=True)]
        inner = self.shrink(cut)
        added = tuple((max(before, 0), max(after, 0)) for before, after in pairs)
        fill = tensor_data.scalar(value, self.dtype, "pad")
        return self._new(padded(inner.node, added, fill))

    def _continued(self, pairs: Pairs, mode: str) -> Self:
        """Each axis continued by its own elements: runs of them, forwards or backwards, are
        concatenated."""
        if mode not in _MODES.values():
            names = ", ".join(sorted({"constant", *_MODES, *_MODES.values()}))
            raise ShapeError("pad", "unknown mode", got=repr(mode), expected=f"one of {names}")
        made = self
        refuse_symbolic("pad", self.node, [a for a, pair in enumerate(pairs) if any(pair)])
        for axis, ((before, after), n) in enumerate(zip(pairs, self.shape, strict=True)):
            if not (before or after):
                continue
            cut = (before, after) if mode == "edge" else (min(before, 0), min(after, 0))
            left = n + sum(cut)
            if left < 0 or not n or (mode == "wrap" and not left and max(before, after) > 0):
                raise ShapeError(
                    "pad", f"axis {axis} has too few elements", got=f"{n} and {(before, after)}",
                    expected="elements to continue with, at most all of them cropped",
                )  # fmt: skip
            parts = [made._run(axis, *run) for run in _runs(_places(before, after, n, mode))]
            parts = parts or [made._part(axis, 0, 0)]
            made = parts[0].cat(*parts[1:], dim=axis) if parts[1:] else parts[0]
        return made

    def _run(self, axis: int, begin: int, step: int, count: int) -> Self:
        """A run of `count` elements of an axis that starts at `begin`: ascending (step 1),
        descending (-1), or one element repeated (0)."""
        low = begin - (count - 1) * (step < 0)
        part = self._part(axis, low, low + (count if step else 1))
        if not step:
            return part.expand(*(count if a == axis else n for a, n in enumerate(part.shape)))
        return part.flip(axis) if step < 0 else part

    def cat(self, *others: "Operand | Operands", dim: int = 0) -> Self:
        """This tensor and the others concatenated along axis `dim`. Types are promoted; other axes
        must be equal (`ShapeError`).

        The tensors are given one by one or as a list: `Tensor.cat([x, y], axis=1)`.
        """
        tensors, axis = _several("cat", self, others, dim)
        first = tensors[0]
        dtype = common_type([tensor.node for tensor in tensors])
        nodes = [tensor.node for tensor in tensors]
        axis = axis_of("cat", axis, first.ndim)
        for number, node in enumerate(nodes):
            _check_joinable(number, node, first.node, axis)
        total = sum(node.shape[axis] for node in nodes)
        within_memory("cat", (*first.shape[:axis], total, *first.shape[axis + 1 :]))
        return first._new(Cat(tuple(cast_to(node, dtype) for node in nodes), axis))

    concat = concatenate = cat  # NumPy's names

    def stack(self, *others: "Operand | Operands", dim: int = 0) -> Self:
        """This tensor and the others, all of the same shape, stacked along a new axis `dim`; given
        as to `cat`."""
        tensors, axis = _several("stack", self, others, dim)
        shape = tensors[0].symbolic_shape
        for number, tensor in enumerate(tensors):
            if tensor.symbolic_shape != shape:
                raise ShapeError(
                    "stack", f"tensor {number} has another shape than the first",
                    got=f"{written(tensor.symbolic_shape)} and {written(shape)}",
                    expected="equal shapes",
                )  # fmt: skip
        axis = axis_of("stack", axis, len(shape) + 1)
        first, *rest = (tensor.unsqueeze(axis) for tensor in tensors)
        return first.cat(*rest, dim=axis)

    def repeat(self, *counts: int | Sequence[int]) -> Self:
        """The tensor repeated `counts[i]` times along axis i; more counts than axes add axes in
        front. As in PyTorch.

        NumPy's `repeat` repeats each element: here `repeat_interleave`. One count for rank 1 could
        mean either, with equal shapes, so it is refused (`ShapeError`).
        """
        times = extents("repeat", counts)
        if self.ndim == 1 and self.size > 1 and len(times) == 1 and times[0] > 1:
            count = times[0]
            raise ShapeError(
                "repeat", "one count for rank 1 is ambiguous", got=str(count),
                expected=f"x.tile({count}) for x, x, …; "
                f"x.repeat_interleave({count}) for each element again and again",
                hint="PyTorch repeats the row, NumPy its elements",
            )  # fmt: skip
        return self.tile(times)

    def tile(self, *counts: int | Sequence[int]) -> Self:
        """The tensor repeated `counts[i]` times along axis i; fewer counts than axes are for the
        last axes."""
        times = extents("tile", counts)
        if len(times) < self.ndim:
            times = (1,) * (self.ndim - len(times)) + times
        shape = (1,) * (len(times) - self.ndim) + self.shape
        result = within_memory("tile", tuple(c * n for c, n in zip(times, shape, strict=True)))
        if set(times) <= {1}:
            return self._new(reshaped(self.node, result))
        apart = tuple(n for extent in shape for n in (1, extent))
        wide = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
        repeated = broadcast_node(reshaped(self.node, apart), wide)
        return self._new(reshaped(repeated, result))


def _several(method: str, first: T, others: tuple[Any, ...], dim: int) -> tuple[list[T], int]:
    """The tensors to join, given one by one or as a list, and the axis, which may follow a list.

    Raises `DataError` if none of them is a tensor.
    """
    given: tuple[Any, ...] = (first, *others)
    if not isinstance(first, TensorValue) and len(others) == 1 and isinstance(others[0], int):
        given, dim = given[:1], others[0]
    lists = [each if _is_list_of_tensors(each) else [each] for each in given]
    flat: list[Any] = [one for each in lists for one in each]
    known: Any = next((each for each in flat if isinstance(each, TensorValue)), None)
    if known is None:
        raise DataError(
            method, "none of the arguments is a tensor",
            got=", ".join(type(each).__name__ for each in flat) or "nothing",
            expected="tensors, or a list of them",
            hint=f"Tensor.{method}([x, y], axis=0), or x.{method}(y, axis=0)",
        )  # fmt: skip
    tensors: list[Any] = [
        each if isinstance(each, TensorValue) else known._lift(each) for each in flat
    ]
    return tensors, dim


def _is_list_of_tensors(value: object) -> bool:
    """True for a list that contains a tensor; a list of numbers is an operand."""
    return isinstance(value, list | tuple) and any(isinstance(v, TensorValue) for v in value)


def _check_joinable(number: int, node: TensorNode, first: TensorNode, axis: int) -> None:
    """Raise `ShapeError` unless all axes but `axis` are equal."""
    shape, wanted = shape_of(node), shape_of(first)
    if len(shape) == len(wanted) and all(
        n == m for i, (n, m) in enumerate(zip(shape, wanted, strict=True)) if i != axis
    ):
        return
    raise ShapeError(
        "cat",
        f"the shape of tensor {number} does not fit the first",
        got=f"{written(shape)} and {written(wanted)}",
        expected=f"equal extents on all axes but axis {axis}",
    )

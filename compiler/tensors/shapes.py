"""Arithmetic on shapes and axes: validate and normalise arguments, or raise an error."""

import math
import operator
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from compiler.core.errors import AxisError, ShapeError
from compiler.graph.extents import Extent, refuse_shape, symbolic
from compiler.graph.extents import written as written_extents
from compiler.graph.nodes import Shape, TensorNode
from compiler.tensors.variables import Variable

Axes: TypeAlias = int | Sequence[int] | None


def written(shape: Sequence[object]) -> str:
    """A shape as error messages show it, `(2, 3)`."""
    return str(tuple(shape))


def integers(operation: str, values: object) -> Shape:
    """`values` as Python ints: `t.reshape(2, 3)` and `t.reshape((2, 3))` give the same.

    Raises `ShapeError` if one is not an integer.
    """
    given = tuple(values) if isinstance(values, Iterable) else (values,)
    if len(given) == 1 and isinstance(given[0], Iterable) and not isinstance(given[0], str):
        given = tuple(given[0])
    try:
        return tuple(int(operator.index(v)) for v in given)
    except TypeError as error:
        raise ShapeError(
            operation, "extents and axes are integers", got=repr(given), expected="integers",
            hint="let -1 stand for the axis of a variable" if any(map(_is_variable, given)) else "",
        ) from error  # fmt: skip


def _is_variable(value: object) -> bool:
    return isinstance(value, Variable)


def extents(operation: str, values: Iterable[object]) -> Shape:
    """A validated shape. Raises `ShapeError` for negative extents, `SizeError` if it is too
    large."""
    shape = integers(operation, values)
    if any(n < 0 for n in shape):
        raise ShapeError(
            operation, "an extent is negative", got=written(shape), expected="0 or more"
        )
    return within_memory(operation, shape)


def within_memory(operation: str, shape: Shape) -> Shape:
    """`shape`. Raises `SizeError` if no memory can hold that many elements."""
    refuse_shape(operation, shape)
    return shape


def axis_of(operation: str, axis: object, rank: int) -> int:
    """`axis` as a number from 0 on. Raises `AxisError` outside -rank … rank - 1."""
    numbers = integers(operation, (axis,))
    if len(numbers) != 1:
        raise AxisError(operation, "this needs one axis", got=written(numbers), expected="one axis")
    number = numbers[0]
    if -rank <= number < rank:
        return number % rank
    raise AxisError(
        operation,
        f"axis {number} is out of range",
        got=f"a tensor of rank {rank}",
        expected=f"an axis from {-rank} to {rank - 1}" if rank else "no axis: rank 0 has none",
    )


def axes_of(operation: str, axes: Axes, rank: int) -> Shape:
    """`axes` as sorted numbers from 0 on; None stands for all axes."""
    if axes is None:
        return tuple(range(rank))
    numbers = integers(operation, (axes,))
    found = [axis_of(operation, a, rank) for a in numbers]
    check_distinct(operation, found, numbers)
    return tuple(sorted(found))


def check_distinct(operation: str, axes: Sequence[int], given: Sequence[int]) -> None:
    """Raise `AxisError` if an axis is given twice."""
    if len(set(axes)) != len(axes):
        raise AxisError(
            operation, "an axis is named twice", got=written(tuple(given)), expected="each once"
        )


def is_of_number(axis: Axes, rank: int) -> bool:
    """True for an axis of a number treated as a vector: NumPy accepts 0 and -1 for rank 0."""
    return rank == 0 and isinstance(axis, int) and axis in (0, -1)


def one_of(operation: str, axis: Axes, dim: Axes) -> Axes:
    """The axes given as either `axis` or `dim`. Raises `AxisError` if both are given."""
    if axis is not None and dim is not None:
        raise AxisError(
            operation, "both axis= and dim= are given", got=f"axis={axis}, dim={dim}",
            expected="one of them: they mean the same",
        )  # fmt: skip
    return axis if dim is None else dim


def fill_unknown(operation: str, shape: Shape, size: int) -> Shape:
    """`shape` with -1 replaced so that it has `size` elements. Raises `ShapeError` if that is
    impossible."""
    unknown = shape.count(-1)
    known = math.prod(n for n in shape if n != -1)
    if unknown > 1 or any(n < -1 for n in shape):
        raise ShapeError(
            operation, "the new shape is not valid", got=written(shape),
            expected="extents of 0 or more, at most one -1",
        )  # fmt: skip
    is_whole = size % known == 0 if known else False
    if (unknown and not is_whole) or (not unknown and known != size):
        raise ShapeError(
            operation,
            "the number of elements changes",
            got=f"{written(shape)}, {known:,} elements" + (" and a -1" if unknown else ""),
            expected=f"{size:,} elements",
            hint="reshape keeps every element; pad, shrink or expand change how many there are",
        )
    return tuple(size // known if n == -1 else n for n in shape)


def broadcast(operation: str, *nodes: TensorNode) -> Shape:
    """The common shape of the operands: extents are equal or 1, aligned at the last axis."""
    if any(n.extents for n in nodes):
        _check_symbolic(operation, nodes)
    first = nodes[0].shape
    if all(n.shape == first for n in nodes):
        return first  # as large as a tensor that exists
    rank = max(len(n.shape) for n in nodes)
    padded = [(1,) * (rank - len(n.shape)) + n.shape for n in nodes]
    result: list[int] = []
    for axis, found in enumerate(zip(*padded, strict=True)):
        distinct = list(dict.fromkeys(n for n in found if n != 1)) or [1]
        if len(distinct) > 1:
            raise _mismatch(operation, nodes, axis - rank, distinct)
        result.append(distinct[0])
    return within_memory(operation, tuple(result))


def _check_symbolic(operation: str, nodes: Sequence[TensorNode]) -> None:
    """Refuse an axis of variable extent n paired with another extent, even if n may equal it."""
    rank = max(len(n.shape) for n in nodes)
    shapes = [(1,) * (rank - len(n.shape)) + symbolic(n.shape, n.extents) for n in nodes]
    for axis, found in enumerate(zip(*shapes, strict=True)):
        distinct = list(dict.fromkeys(n for n in found if n != 1))
        if len(distinct) < 2 or all(isinstance(n, int) for n in distinct):
            continue
        words = [n.described if isinstance(n, Extent) else str(n) for n in distinct]
        raise ShapeError(
            operation,
            f"the shapes do not fit together: axis {axis - rank} is {' and '.join(words)}",
            got=" and ".join(f"({written_extents(n.shape, n.extents)})" for n in nodes),
            expected="the same variable, or 1, on each axis counted from the last",
            hint="slice the other operand to the same variable, as in x[:n]",
        )


def _mismatch(
    operation: str, nodes: Sequence[TensorNode], axis: int, found: Sequence[int]
) -> ShapeError:
    """The error with the two extents that differ, and the source lines of the operands."""
    places = [f"{written(n.shape)} made at {n.origin.place}" for n in nodes if n.origin]
    return ShapeError(
        operation,
        f"the shapes do not fit together: axis {axis} is {found[0]} and {found[1]}",
        got=" and ".join(written(n.shape) for n in nodes),
        expected="equal extents, or 1, on each axis counted from the last",
        hint="; ".join(places),
    )


def reaches(operation: str, node: TensorNode, shape: Shape) -> Shape:
    """`shape` with -1 taken from `node`. Raises `ShapeError` unless `node` broadcasts to it."""
    lead = len(shape) - len(node.shape)
    old = (1,) * lead + node.shape
    new = tuple(o if n == -1 else n for o, n in zip(old, shape, strict=True)) if lead >= 0 else ()
    if lead < 0 or any(n != o and o != 1 for o, n in zip(old, new, strict=True)):
        raise ShapeError(
            operation,
            "only axes of extent 1 can be broadcast",
            got=f"{written(node.shape)} to {written(shape)}",
            expected="equal extents, or 1 in the tensor; new axes in front",
        )
    return extents(operation, new)

"""Slices of an axis that begin or end at a variable, or on an axis of variable extent.

    x[: n]        the first n elements                x[1:], x[:-1]   of n elements n - 1
    x[n:]         what follows them                   x[-1], x[-3:]   counted from where n ends
    x[n : n + 1]  one element, wherever it is         x[::-1]         from the last to the first
"""

from typing import TypeAlias

from compiler.core.errors import AxisError
from compiler.graph.extent import Extent, Number, highest, less, lowest
from compiler.graph.extents import symbolic
from compiler.graph.kinds.shaping import broadcast_node, counting_to
from compiler.graph.nodes import Flip, Index, Shrink, TensorNode, elementwise
from compiler.graph.words import short
from compiler.tensors.variables import Variable, made_of, prefix

Bound: TypeAlias = int | Variable | None


def is_variable_part(node: TensorNode, axis: int, item: object) -> bool:
    """True if an index item begins or ends at a variable, or at the end of an axis of variable
    extent."""
    if isinstance(item, slice):
        if any(isinstance(p, Variable) for p in (item.start, item.stop, item.step)):
            return True
        is_turned = item.step == -1 and item.start is None
        is_whole = item.stop is None and (
            is_turned or (item.start in (None, 0) and item.step in (None, 1))
        )
        return bool(node.extents and node.extents[axis]) and not is_whole
    is_number = isinstance(item, int) and item < 0
    return is_number and bool(node.extents and node.extents[axis])


def part_at_variable(
    node: TensorNode, axis: int, item: "int | slice"
) -> "tuple[TensorNode, int | slice]":
    """`node` sliced along `axis` by `item`, and the index item that remains to be applied.

    Raises `AxisError` for steps other than 1 and -1, and `ShapeError` for a slice that does not
    exist for all values of the variables.
    """
    if isinstance(item, int):
        return Flip((node,), (axis,)), -item - 1
    step = 1 if item.step is None else item.step
    if step != 1:
        raise AxisError("getitem", "only step 1 can be taken where an axis or a part is variable",
                        got=str(item.step), expected="x[a:b], or x[::-1]")  # fmt: skip
    number = symbolic(node.shape, node.extents)[axis]
    start, stop = item.start, item.stop
    if _is_negative(start) and stop is None:
        turned = _part(Flip((node,), (axis,)), axis, (0, -start))
        return Flip((turned,), (axis,)), slice(None)
    end = _resolved(stop, number)
    begin = _resolved(0 if start is None else start, number)
    if isinstance(begin, int) and isinstance(end, int):
        if isinstance(number, Extent) and end > number.low and begin > 0:
            raise _unknown(node, item, number)
        return node, slice(begin, end)
    if not isinstance(begin, int):
        return _from_variable(node, axis, begin, end, item), slice(None)
    if end != number or isinstance(stop, Variable):
        made = made_of(end, _known(stop))
        assert isinstance(made, Variable)
        node = prefix("getitem", node, axis, made)
    behind = (begin, node.shape[axis])
    return (_part(node, axis, behind, (axis,)) if begin else node), slice(None)


def _is_negative(bound: Bound) -> bool:
    return isinstance(bound, int) and bound < 0


def _resolved(bound: Bound, number: Number) -> Number:
    """A bound of a slice, counted from the front."""
    if bound is None:
        return number
    if isinstance(bound, Variable):
        return bound.extent
    if bound < 0:
        return less(number, -bound)
    return number if bound >= highest(number) and isinstance(number, Extent) else bound


def _known(*bounds: Bound) -> dict[str, Variable]:
    """The variables in bounds of slices, bound or not."""
    given = (bound for bound in bounds if isinstance(bound, Variable))
    return {each.name: each for bound in given for each in bound.variables}


def _part(
    node: TensorNode, axis: int, part: tuple[int, int], is_open: tuple[int, ...] = ()
) -> TensorNode:
    """A slice of one axis; an open one extends to the end of the axis."""
    bounds = tuple(part if a == axis else (0, n) for a, n in enumerate(node.shape))
    return Shrink((node,), bounds, is_open)


def _from_variable(
    node: TensorNode, axis: int, begin: Number, end: Number, item: slice
) -> TensorNode:
    """The elements from one number to another; the first number is variable."""
    count, number = less(end, begin), symbolic(node.shape, node.extents)[axis]
    if lowest(count) < 0 or lowest(begin) < 0 or lowest(less(number, end)) < 0:
        raise _unknown(node, item, number)
    most = highest(count)
    shape = tuple(most if a == axis else n for a, n in enumerate(node.shape))
    start = made_of(begin, _known(item.stop, item.start))
    assert isinstance(start, Variable)
    positions: list[TensorNode] = []
    for place, extent in enumerate(symbolic(node.shape, node.extents)):
        own = count if place == axis else extent
        each = counting_to(shape, place, own if isinstance(own, Extent) else None)
        if place == axis:
            each = elementwise("add", each, broadcast_node(start.node, shape))
        positions.append(each)
    return Index((node, *positions))


def _unknown(node: TensorNode, item: object, number: Number) -> AxisError:
    has = number.described if isinstance(number, Extent) else str(number)
    return AxisError(
        "getitem", f"the slice does not always exist: the axis has {has} elements",
        got=_written(item), expected="a slice inside the axis for all values of the variables",
        hint=f"of {short(node)}: give the variable a greater lower bound",
    )  # fmt: skip


def _written(item: object) -> str:
    if not isinstance(item, slice):
        return f"x[{item}]"
    start = "" if item.start is None else str(item.start)
    stop = "" if item.stop is None else str(item.stop)
    return f"x[{start}:{stop}]"


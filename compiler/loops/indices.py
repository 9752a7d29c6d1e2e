"""Index arithmetic: extents of axes, and the source indices of movement nodes."""

from itertools import accumulate
from typing import TypeAlias

from compiler.graph import nodes as graph
from compiler.graph.extent import Extent, Number, highest, lowest, total
from compiler.graph.extents import matching_groups, symbolic
from compiler.graph.nodes import Parts, Shape, TensorNode
from compiler.loops.nodes import DefineVar, ScalarNode, alu, linear
from compiler.loops.nodes import index as index_const

Indices: TypeAlias = tuple[ScalarNode, ...]


def bound(extent: int | Extent) -> ScalarNode:
    """The number of elements along an axis."""
    if isinstance(extent, int):
        return index_const(extent)
    if not extent.terms:
        return DefineVar((), extent.name, extent.low, extent.high)
    result: ScalarNode | None = None
    for variables, factor in sorted(extent.terms, key=lambda each: each[1] < 0):
        part: ScalarNode = index_const(1)
        numbers: tuple[Number, ...] = (*variables, abs(factor))
        for number in numbers:
            part = _multiplied(part, bound(number))
        if result is None and factor > 0:
            result = part
            continue
        result = alu("sub" if factor < 0 else "add", result or index_const(0), part)
    assert result is not None
    return result


def _multiplied(first: ScalarNode, second: ScalarNode) -> ScalarNode:
    """`first * second`; a product with 1 is the other."""
    one = index_const(1)
    return second if first is one else first if second is one else alu("mul", first, second)


def variable(node: TensorNode) -> DefineVar:
    """The integer that a Variable stands for at run time."""
    assert isinstance(node, graph.Variable)
    return DefineVar((), node.name, node.low, node.high)


def clamp(value: ScalarNode, extent: int) -> ScalarNode:
    """`value`, or the nearest position inside an axis of `extent` elements."""
    return alu("min", alu("max", value, index_const(0)), index_const(extent - 1))


def is_within(value: ScalarNode, extent: ScalarNode) -> ScalarNode:
    """True if `value` is a position on an axis of `extent` elements: a node of type bool."""
    return alu("and", alu("ge", value, index_const(0)), alu("lt", value, extent))


def shift(value: ScalarNode, by: int) -> ScalarNode:
    """`value + by`."""
    return value if by == 0 else alu("add", value, index_const(by))


def move(node: TensorNode, indices: Indices) -> Indices:
    """The indices into the source of a movement node, given those into the node."""
    source = node.sources[0]
    match node:
        case graph.Reshape():
            if source.extents:
                return _through_symbolic(
                    indices, symbolic(node.shape, node.extents),
                    symbolic(source.shape, source.extents),
                )  # fmt: skip
            return through_reshape(indices, node.shape, source.shape)
        case graph.Permute():
            table = dict(zip(node.order, indices, strict=True))
            return tuple(table[a] for a in range(len(indices)))
        case graph.Expand():
            pairs = zip(indices, source.shape, node.shape, strict=True)
            return tuple(index_const(0) if old != new else i for i, old, new in pairs)
        case graph.Shrink():
            return tuple(shift(i, b) for i, (b, _) in zip(indices, node.bounds, strict=True))
        case graph.Prefix():
            return indices
        case graph.Narrow():
            begin = variable(node.sources[1])
            return tuple(alu("add", i, begin) if a == node.axis else i
                         for a, i in enumerate(indices))
        case graph.Flip():
            bounds = symbolic(source.shape, source.extents)
            return tuple(
                mirror(i, bounds[a]) if a in node.axes else i for a, i in enumerate(indices)
            )
        case _:
            raise AssertionError(f"{type(node).__name__} does not move elements")


def mirror(value: ScalarNode, extent: int | Extent) -> ScalarNode:
    """The mirrored position: `extent - 1 - value`."""
    if isinstance(extent, int):
        return alu("sub", index_const(extent - 1), value)
    last = alu("sub", bound(extent), index_const(1))
    # Never negative, since value < extent; but only so do the bounds say it.
    return alu("max", alu("sub", last, value), index_const(0))


def through_reshape(indices: Indices, new: Shape, old: Shape) -> Indices:
    """The indices in `old` of the element at `indices` in `new`; unchanged axes keep theirs.

    Only axes that are split or merged get divisions: those of a predicated index, which may be
    outside its axis, would not simplify.
    """
    if 0 in new:
        return unflatten(linear(indices, new), old)
    result: list[ScalarNode] = [index_const(0)] * len(old)
    for new_axes, old_axes in matching_groups(new, old):
        wide = [axis for axis in new_axes if new[axis] != 1]
        target = [axis for axis in old_axes if old[axis] != 1]
        inside = tuple(indices[axis] for axis in wide)
        if len(wide) == len(target) == 1:
            result[target[0]] = inside[0]
            continue
        flat = linear(inside, tuple(new[axis] for axis in wide))
        parts = unflatten(flat, tuple(old[axis] for axis in target))
        for axis, part in zip(target, parts, strict=True):
            result[axis] = part
    return tuple(result)


def _through_symbolic(
    indices: Indices, new: tuple[Number, ...], old: tuple[Number, ...]
) -> Indices:
    """The indices in `old` of the element at `indices` in `new`, for shapes with variable axes.

    Elements are counted by the extents of this run, not by the greatest: where a variable axis is
    not the first of those that are merged, the element number is divided by it.
    """
    result: list[ScalarNode] = [index_const(0)] * len(old)
    for new_axes, old_axes in matching_groups(new, old):
        wide = [axis for axis in new_axes if new[axis] != 1]
        target = [axis for axis in old_axes if old[axis] != 1]
        if len(wide) == len(target) == 1:
            result[target[0]] = indices[wide[0]]
            continue
        flat: ScalarNode = index_const(0)
        for axis in wide:
            flat = indices[axis] if axis == wide[0] else alu(
                "add", alu("mul", flat, bound(new[axis])), indices[axis]
            )  # fmt: skip
        for axis in reversed(target):
            is_last = axis == target[0]
            result[axis] = _inside(flat if is_last else _rest(flat, old[axis]), old[axis])
            flat = flat if is_last else _divided(flat, old[axis])
    return tuple(result)


def _divided(value: ScalarNode, by: Number) -> ScalarNode:
    return alu("idiv", value, _divisor(by))


def _rest(value: ScalarNode, by: Number) -> ScalarNode:
    return alu("mod", value, _divisor(by))


def _divisor(number: Number) -> ScalarNode:
    """The number to divide by; 1 where an axis is empty, and nothing is computed."""
    divisor = bound(number)
    return divisor if lowest(number) > 0 else alu("max", divisor, index_const(1))


def _inside(value: ScalarNode, extent: Number) -> ScalarNode:
    """`value`, clamped to its axis: that changes nothing, but gives it tighter bounds."""
    if value.bounds is not None and value.bounds[1] < highest(extent):
        return value
    return alu("min", value, index_const(highest(extent) - 1))


def unflatten(flat: ScalarNode, shape: Shape) -> Indices:
    """The indices in `shape` of element number `flat`."""
    strides = list(accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=1))[::-1]
    result: list[ScalarNode] = []
    for extent, stride in zip(shape, strides if shape else [], strict=True):
        if extent <= 1 or stride == 0:
            result.append(index_const(0))
            continue
        outer = alu("idiv", flat, index_const(stride))
        result.append(alu("mod", outer, index_const(extent)))
    return tuple(result)


def is_inside(node: graph.Pad, indices: Indices) -> ScalarNode | None:
    """The condition that padded indices are inside the source; None where nothing is padded."""
    condition: ScalarNode | None = None
    source = node.sources[0]
    for value, (before, after), extent in zip(
        indices, node.widths, symbolic(source.shape, source.extents), strict=True
    ):
        if before:
            condition = both(condition, alu("ge", value, index_const(before)))
        if after:
            condition = both(condition, alu("lt", value, bound(total((before, extent)))))
    return condition


def both(first: ScalarNode | None, second: ScalarNode | None) -> ScalarNode | None:
    """The conjunction of two conditions that may be absent."""
    if first is None or second is None:
        return first if second is None else second
    return alu("and", first, second)


def in_parts(indices: Indices, parts: Parts) -> Indices:
    """The indices of the elements in `parts`; `indices` unchanged if there are none."""
    if not parts:
        return indices
    return tuple(
        shift(i if step == 1 else alu("mul", i, index_const(step)), begin)
        for i, (begin, _, step) in zip(indices, parts, strict=True)
    )

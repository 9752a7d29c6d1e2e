"""The index under which a node is read, axis by axis, propagated from users to sources.

The loop axes of a kernel are numbered. For each axis of a node, an `AxisIndex` states on which
loop axes the index depends (a bit set), and how. Two reads with equal indices read the same
element. Movement permutes and changes the indices; a broadcast axis is always read at index 0.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from compiler.core.node import Node
from compiler.graph import nodes
from compiler.graph.extent import Number
from compiler.graph.extents import matching_groups, symbolic
from compiler.graph.nodes import Shape, TensorNode


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class AxisIndex(Node):
    """The index along one axis: the bit set of loop axes it depends on, and its formula.

    The formula applies operation `how`, with arguments `by`, to the indices `sources`. Formulas
    are interned: equal ones are one object, so that comparison is cheap.
    """

    axes: int
    how: str
    by: tuple[Number, ...]


ZERO = AxisIndex((), 0, "zero", ())
"""The index along an axis of extent 1."""
Dependence: TypeAlias = tuple[AxisIndex, ...]


def loop_index(number: int, extent: int) -> AxisIndex:
    """The index that equals loop axis `number`."""
    return ZERO if extent == 1 else AxisIndex((), 1 << number, "axis", (number,))


def union(dependence: Dependence) -> int:
    """The set of all loop axes that any index depends on."""
    result = 0
    for index in dependence:
        result |= index.axes
    return result


def source_dependence(node: TensorNode, dependence: Dependence) -> Dependence:
    """The indices into the source of a movement node; those of other nodes are unchanged."""
    match node:
        case nodes.Permute():
            table = dict(zip(node.order, dependence, strict=True))
            return tuple(table[axis] for axis in range(len(dependence)))
        case nodes.Expand():
            pairs = zip(node.sources[0].shape, node.shape, dependence, strict=True)
            return tuple(ZERO if extent != new else index for extent, new, index in pairs)
        case nodes.Reshape():
            if node.sources[0].extents:
                return _through_symbolic(node, dependence)
            return through_reshape(node.shape, node.sources[0].shape, dependence)
        case nodes.Flip():
            return _replaced(dependence, "flip", {axis: node.shape[axis] for axis in node.axes})
        case nodes.Pad():
            return _shifted(dependence, [-before for before, _ in node.widths])
        case nodes.Shrink():
            return _shifted(dependence, [begin for begin, _ in node.bounds])
        case nodes.Narrow():
            return _replaced(dependence, "narrow", {node.axis: id(node.sources[1])})
        case _:
            return dependence


def _shifted(dependence: Dependence, shifts: list[int]) -> Dependence:
    """Each index plus its shift."""
    return _replaced(dependence, "shift", {axis: by for axis, by in enumerate(shifts) if by})


def _replaced(dependence: Dependence, how: str, by_axis: dict[int, int]) -> Dependence:
    """The indices, changed along the axes in `by_axis`."""
    return tuple(
        _changed(index, how, by_axis[axis]) if axis in by_axis else index
        for axis, index in enumerate(dependence)
    )


def gathered(node: nodes.Index, dependence: Dependence) -> Dependence:
    """The indices into the source of an `Index`: values loaded at the indices of the node."""
    return tuple(
        AxisIndex(dependence, union(dependence), "gather", (id(position),))
        for position in node.positions
    )


def is_data(dependence: Dependence) -> bool:
    """True if an index depends on loaded data (an indirect access) anywhere in its formula."""
    indices: set[AxisIndex] = set()
    stack = list(dependence)
    while stack:
        index = stack.pop()
        if index.how == "gather":
            return True
        if index not in indices:
            indices.add(index)
            stack.extend(index.sources)
    return False


def _changed(index: AxisIndex, how: str, by: int) -> AxisIndex:
    """`index` after a change that adds no dependence on a loop."""
    return AxisIndex((index,), index.axes, how, (by,))


def through_reshape(new: Shape, old: Shape, dependence: Dependence) -> Dependence:
    """The indices into shape `old` from those into shape `new`.

    An unchanged axis keeps its index; axes that are split or joined share their loop axes.
    """
    result = [ZERO] * len(old)
    for place, axes, by in _reshape_steps(new, old):
        if by is None:
            result[place] = dependence[axes[0]]
            continue
        indices = tuple([dependence[axis] for axis in axes])
        result[place] = AxisIndex(indices, union(indices), "reshape", by)
    return tuple(result)


def _through_symbolic(node: nodes.Reshape, dependence: Dependence) -> Dependence:
    """As `through_reshape`, for dynamic extents."""
    source = node.sources[0]
    new = symbolic(node.shape, node.extents)
    old = symbolic(source.shape, source.extents)
    result = [ZERO] * len(old)
    for new_axes, old_axes in matching_groups(new, old):
        axes = [axis for axis in new_axes if new[axis] != 1]
        wide = [axis for axis in old_axes if old[axis] != 1]
        if len(axes) == len(wide) == 1:
            result[wide[0]] = dependence[axes[0]]
            continue
        indices = tuple(dependence[axis] for axis in axes)
        shapes = (*(new[i] for i in new_axes), *(old[i] for i in old_axes))
        for i in wide:
            by = (len(new_axes), i - old_axes[0], *shapes)
            result[i] = AxisIndex(indices, union(indices), "reshape", by)
    return tuple(result)


Step: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...] | None]
"""An old axis, the new axes that its index is computed from, and how: None for the same index."""


@lru_cache(4096)
def _reshape_steps(new: Shape, old: Shape) -> tuple[Step, ...]:
    """The step for each axis of `old` with an extent other than 1."""
    steps: list[Step] = []
    for new_axes, old_axes in matching_groups(new, old):
        axes = tuple(i for i in new_axes if new[i] != 1)
        wide = [i for i in old_axes if old[i] != 1]
        if len(axes) == len(wide) == 1:
            steps.append((wide[0], axes, None))
            continue
        shapes = (*(new[i] for i in new_axes), *(old[i] for i in old_axes))
        steps += [(i, axes, (len(new_axes), i - old_axes[0], *shapes)) for i in wide]
    return tuple(steps)

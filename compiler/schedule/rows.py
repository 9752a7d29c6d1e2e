"""The states of a loop that get one row in each iteration: only the row is carried over.

    Before:  state1 = where (iota = iteration0) row state1       f32[128,64]
    After:   state1 [iteration0] = row                           f32[1,64]

Each iteration keeps all of the state but the elements whose index along one axis is the place that
the counter says. So a scan that collects its results writes each of them once, and not all of them
in every iteration. All calls of an iteration have read the state before the row is written.

The place is inside the axis in every iteration; the row has no reshape on top, its elements are
those of the state's part in the same order.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.graph.nodes import (
    Cast,
    Const,
    Elementwise,
    Expand,
    Iota,
    Param,
    Reshape,
    Shape,
    Sink,
    TensorNode,
    Variable,
)
from compiler.schedule.kinds import Region
from compiler.schedule.regions import contiguous_strides


@dataclass(frozen=True, slots=True)
class Row:
    """Index `begin` + `step` * counter of `axis` of a state."""

    axis: int
    begin: int
    step: int

    def region(self, shape: Shape) -> Region:
        """The part of a state of that shape which the row is copied to."""
        strides = contiguous_strides(shape)
        dims = tuple(1 if axis == self.axis else n for axis, n in enumerate(shape))
        is_dense = all(n == 1 for n in dims[: self.axis])
        stride = strides[self.axis]
        return Region(dims, None, None if is_dense else strides, 0, self.begin * stride,
                      self.step * stride)  # fmt: skip


def with_rows(body: Sink) -> tuple[Sink, Mapping[int, Row]]:
    """The body of a loop with rows in the place of states that keep the rest; where they go."""
    roots, found = list(body.sources), {}
    for index, new in enumerate(body.sources):
        made = _row(new, index)
        if made is not None:
            roots[index], found[index] = made
    return (Sink(tuple(roots)) if found else body), found


def _row(new: TensorNode, index: int) -> tuple[TensorNode, Row] | None:
    """The row that `new`, the next state of that number, has in the place of the old one's."""
    if not isinstance(new, Elementwise) or new.op != "where":
        return None
    is_there, value, old = new.sources
    if not (isinstance(old, Param) and old.slot == index and isinstance(value, Expand)):
        return None
    axis, equal = _axis_of(is_there)
    row = value.sources[0]
    if equal is None or row.shape[axis] != 1:
        return None
    place = _place(equal)
    if place is None:
        return None
    part = tuple(1 if a == axis else n for a, n in enumerate(new.shape))
    row = row if row.shape == part else Expand((row,), part)
    while isinstance(row, Reshape):
        row = row.sources[0]
    return row, Row(axis, *place)


def _axis_of(is_there: TensorNode) -> tuple[int, Elementwise | None]:
    """The one axis along which the condition changes, and its comparison; None if there is none."""
    node = is_there.sources[0] if isinstance(is_there, Expand) else is_there
    axes = [axis for axis, n in enumerate(node.shape) if n != 1]
    while isinstance(node, Reshape):
        node = node.sources[0]
    is_one = len(axes) == 1 and isinstance(node, Elementwise) and node.op == "eq"
    return (axes[0], node) if is_one and isinstance(node, Elementwise) else (0, None)


def _place(equal: Elementwise) -> tuple[int, int] | None:
    """First index and step where indices along the axis equal a function of the counter."""
    for indices, counted in (equal.sources, equal.sources[::-1]):
        bare, place = _bare(indices), _affine(_scalar(counted))
        if not isinstance(bare, Iota) or place is None or bare.extent != equal.size:
            continue
        begin, step, last = place
        if all(0 <= at < bare.extent for at in (begin, begin + step * last)):
            return begin, step
    return None


def _bare(indices: TensorNode) -> TensorNode:
    """What is under reshapes, and casts to types that hold all indices."""
    node = indices
    while isinstance(node, Reshape) or (isinstance(node, Cast) and _holds(node, node.size - 1)):
        node = node.sources[0]
    return node


def _scalar(node: TensorNode) -> TensorNode:
    while isinstance(node, Expand | Reshape):
        node = node.sources[0]
    return node


def _affine(node: TensorNode) -> tuple[int, int, int] | None:
    """First value, step and last value of the counter, if `node` is a line over the counter."""
    if node.size != 1:
        return None
    match node:
        case Variable(low=0):
            return 0, 1, node.high
        case Const() if node.dtype.is_integer:
            return int(node.value), 0, 0
        case Cast() | Elementwise():
            parts = [_affine(_scalar(source)) for source in node.sources]
            made = _combined(node, [part for part in parts if part is not None])
            is_whole = made is not None and None not in parts
            return made if is_whole and made and _is_exact(node, made) else None
    return None


def _combined(
    node: Cast | Elementwise, parts: list[tuple[int, int, int]]
) -> tuple[int, int, int] | None:
    """The line that an operation on lines makes."""
    match "cast" if isinstance(node, Cast) else node.op, parts:
        case "cast", [only]:
            return only
        case "neg", [(begin, step, last)]:
            return -begin, -step, last
        case "add", [(begin, step, last), (more, other, end)]:
            return begin + more, step + other, max(last, end)
        case "sub", [(begin, step, last), (less, other, end)]:
            return begin - less, step - other, max(last, end)
        case "mul", [(begin, step, last), (factor, 0, _)]:
            return begin * factor, step * factor, last
        case "mul", [(factor, 0, _), (begin, step, last)]:
            return begin * factor, step * factor, last
    return None


def _is_exact(node: TensorNode, line: tuple[int, int, int]) -> bool:
    """Whether the type holds all values of a line."""
    begin, step, last = line
    return _holds(node, begin) and _holds(node, begin + step * last)


def _holds(node: TensorNode, value: int) -> bool:
    dtype = node.dtype
    return dtype.is_integer and dtype.minimum <= value <= dtype.maximum

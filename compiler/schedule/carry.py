"""carry: a loop state of which each iteration replaces one row is updated in place.

    Before:  %0 = iota                 i64[4]
             %1 = variable i 0 … 3     i64[]
             %2 = reshape %1           i64[1]
             %3 = expand %2            i64[4]
             %4 = eq %0 %3             bool[4]
             %5 = reshape %4           bool[4,1]
             %6 = expand %5            bool[4,2]
             %7 = param 1              f32[1,2]
             %8 = exp %7               f32[1,2]
             %9 = expand %8            f32[4,2]
             %10 = param 0             f32[4,2]
             %11 = where %6 %9 %10     f32[4,2]
             sink %11
    After:   %7 = param 1              f32[1,2]
             %8 = exp %7               f32[1,2]
             sink %8                   (copied to row i of the state)

The pass matches states that change only where the index along one axis equals a function of the
loop counter. Then the iteration computes the new row only, and the row is copied into the state. So
a scan that collects its results writes each of them once, instead of the whole stack in every
iteration. The row is written after all calls of the iteration have read the state. Programs outside
of loops have no states and do not change.

Relies on: a parameter that a root reads is a loop state: the one whose number is its slot.
Ensures: the row is inside the axis in every iteration; it has no reshape on top, and its elements
are in the order of the part of the state that they replace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compiler.core.origin import Origin
from compiler.core.reason import Number, Reason
from compiler.core.trace import Provenance
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
    const,
)
from compiler.schedule.kinds import Region
from compiler.schedule.partition import Choice
from compiler.schedule.regions import contiguous_strides

ONE_ROW = "each iteration replaces one row; the rest of the state stays in place"
OUTSIDE = "its row is out of the axis's bounds in some iteration: the whole state is copied"
NO_LINE = "its row is no linear function of the counter: the whole state is copied"


@dataclass(frozen=True, slots=True)
class Row:
    """Index `begin` + `step` * counter of `axis` of a state."""

    axis: int
    begin: int
    step: int

    def region(self, shape: Shape) -> Region:
        """The region of a state with this shape that the row is copied to."""
        strides = contiguous_strides(shape)
        dims = tuple(1 if axis == self.axis else n for axis, n in enumerate(shape))
        is_dense = all(n == 1 for n in dims[: self.axis])
        stride = strides[self.axis]
        return Region(dims, None, None if is_dense else strides, 0, self.begin * stride,
                      self.step * stride)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Carried:
    """An iteration in which states that are updated in place are replaced by their new rows."""

    root: Sink
    rows: Mapping[int, Row] = field(default_factory=dict)
    """The position of each new row, by the number of the state."""
    choices: Sequence[Choice] = ()
    """The decisions for states that get a row: why it is copied alone, or why not."""


def carry(root: Sink, provenance: Provenance[Origin]) -> Carried:
    """`root`, a program or an iteration of a loop, with rows for states that allow it."""
    rows: dict[int, Row] = {}
    choices: list[Choice] = []
    roots = list(root.sources)
    for index, new in enumerate(root.sources):
        placed = _placed(new, index)
        if placed is None:
            continue
        value, axis, equal = placed
        place = _place(equal)
        if isinstance(place, str):
            choices.append(_choice(new, new, False, place))
            continue
        rows[index] = Row(axis, *place)
        roots[index] = row = _part(value, new, axis)
        provenance.made(row, provenance.of(new))
        choices.append(_choice(row, new, True, ONE_ROW))
    if not rows:
        return Carried(root, choices=choices)
    rebuilt = Sink(tuple(roots))
    provenance.rebuilt(rebuilt, root)
    return Carried(rebuilt, rows, choices)


def _choice(node: TensorNode, state: TensorNode, is_row: bool, why: str) -> Choice:
    """The decision for a state, with the bytes that are copied per iteration."""
    carried = Number("carried over", node.nbytes, "bytes", "the whole state", state.nbytes)
    return Choice(node, is_row, Reason(why, carried))


def _placed(new: TensorNode, index: int) -> tuple[TensorNode, int, Elementwise] | None:
    """The row that `new`, the next state number `index`, replaces, its axis, and the comparison
    that selects its position. None if more than a row changes."""
    if not isinstance(new, Elementwise) or new.op != "where":
        return None
    is_there, value, old = new.sources
    if not (isinstance(old, Param) and old.slot == index):
        return None
    axis, equal = _axis_of(is_there)
    row = value.sources[0] if isinstance(value, Expand) else value
    is_same = isinstance(row, Const) or row.shape[axis] == 1
    return (row, axis, equal) if equal is not None and is_same else None


def _part(row: TensorNode, new: TensorNode, axis: int) -> TensorNode:
    """The row in the shape of the replaced part, or a value with its elements in that order."""
    part = tuple(1 if a == axis else n for a, n in enumerate(new.shape))
    if isinstance(row, Const):
        return const(row.value, row.dtype, part)
    row = row if row.shape == part else Expand((row,), part)
    while isinstance(row, Reshape):
        row = row.sources[0]
    return row


def _axis_of(is_there: TensorNode) -> tuple[int, Elementwise | None]:
    """The only axis along which the condition varies, and its comparison or None."""
    node = is_there.sources[0] if isinstance(is_there, Expand) else is_there
    axes = [axis for axis, n in enumerate(node.shape) if n != 1]
    while isinstance(node, Reshape):
        node = node.sources[0]
    is_one = len(axes) == 1 and isinstance(node, Elementwise) and node.op == "eq"
    return (axes[0], node) if is_one and isinstance(node, Elementwise) else (0, None)


def _place(equal: Elementwise) -> tuple[int, int] | str:
    """First index and step of the row, if its index is linear in the counter; else the reason."""
    for indices, counted in (equal.sources, equal.sources[::-1]):
        bare, place = _bare(indices), _affine(_scalar(counted))
        if not isinstance(bare, Iota) or place is None or bare.extent != equal.size:
            continue
        begin, step, last = place
        is_inside = all(0 <= at < bare.extent for at in (begin, begin + step * last))
        return (begin, step) if is_inside else OUTSIDE
    return NO_LINE


def _bare(indices: TensorNode) -> TensorNode:
    """The value below reshapes, and below casts to types that can represent all indices."""
    node = indices
    while isinstance(node, Reshape) or (isinstance(node, Cast) and _holds(node, node.size - 1)):
        node = node.sources[0]
    return node


def _scalar(node: TensorNode) -> TensorNode:
    while isinstance(node, Expand | Reshape):
        node = node.sources[0]
    return node


def _affine(node: TensorNode) -> tuple[int, int, int] | None:
    """First value, step and last value of `node`, if it is linear in the counter."""
    if node.size != 1 and not isinstance(node, Const):
        return None
    match node:
        case Variable(low=0):
            return 0, 1, node.high
        case Const() if node.dtype.is_integer:
            return int(node.value), 0, 0
        case Cast() | Elementwise():
            parts = [_affine(_scalar(source)) for source in node.sources]
            whole = _combined(node, [part for part in parts if part is not None])
            is_known = whole is not None and None not in parts
            return whole if is_known and whole and _is_exact(node, whole) else None
    return None


def _combined(
    node: Cast | Elementwise, parts: list[tuple[int, int, int]]
) -> tuple[int, int, int] | None:
    """The result of an operation on linear functions, as first value, step and last value."""
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
    """True if the type can represent all values of a linear function."""
    begin, step, last = line
    return _holds(node, begin) and _holds(node, begin + step * last)


def _holds(node: TensorNode, value: int) -> bool:
    dtype = node.dtype
    return dtype.is_integer and dtype.minimum <= value <= dtype.maximum

"""carry: of a loop's state that gets one row in each iteration, only the row is carried over.

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

Each iteration keeps all of the state but the elements whose index along one axis is the place that
the counter says. So a scan that collects its results writes each of them once, and not all of them
in every iteration. All calls of an iteration have read the state before the row is written. A
program has no states: nothing is carried over in it.

Relies on: a parameter of a root is a state of a loop, the one whose number is its slot.
Ensures: the place is inside the axis in every iteration; the row has no reshape on top, its
elements are those of the state's part in the same order.
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

ONE_ROW = "one row becomes new in each iteration; the rest of the state stays where it is"
OUTSIDE = "its row is past the ends of the axis in some iteration: all of the state is copied"
NO_LINE = "where its row goes is no line over the counter: all of the state is copied"


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


@dataclass(frozen=True, slots=True)
class Carried:
    """An iteration with rows in the place of the states that keep the rest of what they were."""

    root: Sink
    rows: Mapping[int, Row] = field(default_factory=dict)
    """Where they go, by the number of the state."""
    choices: Sequence[Choice] = ()
    """Why a row is all that is carried over; why not, where a state gets a row all the same."""


def carry(root: Sink, provenance: Provenance[Origin]) -> Carried:
    """`root`, a program or an iteration of a loop, with what is carried over for its states."""
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
    made = Sink(tuple(roots))
    provenance.rebuilt(made, root)
    return Carried(made, rows, choices)


def _choice(node: TensorNode, state: TensorNode, is_row: bool, why: str) -> Choice:
    """What is carried over of a state, and how much that is."""
    carried = Number("carried over", node.nbytes, "bytes", "the whole state", state.nbytes)
    return Choice(node, is_row, Reason(why, carried))


def _placed(new: TensorNode, index: int) -> tuple[TensorNode, int, Elementwise] | None:
    """If `new`, the next state of that number, is the old one but for rows along an axis: the row,
    the axis, and the comparison that says where it goes."""
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
    """The row in the shape of the part of the state, or what has its elements in their order."""
    part = tuple(1 if a == axis else n for a, n in enumerate(new.shape))
    if isinstance(row, Const):
        return const(row.value, row.dtype, part)
    row = row if row.shape == part else Expand((row,), part)
    while isinstance(row, Reshape):
        row = row.sources[0]
    return row


def _axis_of(is_there: TensorNode) -> tuple[int, Elementwise | None]:
    """The one axis along which the condition changes, and its comparison; None if there is none."""
    node = is_there.sources[0] if isinstance(is_there, Expand) else is_there
    axes = [axis for axis, n in enumerate(node.shape) if n != 1]
    while isinstance(node, Reshape):
        node = node.sources[0]
    is_one = len(axes) == 1 and isinstance(node, Elementwise) and node.op == "eq"
    return (axes[0], node) if is_one and isinstance(node, Elementwise) else (0, None)


def _place(equal: Elementwise) -> tuple[int, int] | str:
    """First index and step where indices along the axis equal a function of the counter; in words
    why no row of the axis is what becomes new in every iteration."""
    for indices, counted in (equal.sources, equal.sources[::-1]):
        bare, place = _bare(indices), _affine(_scalar(counted))
        if not isinstance(bare, Iota) or place is None or bare.extent != equal.size:
            continue
        begin, step, last = place
        is_inside = all(0 <= at < bare.extent for at in (begin, begin + step * last))
        return (begin, step) if is_inside else OUTSIDE
    return NO_LINE


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
    if node.size != 1 and not isinstance(node, Const):
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

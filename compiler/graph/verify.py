"""The invariants of the tensor graph. A violation is a bug in this compiler.

 1. An operation has its number of operands, and they have one shape.
 2. Operands have one type, which the operation's row accepts; the condition of `where` is bool.
 3. Reshape keeps the number of elements.
 4. The order of a permute names each axis once.
 5. Expand keeps the rank and repeats only axes of extent 1.
 6. Pad has one pair of widths per axis, none negative.
 7. Shrink has one pair of bounds per axis, 0 <= begin <= end <= extent; Narrow stays inside its
    axis whatever its variable is.
 8. The axes of a flip are distinct and in range.
 9. The axes of a reduction are sorted, distinct and in range; its row accepts the type; max and
    min fold no empty axis, unless the result is empty too.
10. Bitcast keeps the width. A Sink is the root only; a Store stands only under a Sink, and writes
    a Param of the shape and type of its value, or parts that are inside of one.
11. After `decompose`: no operation or kind that has an expansion is left, and no Threefry;
    nothing computes in a type with `computed_as`.
12. Extents are not negative; the bits of a constant fit its type; a Param's slot is not
    negative; a Variable has a possible value, and a Bind gives it one of those.
13. An index has one int64 tensor of positions per axis, all of the result's shape; its
    validity, if there is one, is bool and of that shape.
14. The operands of a Threefry are uint64 and of one shape.
15. A Prefix is of an axis with as many elements as its variable may have: 2 or more, and the
    variable is never negative. Max and min fold no symbolic axis that may be empty. After
    `decompose` no Bind is left: the values of a run are no part of the program.
16. A repeat has a source of its type and shape for each state and Param of its body, which reads
    no variable but its counter, and at least one iteration.
17. A scatter has a row of `updates.UPDATES`, updates of its own type, and one int64 tensor of
    positions per axis, all of the updates' shape.
18. A custom node has a registered name, and the operands and result of that function; an inline
    one has one shape throughout.
19. The target of an assign is a Buffer, or an Assign, of the type of the value. The value has its
    shape, or that of the parts written, which are inside. No value is the target of two assigns.
20. A composite kind has no `problem`, nor has anything in the body of a Kernel.
21. A Copy reads a value, the Device of each shard, and for a clone a Unique, which a Wrt reads too;
    nothing else reads these. A Multi has shards of one type that differ along its axis only, one
    per device, and knows which of them hold elements.
22. After `shard`: no Multi and no Joint is left.
23. The axis of a scan is in range; its row accepts the type.

Not checked here: that a Buffer's data has its shape and type (`device/buffers.py` checks it), and
that a graph computes what the user wrote (the interpreters and tests check it).
"""

from typing import NoReturn

from compiler.core.dtypes import DType, bool_, int64, uint64
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.graph import nodes
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.gradient import Wrt
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.placement import WITHOUT_SOURCES, Copy, Joint, Multi, placement_problem
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import Parts, TensorNode
from compiler.graph.parts import problem
from compiler.graph.widen import is_widened
from compiler.graph.words import operation, short
from compiler.ops import functions
from compiler.ops.row import Op
from compiler.ops.table import OPS, REDUCTIONS
from compiler.ops.updates import UPDATES


def verify(
    root: TensorNode, is_decomposed: bool = False, is_sharded: bool = False,
    checked: set[TensorNode] | None = None,
) -> None:  # fmt: skip
    """Check every node under `root`; `is_decomposed` adds invariant 11, `is_sharded` 22.

    `checked` has nodes that were verified already and need no second check; nodes that pass are
    added. Raises `InternalError` with the number of the first violated invariant, and the node.
    """
    targets: dict[TensorNode, TensorNode] = {}
    checked = set() if checked is None else checked
    for node in toposort([root]):
        if node not in checked:
            verify_node(node)
            checked.add(node)
        if isinstance(node, Assign) and targets.setdefault(node.sources[0], node) is not node:
            _broken(node, 19, "two assigns have one target", short(node.sources[0]), "a chain")
        if is_decomposed:
            _machine_operation(node)
        if is_sharded and isinstance(node, Joint | Multi):
            _broken(node, 22, "a value is still in shards", operation(node), "no multi, no joint")


def verify_node(node: TensorNode) -> None:
    """Check one node, assuming that its sources are valid; `InternalError` as for `verify`."""
    _arity(node)
    _leaf(node)
    _node(node)
    _placement(node)


def _broken(node: TensorNode, number: int, what: str, got: object, expected: object) -> NoReturn:
    """Raise the error that names the invariant and the node."""
    operands = ", ".join(short(s) for s in node.sources)
    raise InternalError(
        "graph",
        f"invariant {number}: {what}, at {operation(node)}({operands})",
        got=str(got),
        expected=str(expected),
        origin=node.origin,
    )


def _arity(node: TensorNode) -> None:
    """Invariant 1, the number of operands; every later check relies on it."""
    match node:
        case nodes.Sink() | Repeat() | Custom() | Composite():
            return
        case nodes.Elementwise():
            expected = OPS[node.op].arity
        case nodes.Store() | nodes.Threefry() | nodes.Prefix() | nodes.Narrow() | Assign():
            expected = 2
        case Copy() | Joint() | Multi() if node.sources:
            return
        case Scatter():
            expected = 2 + len(node.sources[0].shape) if node.sources else 3
            if expected == 2:
                _broken(node, 17, "a rank-0 tensor has no positions", 0, "rank 1 or more")
        case nodes.Index():
            expected = 1 + len(node.sources[0].shape) if node.sources else 2
            if expected == 1:
                _broken(node, 13, "a rank-0 tensor has no positions", 0, "rank 1 or more")
            expected += len(node.sources) == expected + 1
        case _:
            expected = 0 if isinstance(node, WITHOUT_SOURCES) else 1
    if len(node.sources) != expected:
        _broken(node, 1, "the number of operands is wrong", len(node.sources), expected)


def _leaf(node: TensorNode) -> None:
    """Invariant 12."""
    if any(n < 0 for n in node.shape):
        _broken(node, 12, "an extent is negative", node.shape, "extents of 0 or more")
    if isinstance(node, nodes.Const) and not 0 <= node.bits < 1 << node.dtype.bits:
        _broken(node, 12, "the bits do not fit the type", hex(node.bits), node.dtype)
    if isinstance(node, nodes.Param) and node.slot < 0:
        _broken(node, 12, "a slot is negative", node.slot, "0 or more")
    if isinstance(node, nodes.Variable) and node.low > node.high:
        _broken(node, 12, "a variable has no possible value", node.low, f"at most {node.high}")
    if isinstance(node, nodes.Bind):
        _bind(node)
    if isinstance(node, nodes.Iota) and not node.dtype.is_integer and not node.dtype.is_float:
        _broken(node, 12, "an iota counts in numbers", node.dtype, "an integer or float type")


def _node(node: TensorNode) -> None:
    """Invariants 1 to 10 and 21, whichever are about nodes of this kind."""
    if not isinstance(node, Wrt) and (misplaced := placement_problem(node)):
        _broken(node, 21, *misplaced)
    match node:
        case nodes.Elementwise():
            _elementwise(node, OPS[node.op])
        case nodes.Reshape() | nodes.Expand():
            _reshaped(node)
        case nodes.Permute():
            _permute(node)
        case nodes.Pad():
            _pad(node)
        case nodes.Shrink():
            _shrink(node)
        case nodes.Flip():
            _flip(node)
        case nodes.Prefix():
            _prefix(node)
        case nodes.Narrow():
            _narrow(node)
        case nodes.Reduce():
            _reduce(node)
        case Scan():
            _scan(node)
        case nodes.Bitcast():
            _bitcast(node)
        case nodes.Index():
            _index(node)
        case Repeat():
            _repeat(node)
        case Scatter():
            _scatter(node)
        case Custom():
            _custom(node)
        case Assign():
            _assign(node)
        case Composite():
            _composite(node)
        case nodes.Threefry():
            _threefry(node)


def _permute(node: nodes.Permute) -> None:
    if sorted(node.order) != list(range(len(node.sources[0].shape))):
        _broken(node, 4, "the order is no permutation", node.order, "each axis once")


def _repeat(node: Repeat) -> None:
    if problem := node.problem():
        _broken(node, 16, "a loop does not fit its body", problem, "a source like each state")
    verify(node.body)


def _threefry(node: nodes.Threefry) -> None:
    for source in node.sources:
        if source.dtype != uint64 or source.shape != node.shape:
            _broken(node, 14, "operands are not uint64 of one shape", short(source), "u64")


def _elementwise(node: nodes.Elementwise, row: Op) -> None:
    shapes = [s.shape for s in node.sources]
    if len(set(shapes)) > 1:
        _broken(node, 1, "operands differ in shape", shapes, "one shape")
    dtypes = [s.dtype for s in node.sources]
    if row.has_condition:
        condition, *dtypes = dtypes
        if condition != bool_:
            _broken(node, 2, "the condition is not bool", condition, bool_)
    if len(set(dtypes)) > 1:
        _broken(node, 2, "operands differ in type", " ".join(map(str, dtypes)), "one type")
    _accepts(node, 2, dtypes[0], row.accepts)


def _accepts(node: TensorNode, number: int, dtype: DType, accepts: frozenset[str]) -> None:
    if dtype.kind not in accepts:
        _broken(node, number, "the row does not accept the type", dtype, " ".join(sorted(accepts)))


def _reshaped(node: nodes.Reshape | nodes.Expand) -> None:
    source = node.sources[0]
    if isinstance(node, nodes.Reshape):
        if source.size != node.size:
            _broken(node, 3, "a reshape changes the size", node.size, source.size)
        return
    if len(node.shape) != len(source.shape):
        _broken(node, 5, "an expand changes the rank", len(node.shape), len(source.shape))
    if any(old not in (1, new) for old, new in zip(source.shape, node.shape, strict=True)):
        what = "an expand repeats an axis whose extent is not 1"
        _broken(node, 5, what, node.shape, f"{source.shape}, each 1 repeated")


def _pad(node: nodes.Pad) -> None:
    rank = len(node.sources[0].shape)
    if len(node.widths) != rank or any(width < 0 for pair in node.widths for width in pair):
        _broken(node, 6, "widths of a pad are wrong", node.widths, f"{rank} pairs of 0 or more")


def _shrink(node: nodes.Shrink) -> None:
    shape = node.sources[0].shape
    if len(node.bounds) != len(shape):
        _broken(node, 7, "a shrink has no bounds for an axis", node.bounds, f"{len(shape)} pairs")
    for (begin, end), extent in zip(node.bounds, shape, strict=True):
        if not 0 <= begin <= end <= extent:
            _broken(node, 7, "a shrink reaches outside", f"{begin}:{end}", f"inside 0:{extent}")


def _bind(node: nodes.Bind) -> None:
    """Invariant 12."""
    variable = node.sources[0]
    if not isinstance(variable, nodes.Variable):
        _broken(node, 12, "a bind of what is no variable", operation(variable), "variable")
    if not variable.low <= node.value <= variable.high:
        bounds = f"{variable.low} … {variable.high}"
        _broken(node, 12, "a bind outside its bounds", node.value, bounds)


def _prefix(node: nodes.Prefix) -> None:
    """Invariant 15."""
    for variable in node.sources[1:]:
        if not isinstance(variable, nodes.Variable | nodes.Bind):
            what = "the length of a prefix follows from no variable"
            _broken(node, 15, what, operation(variable), "variables")
    if not 0 <= node.axis < len(node.shape):
        _broken(node, 15, "an axis is out of range", node.axis, f"below {len(node.shape)}")
    extent = node.extents[node.axis]
    if extent is None or extent.high != node.shape[node.axis] or extent.high < 2 or extent.low < 0:
        got = extent.described if extent else "none"
        expected = f"0 or more … {node.shape[node.axis]}, which is 2 or more"
        _broken(node, 15, "the variable does not fit the axis", got, expected)


def _narrow(node: nodes.Narrow) -> None:
    """Invariant 7."""
    source, begin = node.sources
    if not 0 <= node.axis < len(source.shape):
        _broken(node, 7, "an axis is out of range", node.axis, f"below {len(source.shape)}")
    if not isinstance(begin, nodes.Variable):
        _broken(node, 7, "a narrow does not begin at a variable", operation(begin), "variable")
    extent = source.shape[node.axis]
    if begin.low < 0 or node.length < 0 or begin.high + node.length > extent:
        got = f"{node.length} elements from {begin.low} … {begin.high} on"
        _broken(node, 7, "a narrow reaches outside", got, f"inside 0:{extent}")


def _flip(node: nodes.Flip) -> None:
    rank = len(node.shape)
    if len(set(node.axes)) != len(node.axes) or any(not 0 <= a < rank for a in node.axes):
        _broken(node, 8, "axes of a flip are wrong", node.axes, f"distinct axes below {rank}")


def _reduce(node: nodes.Reduce) -> None:
    shape, row = node.sources[0].shape, REDUCTIONS[node.op]
    if list(node.axes) != sorted(set(node.axes)):
        _broken(node, 9, "axes are not sorted and distinct", node.axes, sorted(set(node.axes)))
    if any(not 0 <= axis < len(shape) for axis in node.axes):
        _broken(node, 9, "an axis is out of range", node.axes, f"axes below {len(shape)}")
    _accepts(node, 9, node.dtype, row.accepts)
    if any(shape[axis] == 0 for axis in node.axes) and node.size and not row.has_identity:
        _broken(node, 9, f"{node.op} over an empty axis", shape, "extents of 1 or more")
    for axis, extent in enumerate(node.sources[0].extents):
        if extent and axis in node.axes and not extent.low and not row.has_identity:
            what = f"{node.op} over an axis that may be empty"
            _broken(node, 15, what, extent.described, "a variable of 1 or more")


def _scan(node: Scan) -> None:
    """Invariant 23."""
    if not 0 <= node.axis < len(node.shape):
        _broken(node, 23, "the axis is out of range", node.axis, f"0 to {len(node.shape) - 1}")
    accepts = REDUCTIONS[node.op].accepts
    if node.dtype.kind not in accepts:
        _broken(node, 23, "the row does not accept the type", node.dtype, " ".join(sorted(accepts)))


def _bitcast(node: nodes.Bitcast) -> None:
    source = node.sources[0].dtype
    if source.bits != node.target.bits:
        _broken(node, 10, "a bitcast changes the width", node.target, f"{source.bits} bits")


def _index(node: nodes.Index) -> None:
    """Invariant 13."""
    for position in node.positions:
        if position.dtype != int64 or position.shape != node.shape:
            _broken(node, 13, "a position is no int64 tensor of the result's shape",
                    short(position), f"i64{list(node.shape)}")  # fmt: skip
    valid = node.validity
    if valid is not None and (valid.dtype != bool_ or valid.shape != node.shape):
        _broken(node, 13, "the validity is not bool and of the result's shape",
                short(valid), f"bool{list(node.shape)}")  # fmt: skip


def _composite(node: Composite) -> None:
    """Invariant 20."""
    if objection := node.problem():
        _broken(node, 20, objection.what, objection.got, objection.expected)
    if isinstance(node, Kernel):
        verify(node.body)


def _scatter(node: Scatter) -> None:
    """Invariant 17."""
    updates = node.sources[1]
    if node.op not in UPDATES:
        _broken(node, 17, "no such update", node.op, ", ".join(UPDATES))
    if updates.dtype != node.dtype:
        _broken(node, 17, "the updates have another type", updates.dtype, node.dtype)
    for position in node.sources[2:]:
        if position.dtype != int64 or position.shape != updates.shape:
            _broken(node, 17, "a position is no int64 tensor of the updates' shape",
                    short(position), f"i64{list(updates.shape)}")  # fmt: skip


def _custom(node: Custom) -> None:
    """Invariant 18."""
    function = functions.find(node.name)
    if function is None:
        _broken(node, 18, "no such function", node.name, "one that is registered")
    got, expected = [short(s) for s in node.sources], [str(t) for t in function.operands]
    if got != expected:
        _broken(node, 18, "the operands are others", got, expected)
    if short(node) != str(function.result) or node.attributes != function.attributes:
        _broken(node, 18, "the result is another", short(node), function.result)
    if function.kind == "inline" and any(s.shape != node.shape for s in node.sources):
        _broken(node, 18, "an inline function changes the shape", got, node.shape)


def _assign(node: Assign) -> None:
    """Invariant 19, of one node."""
    target, value = node.sources
    if not isinstance(target, nodes.Buffer | Assign):
        _broken(node, 19, "an assign to what is no buffer", operation(target), "buffer or assign")
    if node.parts:
        _part(node, node.parts, 19, "an assign does not fit its target")
    elif short(target) != short(value):
        _broken(node, 19, "an assign does not fit its target", short(value), short(target))


def _part(node: TensorNode, parts: Parts, number: int, what: str) -> None:
    if objection := problem(parts, *node.sources):
        _broken(node, number, what, *objection)


def _placement(node: TensorNode) -> None:
    """Invariant 10, for Sinks and Stores."""
    for source in node.sources:
        if isinstance(source, nodes.Sink):
            _broken(node, 10, "a sink is an operand", "sink", "a value")
        if isinstance(source, nodes.Store) and not isinstance(node, nodes.Sink):
            _broken(node, 10, "a store is an operand", "store", "a value")
    if isinstance(node, nodes.Store):
        target, value = node.sources
        if not isinstance(target, nodes.Param):
            _broken(node, 10, "a store writes what is no param", operation(target), "param")
        if node.parts:
            _part(node, node.parts, 10, "a store does not fit its param")
        elif (target.dtype, target.shape) != (value.dtype, value.shape):
            _broken(node, 10, "a store does not fit its param", short(value), short(target))


def _machine_operation(node: TensorNode) -> None:
    """Invariants 11 and 15."""
    if isinstance(node, nodes.Bind):
        _broken(node, 15, "a value of this run was not taken out", "bind", "the variable")
    if isinstance(node, nodes.Threefry):
        _broken(node, 11, "a threefry was not expanded", "threefry", "machine operations")
    if isinstance(node, Composite) and node.expansion() is not None:
        _broken(node, 11, "a kind was not expanded", node.word, "core nodes")
    if isinstance(node, nodes.Elementwise) and OPS[node.op].expansion is not None:
        _broken(node, 11, "an operation was not expanded", node.op, "a machine operation")
    if is_widened(node):
        _broken(node, 11, "no machine computes in this type", node.dtype, "a wider type")

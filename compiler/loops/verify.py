"""verify: checks the invariants of a kernel's loops, which `invariants.py` lists."""

from collections.abc import Mapping
from typing import TypeAlias

from compiler.core.dtypes import bool_, int64
from compiler.core.node import toposort
from compiler.loops.invariants import broken, describe
from compiler.loops.nodes import (
    After,
    Alu,
    Argument,
    Bitcast,
    Body,
    Cast,
    Const,
    Custom,
    DefineVar,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Scan,
    Store,
    Update,
    memory,
)
from compiler.loops.placement import Nest, dependencies
from compiler.loops.verify_accesses import verify_accesses
from compiler.loops.verify_nests import verify_nests
from compiler.ops import functions
from compiler.ops.table import OPS, REDUCTIONS
from compiler.ops.updates import UPDATES


def verify(body: Body) -> None:
    """Check every node of `body`.

    Raises `InternalError` with the number of the first invariant broken, and the node.
    """
    order: list[ScalarNode] = toposort([body])
    for node in order:
        _structure(node)
        _types(node)
    _arguments(order)
    _reread(body)
    _ranges(order)
    needs = dependencies(body)
    targets: set[ScalarNode] = set()
    for nest in body.sources:
        if isinstance(nest, Custom):
            _statement(nest, body)
            continue
        assert isinstance(nest, Store | Update)
        _scope(nest, needs)
        if isinstance(nest, Update):
            _joins(nest, targets)
        else:
            targets.add(nest.sources[0])
    verify_nests(body, order, needs)
    verify_accesses(body, order, needs)


def _structure(node: ScalarNode) -> None:
    """Invariant 1."""
    kinds = _allowed_sources(node)
    counts = {Const: (0, 0), DefineVar: (0, 0), Argument: (0, 0), Local: (0, 0), Range: (1, 1),
              Cast: (1, 1), Bitcast: (1, 1), Load: (2, 3), Reduce: (1, None), Scan: (2, 2),
              Store: (3, None), Update: (4, None), After: (2, None)}  # fmt: skip
    least, most = counts.get(type(node), (0, None))
    if len(node.sources) < least or (most is not None and len(node.sources) > most):
        broken(node, 1, "the number of operands is wrong", len(node.sources), least)
    for source, allowed in zip(node.sources, kinds, strict=True):
        if not isinstance(source, allowed):
            expected = " or ".join(k.__name__ for k in allowed)
            broken(node, 1, "an operand stands in the wrong place", describe(source), expected)
    if isinstance(node, Store) and (predicates := len(node.sources) - 3 - len(node.ranges)) > 1:
        broken(node, 1, "a store has several predicates", predicates, "one at most")
    if isinstance(node, After):
        others = [s for s in node.sources[1:] if memory(s) is not memory(node)]
        if others or isinstance(memory(node), Argument):
            broken(node, 1, "an effect is on other memory", describe(node.sources[1]), "scratch")


_Kinds: TypeAlias = tuple[type[ScalarNode], ...]
_VALUE: _Kinds = (Const, Range, Load, Alu, Cast, Bitcast, Reduce, Scan, DefineVar, Custom)
_ARGUMENT: _Kinds = (Argument,)
_MEMORY: _Kinds = (Argument, Local, After)
_SCRATCH: _Kinds = (Local, After)
_EFFECT: _Kinds = (Store, Update)
_RANGE: _Kinds = (Range,)


def _allowed_sources(node: ScalarNode) -> list[_Kinds]:
    """For each operand of `node`, the kinds of node that it may be."""
    count = len(node.sources)
    match node:
        case Body():
            return [(Store, Update, Custom)] * count
        case Range():
            return [(Const, DefineVar, Alu)] * count
        case Load():
            return [_MEMORY, *[_VALUE] * (count - 1)][:count]
        case Custom(result=None):
            return [_ARGUMENT] * count
        case Store():
            loops = [_VALUE if s.dtype == bool_ else _RANGE for s in node.sources[3:]]
            return [_MEMORY, _VALUE, _VALUE, *loops][:count]
        case Update():
            return [_MEMORY, _VALUE, _VALUE, _VALUE, *[_RANGE] * (count - 4)][:count]
        case After():
            return [_SCRATCH, *[_EFFECT] * (count - 1)][:count]
        case Reduce() | Scan():
            return [_VALUE, *[_RANGE] * (count - 1)][:count]
        case _:
            return [_VALUE] * count


def _types(node: ScalarNode) -> None:
    """Invariants 2 and 3, and the type a Store writes (4)."""
    match node:
        case Alu():
            _alu(node)
        case Custom():
            _custom(node)
        case Bitcast() if node.target.bits != node.sources[0].dtype.bits:
            was = node.sources[0].dtype
            broken(node, 2, "a bitcast changes the width", node.target, f"{was.bits} bits")
        case Load() | Store() | Update():
            if node.sources[1].dtype != int64:
                broken(node, 3, "the index is not int64", node.sources[1].dtype, int64)
            predicate = node.predicate if isinstance(node, Load) else None
            predicate = node.sources[3] if isinstance(node, Update) else predicate
            if predicate is not None and predicate.dtype != bool_:
                broken(node, 3, "the predicate is not bool", predicate.dtype, bool_)
            if not isinstance(node, Load) and node.sources[2].dtype != node.sources[0].dtype:
                types = node.sources[2].dtype, node.sources[0].dtype
                what = "a store writes another type than its memory's"
                broken(node, 4, what, *types)


def _custom(node: Custom) -> None:
    """Invariant 10, except the place of the node."""
    function = functions.find(node.name)
    if function is None:
        broken(node, 10, "no such function", node.name, "one that is registered")
    is_inline = function.kind == "inline"
    if is_inline != (node.result is not None) or function.kind == "host":
        broken(node, 10, "a function in the wrong place", function.kind, "a value if inline")
    declared = [operand.dtype for operand in function.operands]
    result = function.result.dtype
    expected = declared if is_inline else [result, *declared]
    got = [source.dtype for source in node.sources]
    if got != expected or node.result not in (None, result):
        broken(node, 10, "the operands differ", " ".join(map(str, got)),
                " ".join(map(str, expected)))  # fmt: skip


def _statement(node: Custom, body: Body) -> None:
    """Invariant 10, the place of the node."""
    if node.result is not None or len(body.sources) > 1:
        broken(node, 10, "a value stands alone, or a statement does not", node.name, "one each")
    written = [a.is_written for a in node.sources if isinstance(a, Argument)]
    if written != [True] + [False] * (len(written) - 1):
        broken(node, 10, "not just the first argument is written", written, "the first")


def _alu(node: Alu) -> None:
    row = OPS[node.op]
    if len(node.sources) != row.arity:
        broken(node, 2, "the number of operands is wrong", len(node.sources), row.arity)
    if row.expansion is not None:
        broken(node, 2, "it is not a machine operation", node.op, "one without an expansion")
    dtypes = [s.dtype for s in node.sources]
    if row.has_condition:
        condition, *dtypes = dtypes
        if condition != bool_:
            broken(node, 2, "the condition is not bool", condition, bool_)
    if len(set(dtypes)) > 1:
        broken(node, 2, "operands differ in type", " ".join(map(str, dtypes)), "one type")
    if dtypes[0].kind not in row.accepts:
        accepts = " ".join(sorted(row.accepts))
        broken(node, 2, "the row does not accept the type", dtypes[0], accepts)


def _arguments(order: list[ScalarNode]) -> None:
    """Invariant 4."""
    slots: dict[int, Argument] = {}
    for node in order:
        if isinstance(node, Argument):
            if node.slot in slots:
                broken(node, 4, "two arguments have one slot", node.slot, "a slot each")
            slots[node.slot] = node
            if node.is_written != (node.slot == 0):
                broken(node, 4, "slot 0 alone is written", f"slot {node.slot}", "slot 0")
        elif isinstance(node, Load | Store | Update):
            argument = memory(node)
            is_read = isinstance(argument, Argument) and not argument.is_written
            if is_read and not isinstance(node, Load):
                broken(node, 4, "the wrong access", describe(node), "an argument only read")


def _reread(body: Body) -> None:
    """Invariant 4, for loads from the written buffer: only the element that the Store writes."""
    for nest in body.sources:
        for node in toposort([nest]):
            argument = memory(node) if isinstance(node, Load) else None
            if not isinstance(argument, Argument) or not argument.is_written:
                continue
            is_own = isinstance(nest, Store) and nest.sources[1] is node.sources[1]
            if not is_own or not all(isinstance(other, Store) for other in body.sources):
                expected = "an argument only written, or the element that its one store writes"
                broken(node, 4, "the wrong access", describe(node), expected)


def _ranges(order: list[ScalarNode]) -> None:
    """Invariants 5 and 6."""
    names: dict[str, DefineVar] = {}
    inside: dict[ScalarNode, frozenset[Range]] = {}
    for node in order:
        below = frozenset[Range]().union(*(inside[s] for s in node.sources))
        ranges = node.ranges if isinstance(node, Nest) else ()
        inside[node] = below | set(ranges)
        if isinstance(node, Range):
            _extent(node)
        elif isinstance(node, DefineVar):
            if names.setdefault(node.name, node) is not node or node.low > node.high:
                bounds = node.low, node.high
                broken(node, 5, f"variable {node.name} is not one", bounds, "one pair of bounds")
        elif isinstance(node, Nest):
            _nest(node, below)
    _axes([n for n in order if isinstance(n, Range)])


def _extent(node: Range) -> None:
    """Invariant 5, for one range."""
    extent = node.sources[0]
    if extent.dtype != int64 or extent.bounds is None or extent.bounds[0] < 0:
        broken(node, 5, "the extent is wrong", extent.bounds, "int64, 0 or more")
    for each in toposort([extent]):
        if not isinstance(each, Const | DefineVar | Alu):
            broken(node, 5, "the extent is wrong", describe(each), "constants and variables")


def _axes(ranges: list[Range]) -> None:
    """Invariant 5, for the ranges that are parts of one axis."""
    numbers: dict[int, list[Range]] = {}
    for each in ranges:
        for other in numbers.setdefault(each.number, []):
            if each.part == other.part:
                broken(each, 5, "two ranges have one number", each.number, "a number each")
            shared = min(len(each.part), len(other.part))
            if each.part[:shared] == other.part[:shared] or each.role != other.role:
                broken(each, 5, "an axis is both tiled and whole", other.name, "parts of one axis")
        numbers[each.number].append(each)


_ROLES = {Store: "normal", Update: "serial", Reduce: "reduction"}


def _nest(node: Nest, below: frozenset[Range]) -> None:
    """Invariant 6 for one nest; `below` are the ranges of the nests inside it."""
    role = _ROLES[type(node)]
    value = node.sources[2] if isinstance(node, Store) else None
    along = value.axis if isinstance(value, Scan) else None
    if isinstance(value, Scan) and along not in node.ranges:
        broken(node, 6, "a scan goes along no loop of its store", value.axis.name, "one of these")
    for position, each in enumerate(node.ranges):
        if each.role != ("serial" if each is along else role):
            broken(node, 6, f"{each.name} has the wrong role", each.role, role)
        if each in below or each in node.ranges[:position]:
            broken(node, 6, f"{each.name} belongs to two nests", describe(node), "one of them")
    if isinstance(node, Reduce):
        if not node.ranges:
            broken(node, 6, "a reduction over no range", 0, "1 or more")
        if node.dtype.kind not in REDUCTIONS[node.op].accepts:
            accepts = " ".join(sorted(REDUCTIONS[node.op].accepts))
            broken(node, 6, "the row does not accept the type", node.dtype, accepts)


def _scope(store: Store | Update, needs: Mapping[ScalarNode, frozenset[Range]]) -> None:
    """Invariant 7: a store or update depends on its own loops only."""
    outside = sorted(r.name for r in needs[store])
    if outside:
        names = ", ".join(r.name for r in store.ranges)
        what = f"{outside[0]} is used outside its loop"
        broken(store, 7, what, ", ".join(outside), f"only {names or 'constants'}")


def _joins(update: Update, written: set[ScalarNode]) -> None:
    """Invariant 4, for the element that an update reads."""
    if update.op not in UPDATES:
        broken(update, 4, "no such update", update.op, ", ".join(UPDATES))
    if update.sources[0] not in written:
        broken(update, 4, "an update of what was not written", "no store before", "a store")

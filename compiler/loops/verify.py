"""The invariants of a kernel's loops. A broken one is an error of this compiler.

 1. Every node stands where it may: Stores and Updates under the Body only, Arguments only as what
    a Load, Store or Update accesses, and only Ranges as the loops of a Reduce, Store or Update.
 2. The operands of an Alu have the number and types its row accepts, and it is a machine
    operation: it has no expansion. Bitcast keeps the width.
 3. The index of a Load, Store or Update is int64, and a gate is bool.
 4. One Argument per slot. Slot 0 is stored to and updated, and nothing else is; it is loaded from
    only where its one Store writes, so that each element is read before it is written. A Store
    or Update writes the type of its Argument, an Update by a row of `updates.UPDATES` that there
    is, and after the Store to its Argument: it reads what it joins.
 5. The extent of a range is an int64 constant or variable, 0 or more; no two ranges have one
    number, and no two variables one name.
 6. A range belongs to one nest: normal ranges to a Store, serial ranges to an Update, reduction
    ranges to a Reduce, which has at least one and whose row accepts the type.
 7. No value depends on a range outside the nest that the range belongs to.
 8. Every access is inside its buffer for all values of the ranges: its index has bounds within
    0 … size - 1, or it is gated, or it depends on a range of extent 0 and so never happens.
    (An Update is gated and yet has such bounds: its gate decides which elements, not whether
    they are there.)
 9. The store to a buffer writes each element exactly once (updates may hit one never or often):
    the index is a sum of multiples of the store's ranges, each multiple the product of the
    extents of those below it. One that `is_part` writes no element twice: the index may begin
    anywhere, and each multiple is more than what those below it reach together.
10. A Custom has a registered name. An inline one is a value, of scalars of its operands' types; any
    other stands under the Body, alone, and writes the first of its arguments.

Where an extent is a variable, 8 and 9 hold for its greatest value, and so for the others: a range
that ends earlier reaches less, and writes the elements that are meaningful.

Not checked: that a gate keeps its load inside the buffer (the interpreters check each access),
and that bounds are right (they are found as the node is made, and tested in `simplify`'s tests).
"""

import math
from typing import NoReturn, TypeAlias

from compiler import functions
from compiler.dtypes import bool_, int64
from compiler.errors import InternalError
from compiler.loops.nodes import (
    Alu,
    Argument,
    Bitcast,
    Body,
    Cast,
    Const,
    Custom,
    DefineVar,
    Load,
    Range,
    Reduce,
    ScalarNode,
    Store,
    Update,
)
from compiler.loops.placement import dependencies
from compiler.loops.symbolic import Sum, as_sum
from compiler.node import toposort
from compiler.ops import OPS, REDUCTIONS
from compiler.updates import UPDATES


def verify(body: Body) -> None:
    """Check every node of `body`.

    Raises `InternalError` with the number of the first invariant broken, and the node.
    """
    order: list[ScalarNode] = toposort([body])
    for node in order:
        _structure(node)
        _types(node)
    _arguments(order)
    _ranges(order)
    needs = dependencies(body)
    targets: set[ScalarNode] = set()
    for store in body.sources:
        if isinstance(store, Custom):
            _statement(store, body)
            continue
        assert isinstance(store, Store | Update)
        _scope(store, needs)
        if isinstance(store, Update):
            _joins(store, targets)
            continue
        _covers(store)
        if store.sources[0] in targets:
            _broken(store, 9, "two stores write one argument", 2, 1)
        targets.add(store.sources[0])
    for node in order:
        if isinstance(node, Load | Store | Update):
            _inside(node, needs)


def _broken(node: ScalarNode, number: int, what: str, got: object, expected: object) -> NoReturn:
    """Raise the error that names the invariant and the node."""
    raise InternalError(
        "loops",
        f"invariant {number}: {what}, at {_describe(node)}",
        got=str(got),
        expected=str(expected),
    )


def _describe(node: ScalarNode) -> str:
    """A short name for a node in messages: `load in1`, `store out`, `add`, `i0`."""
    match node:
        case Range() | Argument():
            return node.name
        case Load() | Store() | Update() if node.sources and isinstance(node.sources[0], Argument):
            return f"{type(node).__name__.lower()} {node.sources[0].name}"
        case Alu() | Reduce():
            return node.op if isinstance(node, Alu) else f"reduce {node.op}"
        case _:
            return type(node).__name__.lower()


def _structure(node: ScalarNode) -> None:
    """Invariant 1."""
    kinds = _allowed_sources(node)
    counts = {Const: (0, 0), DefineVar: (0, 0), Argument: (0, 0), Range: (1, 1),
              Cast: (1, 1), Bitcast: (1, 1), Load: (2, 3), Reduce: (1, None),
              Store: (3, None), Update: (4, None)}  # fmt: skip
    least, most = counts.get(type(node), (0, None))
    if len(node.sources) < least or (most is not None and len(node.sources) > most):
        _broken(node, 1, "the number of operands is wrong", len(node.sources), least)
    for source, allowed in zip(node.sources, kinds, strict=True):
        if not isinstance(source, allowed):
            expected = " or ".join(k.__name__ for k in allowed)
            _broken(node, 1, "an operand stands in the wrong place", _describe(source), expected)


_Kinds: TypeAlias = tuple[type[ScalarNode], ...]
_VALUE: _Kinds = (Const, Range, Load, Alu, Cast, Bitcast, Reduce, DefineVar, Custom)
_ARGUMENT: _Kinds = (Argument,)
_RANGE: _Kinds = (Range,)


def _allowed_sources(node: ScalarNode) -> list[_Kinds]:
    """For each operand of `node` the kinds of node it may be."""
    count = len(node.sources)
    match node:
        case Body():
            return [(Store, Update, Custom)] * count
        case Range():
            return [(Const, DefineVar)] * count
        case Load():
            return [_ARGUMENT, *[_VALUE] * (count - 1)][:count]
        case Custom(result=None):
            return [_ARGUMENT] * count
        case Store():
            return [_ARGUMENT, _VALUE, _VALUE, *[_RANGE] * (count - 3)][:count]
        case Update():
            return [_ARGUMENT, _VALUE, _VALUE, _VALUE, *[_RANGE] * (count - 4)][:count]
        case Reduce():
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
            _broken(node, 2, "a bitcast changes the width", node.target, f"{was.bits} bits")
        case Load() | Store() | Update():
            if node.sources[1].dtype != int64:
                _broken(node, 3, "the index is not int64", node.sources[1].dtype, int64)
            gate = node.gate if isinstance(node, Load) else None
            gate = node.sources[3] if isinstance(node, Update) else gate
            if gate is not None and gate.dtype != bool_:
                _broken(node, 3, "the gate is not bool", gate.dtype, bool_)
            if not isinstance(node, Load) and node.sources[2].dtype != node.sources[0].dtype:
                types = node.sources[2].dtype, node.sources[0].dtype
                what = "a store writes another type than its argument's"
                _broken(node, 4, what, *types)


def _custom(node: Custom) -> None:
    """Invariant 10, but for where the node stands."""
    found = functions.find(node.name)
    if found is None:
        _broken(node, 10, "no such function", node.name, "one that is registered")
    is_inline = found.kind == "inline"
    if is_inline != (node.result is not None) or found.kind == "host":
        _broken(node, 10, "a function in the wrong place", found.kind, "a value if inline")
    declared = [operand.dtype for operand in found.operands]
    result = found.result.dtype
    expected = declared if is_inline else [result, *declared]
    got = [source.dtype for source in node.sources]
    if got != expected or node.result not in (None, result):
        _broken(node, 10, "the operands are others", " ".join(map(str, got)),
                " ".join(map(str, expected)))  # fmt: skip


def _statement(node: Custom, body: Body) -> None:
    """Invariant 10, where the node stands."""
    if node.result is not None or len(body.sources) > 1:
        _broken(node, 10, "a value stands alone, or a statement does not", node.name, "one each")
    written = [a.is_written for a in node.sources if isinstance(a, Argument)]
    if written != [True] + [False] * (len(written) - 1):
        _broken(node, 10, "not just the first argument is written", written, "the first")


def _alu(node: Alu) -> None:
    row = OPS[node.op]
    if len(node.sources) != row.arity:
        _broken(node, 2, "the number of operands is wrong", len(node.sources), row.arity)
    if row.expansion is not None:
        _broken(node, 2, "it is no machine operation", node.op, "one without an expansion")
    dtypes = [s.dtype for s in node.sources]
    if node.op == "where":
        condition, *dtypes = dtypes
        if condition != bool_:
            _broken(node, 2, "the condition is not bool", condition, bool_)
    if len(set(dtypes)) > 1:
        _broken(node, 2, "operands differ in type", " ".join(map(str, dtypes)), "one type")
    if dtypes[0].kind not in row.accepts:
        accepts = " ".join(sorted(row.accepts))
        _broken(node, 2, "the row does not accept the type", dtypes[0], accepts)


def _arguments(order: list[ScalarNode]) -> None:
    """Invariant 4."""
    slots: dict[int, Argument] = {}
    for node in order:
        if isinstance(node, Argument):
            if node.slot in slots:
                _broken(node, 4, "two arguments have one slot", node.slot, "a slot each")
            slots[node.slot] = node
            if node.is_written != (node.slot == 0):
                _broken(node, 4, "slot 0 alone is written", f"slot {node.slot}", "slot 0")
        elif isinstance(node, Load | Store | Update):
            argument = node.sources[0]
            assert isinstance(argument, Argument)
            if not argument.is_written and not isinstance(node, Load):
                _broken(node, 4, "the wrong access", _describe(node), "an argument only read")
    _reread(order)


def _reread(order: list[ScalarNode]) -> None:
    """Invariant 4, for loads from what is written: just where the one Store writes."""
    found = [n for n in order if isinstance(n, Load | Store | Update | Custom)]
    loads = [n for n in found if isinstance(n, Load) and n.sources[0] in _written_in(order)]
    if not loads:
        return
    writers = [n for n in found if not isinstance(n, Load) and isinstance(n.sources[0], Argument)]
    for load in loads:
        if len(writers) != 1 or writers[0].sources[1] is not load.sources[1]:
            expected = "an argument only written, or the element that its one store writes"
            _broken(load, 4, "the wrong access", _describe(load), expected)


def _written_in(order: list[ScalarNode]) -> set[ScalarNode]:
    return {n for n in order if isinstance(n, Argument) and n.is_written}


def _ranges(order: list[ScalarNode]) -> None:
    """Invariants 5 and 6."""
    numbers: dict[int, Range] = {}
    names: dict[str, DefineVar] = {}
    owner: dict[Range, ScalarNode] = {}
    for node in order:
        if isinstance(node, Range):
            bounds = node.sources[0].bounds
            if node.sources[0].dtype != int64 or bounds is None or bounds[0] < 0:
                _broken(node, 5, "the extent is wrong", bounds, "int64, 0 or more")
            if numbers.setdefault(node.number, node) is not node:
                _broken(node, 5, "two ranges have one number", node.number, "a number each")
        elif isinstance(node, DefineVar):
            if names.setdefault(node.name, node) is not node or node.low > node.high:
                bounds = node.low, node.high
                _broken(node, 5, f"variable {node.name} is not one", bounds, "one pair of bounds")
        elif isinstance(node, Reduce | Store | Update):
            _nest(node, owner)


_ROLES = {Store: "normal", Update: "serial", Reduce: "reduction"}


def _nest(node: Reduce | Store | Update, owner: dict[Range, ScalarNode]) -> None:
    """Invariant 6 for one nest; `owner` has the ranges of those before it."""
    role = _ROLES[type(node)]
    for each in node.ranges:
        if each.role != role:
            _broken(node, 6, f"{each.name} has the wrong role", each.role, role)
        if each in owner:
            _broken(node, 6, f"{each.name} belongs to two nests", _describe(owner[each]), "one")
        owner[each] = node
    if isinstance(node, Reduce):
        if not node.ranges:
            _broken(node, 6, "a reduction over no range", 0, "1 or more")
        if node.dtype.kind not in REDUCTIONS[node.op].accepts:
            accepts = " ".join(sorted(REDUCTIONS[node.op].accepts))
            _broken(node, 6, "the row does not accept the type", node.dtype, accepts)


def _scope(store: Store | Update, needs: dict[ScalarNode, frozenset[Range]]) -> None:
    """Invariant 7: what a store or update depends on are its own loops."""
    values = store.sources[1 : len(store.sources) - len(store.ranges)]
    free = frozenset[Range]().union(*(needs[value] for value in values))
    outside = sorted(r.name for r in free - set(store.ranges))
    if outside:
        names = ", ".join(r.name for r in store.ranges)
        what = f"{outside[0]} is used outside its loop"
        _broken(store, 7, what, ", ".join(outside), f"only {names or 'constants'}")


def _joins(update: Update, written: set[ScalarNode]) -> None:
    """Invariant 4, for what an update reads."""
    if update.op not in UPDATES:
        _broken(update, 4, "no such update", update.op, ", ".join(UPDATES))
    if update.sources[0] not in written:
        _broken(update, 4, "an update of what was not written", "no store before", "a store")


def _inside(node: Load | Store | Update, needs: dict[ScalarNode, frozenset[Range]]) -> None:
    """Invariant 8."""
    argument, where = node.sources[:2]
    assert isinstance(argument, Argument)
    if isinstance(node, Load) and node.gate is not None:
        return
    loops = needs[where] | set(() if isinstance(node, Load) else node.ranges)
    if any(r.extent == 0 for r in loops):
        return
    bounds = where.bounds
    if bounds is None or bounds[0] < 0 or bounds[1] >= argument.size:
        got = f"bounds {bounds[0]} … {bounds[1]}" if bounds else "an index without bounds"
        expected = f"inside 0 … {argument.size - 1}, or a gate"
        _broken(node, 8, "an access may be outside its buffer", got, expected)


def _covers(store: Store) -> None:
    """Invariant 9."""
    argument, total = store.sources[0], as_sum(store.sources[1])
    assert isinstance(argument, Argument)
    size = math.prod(r.extent for r in store.ranges)
    if store.is_part:
        _apart(store, total)
        return
    if size != argument.size:
        _broken(store, 9, "the loops do not run once per element", size, argument.size)
    if size == 0:
        return
    expected = 1
    strides = {r: total.terms.get(r, 0) for r in store.ranges if r.extent > 1}
    for each, stride in sorted(strides.items(), key=lambda item: item[1]):
        if stride != expected:
            _broken(store, 9, f"{each.name} has the wrong multiple", stride, expected)
        expected *= each.extent
    if total.constant or not set(total.terms) <= set(store.ranges):
        _broken(store, 9, "the index is not its ranges alone", total.node(), "a sum of ranges")


def _apart(store: Store, total: Sum) -> None:
    """Invariant 9, for a store to a part: no element twice."""
    if not set(total.terms) <= set(store.ranges):
        _broken(store, 9, "the index is not its ranges alone", total.node(), "a sum of ranges")
    reach = 0
    strides = {r: total.terms.get(r, 0) for r in store.ranges if r.extent > 1}
    for each, stride in sorted(strides.items(), key=lambda item: item[1]):
        if stride <= reach:
            what = f"{each.name} may write an element again"
            _broken(store, 9, what, f"multiple {stride}", f"more than {reach}")
        reach += stride * (each.extent - 1)

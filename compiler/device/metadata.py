"""Metadata of programs: derived from a body or instructions, checked, merged.

`outs` are the argument slots that are stored to and `ins` those that are loaded from: a slot may be
in both. A pointer is found through casts of any depth.

A launch axis may be claimed many times, by launch indices and by the variable `core_id`, but with
one extent. All claims are collected before they are compared, so their order is irrelevant.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from compiler.core.node import toposort
from compiler.device.launch_sizes import INT64_MAX, ProgramError, Size, printed, size_of
from compiler.llvm.thunk import CORE
from compiler.loops import nodes
from compiler.loops.by_hand import Special
from compiler.loops.nodes import ScalarNode
from compiler.lowered import by_hand, machine
from compiler.lowered import instructions as lowered
from compiler.lowered.instructions import Instruction
from compiler.ops.updates import UPDATES

KINDS = {"g": "group", "l": "local", "i": "direct"}
LAUNCHES = {"workgroup": "group", "local": "local", "global": "direct"}
AXES = 3

Claim: TypeAlias = tuple[str, int, ScalarNode, str]
"""Kind, axis and extent, and the name of the index or variable that claims it."""


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """An integer argument of each run: `low` and `high` are its bounds, both included."""

    name: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """Variables by name, argument slots ascending, and the launch size."""

    vars: tuple[Variable, ...] = ()
    globals: tuple[int, ...] = ()
    outs: tuple[int, ...] = ()
    ins: tuple[int, ...] = ()
    global_size: Size = field(default_factory=size_of)
    local_size: Size | None = field(default_factory=size_of)

    @property
    def var_names(self) -> tuple[str, ...]:
        """The order in which the program takes the values of its variables."""
        return tuple(v.name for v in self.vars)


@dataclass(frozen=True, slots=True)
class Given:
    """Metadata that a renderer states itself; fields that are None are derived.

    `is_direct` states that there is no local size.
    """

    vars: tuple[Variable, ...] | None = None
    globals: tuple[int, ...] | None = None
    outs: tuple[int, ...] | None = None
    ins: tuple[int, ...] | None = None
    global_size: Size | None = None
    local_size: Size | None = None
    is_direct: bool = False


def derive(roots: Iterable[ScalarNode]) -> Metadata:
    """The metadata of a kernel's loops. Raises `ProgramError` if its claims conflict."""
    variables: list[Variable] = []
    claims: list[Claim] = []
    slots: set[int] = set()
    outs: set[int] = set()
    ins: set[int] = set()
    for node in toposort(roots):
        match node:
            case nodes.DefineVar(name=name, low=low, high=high):
                variables.append(Variable(name, low, high))
            case nodes.Range(level="core", tasks=tasks):
                variables.append(Variable(CORE, 0, tasks - 1))
            case Special(name=name):
                claims.append(_claim(name, node.sources[0]))
            case nodes.Argument(slot=slot):
                slots.add(slot)
            case nodes.Store():
                outs |= _slot(node.sources[0])
            case nodes.Custom(result=None):
                outs |= _slot(node.sources[0])
                ins = ins.union(*map(_slot, node.sources[1:]))
            case nodes.Update(op=op):
                outs |= _slot(node.sources[0])
                ins |= _slot(node.sources[0]) if UPDATES[op].combine else set()
            case nodes.Load():
                ins |= _slot(node.sources[0])
            case _:
                pass
    return metadata_of(variables, slots, outs, ins, claims)


def _slot(pointer: ScalarNode) -> set[int]:
    """The slot that a pointer leads to, through any casts; none for scratch memory."""
    while isinstance(pointer, nodes.Cast | nodes.Bitcast | nodes.After):
        pointer = pointer.sources[0]
    return {pointer.slot} if isinstance(pointer, nodes.Argument) else set()


def derive_instructions(instructions: Sequence[Instruction]) -> Metadata:
    """The metadata of lowered instructions. Raises `ProgramError` as `derive` does."""
    variables: list[Variable] = []
    claims: list[Claim] = []
    pointers: dict[int, frozenset[int]] = {}
    written: set[int] = set()
    outs: set[int] = set()
    ins: set[int] = set()
    for each in instructions:
        match each:
            case lowered.DefineGlobal(out=out, slot=slot):
                pointers[out] = frozenset((slot,))
                written |= {slot} if each.is_written else set()
            case lowered.Cast(out=out, source=source) | lowered.Bitcast(out=out, source=source):
                pointers[out] = pointers.get(source, frozenset())
            case machine.PtrCat(out=out, pointers=parts):
                pointers[out] = frozenset().union(*(pointers.get(p, ()) for p in parts))
            case lowered.Load(buffer=buffer):
                ins |= pointers.get(buffer, frozenset())
            case machine.Custom(arguments=arguments):
                used = frozenset().union(*(pointers.get(a, ()) for a in arguments))
                outs |= used & written
                ins |= used - written
            case lowered.Store(buffer=buffer):
                outs |= pointers.get(buffer, frozenset())
            case machine.DefineVar(name=name, minimum=low, maximum=high):
                variables.append(Variable(name, low, high))
            case by_hand.Special(kind=kind, axis=axis, size=size, name=name):
                claims.append(_on_axis(LAUNCHES[kind], axis, nodes.index(size), name))
            case _:
                pass
    slots = {i.slot for i in instructions if isinstance(i, lowered.DefineGlobal)}
    return metadata_of(variables, slots, outs, ins, claims)


def _claim(name: str, extent: ScalarNode) -> Claim:
    """The claim of a launch index: its first letter is the kind, its last digits the axis."""
    match = re.fullmatch(r"([gli])\w*?(\d+)", name)
    if match is None:
        _refuse("a launch index has an unknown name", name, "gidx0, lidx0 or idx0, axes 0 to 2")
    return _on_axis(KINDS[match[1]], int(match[2]), extent, name)


def _on_axis(kind: str, axis: int, extent: ScalarNode, name: str) -> Claim:
    if not 0 <= axis < AXES:
        _refuse(f"launch index {name} is on an axis that does not exist", str(axis), "0, 1 or 2")
    return kind, axis, extent, name


def metadata_of(
    variables: Iterable[Variable],
    slots: Iterable[int],
    outs: Iterable[int],
    ins: Iterable[int],
    claims: Iterable[Claim] = (),
) -> Metadata:
    """The metadata of these variables, argument slots and launch indices.

    Raises `ProgramError` if the claims conflict.
    """
    unique = unique_variables(variables)
    cores = [_core_claim(v) for v in unique if v.name == CORE]
    global_size, local_size = _launch([*claims, *cores])
    stored, loaded = tuple(sorted(outs)), tuple(sorted(ins))
    return Metadata(unique, tuple(sorted(slots)), stored, loaded, global_size, local_size)


def unique_variables(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """Variables by name, each once. Raises `ProgramError` if a name has two pairs of bounds."""
    by_name: dict[str, Variable] = {}
    for each in sorted(variables):
        first = by_name.setdefault(each.name, each)
        if first != each:
            pairs = f"{first.low} … {first.high} and {each.low} … {each.high}"
            _refuse(f"variable {each.name} has two pairs of bounds", pairs, "one")
    return tuple(by_name[name] for name in sorted(by_name))


def _core_claim(variable: Variable) -> Claim:
    """`core_id` numbers the cores along axis 0."""
    if variable.low != 0:
        _refuse(f"{CORE} does not start at 0", str(variable.low), "0")
    if not 0 <= variable.high < INT64_MAX:
        _refuse(f"{CORE} has no usable maximum", str(variable.high), f"0 … {INT64_MAX - 1}")
    return "core", 0, nodes.index(variable.high + 1), CORE


def _launch(claims: list[Claim]) -> tuple[Size, Size | None]:
    """The sizes of all claims together."""
    names = {kind: name for kind, _, _, name in claims}
    if "direct" in names and "local" in names:
        pair = " and ".join(sorted((names["direct"], names["local"])))
        _refuse("direct and local launch indices in one program", pair, "one of the two kinds")
    whole = _extents([c for c in claims if c[0] != "local"])
    local = _extents([c for c in claims if c[0] == "local"])
    return whole, None if "direct" in names else local


def _extents(claims: list[Claim]) -> Size:
    size = list(size_of())
    held: dict[int, Claim] = {}
    for claim in sorted(claims, key=lambda c: (c[1], c[3])):
        _, axis, extent, name = claim
        _, _, first, first_name = held.setdefault(axis, claim)
        if not same(first, extent):
            got = f"{printed(first)} by {first_name}, {printed(extent)} by {name}"
            _refuse(f"launch axis {axis} is claimed with two extents", got, "one extent")
        size[axis] = extent
    return size[0], size[1], size[2]


def same(a: ScalarNode, b: ScalarNode) -> bool:
    """True if two expressions have the same structure, ignoring their source lines."""
    if isinstance(a, nodes.Const) and isinstance(b, nodes.Const):
        return a.value == b.value
    return a is b or _structure(a) == _structure(b)


def _structure(root: ScalarNode) -> list[tuple[object, ...]]:
    numbers: dict[ScalarNode, int] = {}
    rows: list[tuple[object, ...]] = []
    row_numbers: dict[tuple[object, ...], int] = {}
    for node in toposort([root]):
        sources = tuple(numbers[s] for s in node.sources)
        row = (type(node), tuple(node.arguments.values()), sources)
        if row not in row_numbers:
            row_numbers[row] = len(rows)
            rows.append(row)
        numbers[node] = row_numbers[row]
    return rows


def merge(derived: Metadata, given: Given) -> Metadata:
    """The given metadata, completed by the derived.

    The given may add to the derived (an argument that the body never accesses, a variable that
    only a launch size reads, a size if the body claims none); omissions and contradictions are
    conflicts. Raises `ProgramError` with both sides.
    """
    direct = derived.local_size is None
    if given.is_direct and given.local_size is not None:
        _refuse("a local size is given, and that there is none", _text(given.local_size), "either")
    local = None if given.is_direct else _size("local size", derived.local_size, given.local_size)
    if given.is_direct and not direct and not _is_one(derived.local_size):
        _conflict("local size", "none", _text(derived.local_size))
    merged = Metadata(
        _variables(derived.vars, given.vars),
        _slots("globals", derived.globals, given.globals),
        _slots("outs", derived.outs, given.outs),
        _slots("ins", derived.ins, given.ins),
        _size("global size", derived.global_size, given.global_size) or derived.global_size,
        local,
    )
    unknown = sorted({*merged.outs, *merged.ins} - set(merged.globals))
    if unknown:
        _refuse("slots are read or written but no arguments", str(unknown), str(merged.globals))
    return merged


def _variables(
    derived: tuple[Variable, ...], given: tuple[Variable, ...] | None
) -> tuple[Variable, ...]:
    if given is None:
        return derived
    if not set(derived) <= set(given):
        _conflict("variables", str(given), str(derived))
    for each in given:
        if each.name == CORE:
            _core_claim(each)
    return unique_variables(given)


def _slots(what: str, derived: tuple[int, ...], given: tuple[int, ...] | None) -> tuple[int, ...]:
    if given is None:
        return derived
    if not set(derived) <= set(given):
        _conflict(what, str(given), str(derived))
    return tuple(sorted(set(given)))


def _size(what: str, derived: Size | None, given: Size | None) -> Size | None:
    if given is None:
        return derived
    if derived is None:
        _conflict(what, _text(given), "none")
    for mine, theirs in zip(derived, given, strict=True):
        if not _is_const_one(mine) and not same(mine, theirs):
            _conflict(what, _text(given), _text(derived))
    return given


def _is_one(size: Size | None) -> bool:
    return size is not None and all(_is_const_one(each) for each in size)


def _is_const_one(node: ScalarNode) -> bool:
    return isinstance(node, nodes.Const) and node.value == 1


def _text(size: Size | None) -> str:
    return "none" if size is None else f"({', '.join(printed(each) for each in size)})"


def _conflict(what: str, given: str, derived: str) -> NoReturn:
    _refuse(f"the {what} given and those of the body conflict", given, f"{derived} among them")


def _refuse(what: str, got: str, expected: str) -> NoReturn:
    raise ProgramError("program", what, got=got, expected=expected)

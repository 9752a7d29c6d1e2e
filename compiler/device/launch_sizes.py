"""Launch sizes: small integer expressions, evaluated when a program is run.

    size = Const | DefineVar | Bind(DefineVar, size)
         | add | sub | mul | idiv | mod | max of two sizes | neg | abs of one
         | Cast(size) | Bitcast(size) | After(size, …)      which change nothing

Arithmetic uses 64-bit integers, and every invalid case is an error: overflow, division by zero,
MIN / -1, a float, a value below 1. Division truncates.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from compiler.core.errors import CompileError
from compiler.core.node import toposort
from compiler.loops.by_hand import Bind
from compiler.loops.nodes import After, Alu, Bitcast, Cast, Const, DefineVar, ScalarNode, index
from compiler.ops.table import OPS

Size: TypeAlias = tuple[ScalarNode, ScalarNode, ScalarNode]
Values: TypeAlias = Mapping[str, int]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
LONGEST = 400
"""Characters of an expression that an error prints."""


class ProgramError(CompileError, ValueError):
    """The error of a program with inconsistent metadata, or of an invalid launch size."""


@dataclass(frozen=True, slots=True)
class LaunchDims:
    """The launch size of a program: `global_size` groups of `local_size` members, along 3 axes.

    Without a `local_size` there are no groups and `global_size` counts the members.
    """

    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int] | None


def size_of(x: int = 1, y: int = 1, z: int = 1) -> Size:
    """The launch size of three known numbers."""
    return index(x), index(y), index(z)


def resolve_launch_dims(
    global_size: Size, local_size: Size | None, values: Values | None = None
) -> LaunchDims:
    """The launch size with `values` for its variables.

    Raises `ProgramError`, which prints the expression, unless each size has a value above 0.
    """
    value_of = values or {}
    local = None if local_size is None else _sizes("local", local_size, value_of)
    return LaunchDims(_sizes("global", global_size, value_of), local)


def _sizes(kind: str, size: Size, values: Values) -> tuple[int, int, int]:
    x, y, z = (_positive(f"{kind} size {a}", each, values) for a, each in enumerate(size))
    return x, y, z


def _positive(what: str, size: ScalarNode, values: Values) -> int:
    value = evaluate(size, values)
    if value <= 0:
        _refuse(f"{what} is not above 0", size, str(value), "1 or more")
    return value


def evaluate(size: ScalarNode, values: Values) -> int:
    """The value of one launch-size expression. Raises `ProgramError` as described above."""
    done: dict[ScalarNode, int] = {}
    stack = [size]
    while stack:
        node = stack[-1]
        missing = [s for s in _operands(node, size) if s not in done]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        if node not in done:
            done[node] = _value(node, size, done, values)
    return done[size]


def _operands(node: ScalarNode, size: ScalarNode) -> tuple[ScalarNode, ...]:
    """The operands to evaluate before `node`: not the variable that a Bind binds."""
    match node:
        case Const() | DefineVar():
            return ()
        case Bind():
            return node.sources[1:2]
        case Cast() | Bitcast() | After():
            return node.sources[:1]
        case Alu(op=op) if OPS[op].is_size:
            return node.sources
        case Alu(op=op):
            _refuse(f"operation {op} is not allowed in a launch size", size)
        case _:
            _refuse(f"{type(node).__name__} is not allowed in a launch size", size)


def _value(node: ScalarNode, size: ScalarNode, done: dict[ScalarNode, int], values: Values) -> int:
    match node:
        case Const():
            return _constant(node, size)
        case DefineVar():
            return _variable(node, size, values)
        case Bind():
            return _bound(node, size, done[node.sources[1]])
        case Alu():
            return _arithmetic(node, size, [done[s] for s in node.sources])
        case _:
            return done[node.sources[0]]


def _constant(node: Const, size: ScalarNode) -> int:
    if node.dtype.is_float:
        _refuse("a launch size is a whole number, not a float", size, f"constant {node.value}")
    value = int(node.value)
    if value > INT64_MAX:
        _refuse("a constant does not fit 64-bit integers", size, str(value), f"≤ {INT64_MAX}")
    return value


def _variable(node: DefineVar, size: ScalarNode, values: Values) -> int:
    if node.name not in values:
        _refuse(f"no value for variable {node.name}", size, _names(values), node.name)
    try:
        value = operator.index(values[node.name])
    except TypeError:
        got = repr(values[node.name])
        _refuse(f"variable {node.name} is no whole number", size, got, "an int")
    return _inside(node, size, value)


def _bound(node: Bind, size: ScalarNode, value: int) -> int:
    variable = node.sources[0]
    if not isinstance(variable, DefineVar):
        _refuse("only a variable can be bound", size, type(variable).__name__, "DefineVar")
    return _inside(variable, size, value)


def _inside(node: DefineVar, size: ScalarNode, value: int) -> int:
    if not node.low <= value <= node.high:
        expected = f"{node.low} … {node.high}"
        _refuse(f"variable {node.name} is outside its bounds", size, str(value), expected)
    return value


def _arithmetic(node: Alu, size: ScalarNode, operands: list[int]) -> int:
    got = f"{node.op}({', '.join(map(str, operands))})"
    try:
        value = _whole(node.op, operands)
    except ZeroDivisionError:
        _refuse("division by zero in a launch size", size, got)
    except OverflowError:
        _refuse("a launch size overflows 64-bit integers", size, got)
    if not INT64_MIN <= value <= INT64_MAX:
        _refuse("a launch size overflows 64-bit integers", size, got)
    return value


def _whole(op: str, operands: list[int]) -> int:
    whole = OPS[op].whole
    assert whole is not None, op
    if op == "mod" and operands == [INT64_MIN, -1]:
        raise OverflowError  # the quotient does
    return whole(*operands)


def _names(values: Values) -> str:
    return ", ".join(sorted(values)) or "no values"


def _refuse(what: str, size: ScalarNode, got: str = "", expected: str = "") -> NoReturn:
    raise ProgramError("launch size", f"{what}, in {printed(size)}", got=got, expected=expected)


def printed(size: ScalarNode) -> str:
    """The expression as text, cut at `LONGEST` characters."""
    done: dict[ScalarNode, str] = {}
    for node in toposort([size]):
        text = _text(node, [done[s] for s in node.sources])
        done[node] = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return done[size]


def _text(node: ScalarNode, parts: list[str]) -> str:
    match node:
        case Const():
            return str(node.value)
        case DefineVar():
            return node.name
        case Bind():
            return f"bind({' = '.join(parts)})"
        case Alu(op=op) if OPS[op].is_size and OPS[op].infix:
            sides = [f"({p})" if " " in p else p for p in parts]
            return f" {OPS[op].infix.strip()} ".join(sides)
        case Alu(op=op):
            return f"{op}({', '.join(parts)})"
        case Cast() | Bitcast():
            return f"{type(node).__name__.lower()}({parts[0]}, {node.target.short})"
        case _:
            return f"{type(node).__name__.lower()}({', '.join(parts)})"

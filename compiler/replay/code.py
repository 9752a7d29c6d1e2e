"""The names of state that a function reads, from its bytecode.

    x * settings.scale      the global `settings`, then the attribute `scale`
    getattr(o, "scale")     the attribute `scale`
    getattr(o, name)        any attribute
"""

import dis
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, TypeAlias

Chain: TypeAlias = tuple[str, ...]
"""A global or free name, followed by the attributes that are read from it directly."""

_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_FREE = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_ATTRIBUTE = frozenset({
    "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM", "LOAD_SUPER_ATTR",
})  # fmt: skip
_READ = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_OPERANDS = frozenset({
    "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_CONST", "PUSH_NULL", "PRECALL", *_GLOBAL, *_FREE,
    *_READ,
})  # fmt: skip
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr"})
_ALL = frozenset({
    "vars", "dir", "asdict", "astuple", "_asdict", "__dict__", "__getstate__", "__reduce__",
    "__reduce_ex__", "getmembers",
})  # fmt: skip
"""Names of functions that read attributes whose names are not in the code."""
_TEXT = frozenset({"str", "repr", "format", "ascii", "array2string", "array_str", "array_repr"})
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Reads:
    """The names that code reads, including nested code."""

    chains: tuple[Chain, ...]
    """Chains that start at a global or builtin."""
    free: tuple[Chain, ...]
    """Chains that start at a variable of an enclosing function."""
    names: frozenset[str]
    """Attributes, and words of string constants, which may be attribute names."""
    imports: frozenset[str]
    """Modules that it imports."""
    is_dynamic: bool
    """True if it reads attributes by computed names."""
    writes_text: bool
    """True if it converts values, which may be arrays, to text."""


@lru_cache(4096)
def reads(code: CodeType) -> Reads:
    """The names that `code` reads."""
    chains: set[Chain] = set()
    free: set[Chain] = set()
    names: set[str] = set()
    imports: set[str] = set()
    is_dynamic = writes_text = False
    for each in _with_inner(code):
        steps = list(dis.get_instructions(each))
        for at, step in enumerate(steps):
            if step.opname in _GLOBAL:
                chains.add(_chain(steps, at))
                is_dynamic |= step.argval in _BY_NAME and not _has_constant_name(steps, at)
            elif step.opname in _FREE:
                free.add(_chain(steps, at))
            elif step.opname in _ATTRIBUTE:
                names.add(_attribute(step))
            elif step.opname == "IMPORT_NAME":
                imports.add(step.argval)
            elif step.opname.startswith("FORMAT_"):
                writes_text = True
        for constant in each.co_consts:
            names.update(_words(constant))
        is_dynamic |= not _ALL.isdisjoint(each.co_names)
        writes_text |= not _TEXT.isdisjoint(each.co_names)
    order = tuple(sorted(chains)), tuple(sorted(free))
    return Reads(*order, frozenset(names), frozenset(imports), is_dynamic, writes_text)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _with_inner(each)


def _attribute(step: dis.Instruction) -> str:
    return step.argval if isinstance(step.argval, str) else step.argval[0]


def _chain(steps: Sequence[dis.Instruction], at: int) -> Chain:
    chain = [steps[at].argval]
    for step in steps[at + 1 :]:
        if step.opname not in _READ:
            break
        chain.append(_attribute(step))
    return tuple(chain)


def _has_constant_name(steps: Sequence[dis.Instruction], at: int) -> bool:
    """True if the `getattr` call that begins at `at` has a string constant as its name: its words
    are among the names."""
    is_constant = False
    for step in steps[at + 1 :]:
        if step.opname.startswith("CALL"):
            return is_constant
        if step.opname not in _OPERANDS:
            return False
        is_constant |= step.opname == "LOAD_CONST" and isinstance(step.argval, str)
    return False


def _words(constant: Any) -> Iterator[str]:
    if isinstance(constant, str):
        yield from _WORD.findall(constant)
    elif isinstance(constant, tuple | frozenset):
        for each in constant:
            yield from _words(each)

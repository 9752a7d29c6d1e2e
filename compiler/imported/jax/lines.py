"""The user's lines of an equation, and the scopes in which JAX says that it stands.

Both stand in what JAX keeps for its own errors, which may change from version to version: where it
is not what is known here, there are none, and nodes come from the line that calls the program.
"""

import functools
from types import CodeType
from typing import Any

from compiler.core.frames import Whose, function_name, whose
from compiler.core.modules import Line

MOST_LINES = 64


def lines_of(equation: Any) -> tuple[Line, ...]:
    """The user's lines that were running when the equation was traced, from the outermost."""
    try:
        codes, places = equation.source_info.traceback.raw_frames()
        return _lines(tuple(codes), tuple(places))
    except (AttributeError, TypeError, ValueError):
        return ()


@functools.lru_cache(maxsize=4096)
def _lines(codes: tuple[CodeType, ...], places: tuple[int, ...]) -> tuple[Line, ...]:
    found: list[Line] = []
    for code, place in zip(codes, places, strict=True):  # from the innermost
        match whose(code):
            case Whose.USERS:
                found.append(Line(code.co_filename, _line_at(code, place), function_name(code)))
                if code.co_name == "<module>" or len(found) == MOST_LINES:
                    break
            case Whose.OURS:  # the call of `from_jax`: what stands around it made nothing
                break
            case Whose.HOST if found:
                break
    return tuple(reversed(found))


def _line_at(code: CodeType, place: int) -> int:
    """The line of an instruction."""
    lines = (line for begin, end, line in code.co_lines() if line and begin <= place < end)
    return next(lines, code.co_firstlineno)


def scopes_of(equation: Any) -> tuple[str, ...]:
    """Names from the outermost, as JAX writes them: ("transpose(jvp(layer))", "relu")."""
    try:
        return _names(str(equation.source_info.name_stack))
    except (AttributeError, TypeError):
        return ()


@functools.lru_cache(maxsize=4096)
def _names(written: str) -> tuple[str, ...]:
    """A path cut at slashes that stand in no parentheses."""
    names, depth = [""], 0
    for letter in written:
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and not depth:
            names.append("")
        else:
            names[-1] += letter
    return tuple(name for name in names if name)

"""Source lines and scopes of an equation.

Both come from JAX's internal data for error messages, which may change between versions. If they
have another form, there are none, and nodes are attributed to the line that calls the program.
"""

import functools
from types import CodeType

from compiler.core.frames import Whose, function_name, whose
from compiler.core.modules import Line
from compiler.imported.jax.jaxprs import Equation

MOST_LINES = 64


def lines_of(equation: Equation) -> tuple[Line, ...]:
    """The user's lines that were running when the equation was traced, outermost first."""
    try:
        codes, places = equation.source_info.traceback.raw_frames()
        return _lines(tuple(codes), tuple(places))
    except (AttributeError, TypeError, ValueError):
        return ()


@functools.lru_cache(maxsize=4096)
def _lines(codes: tuple[CodeType, ...], places: tuple[int, ...]) -> tuple[Line, ...]:
    lines: list[Line] = []
    for code, place in zip(codes, places, strict=True):  # from the innermost
        match whose(code):
            case Whose.USERS:
                lines.append(Line(code.co_filename, _line_at(code, place), function_name(code)))
                if code.co_name == "<module>" or len(lines) == MOST_LINES:
                    break
            case Whose.OURS:  # the call of `from_jax`: what stands around it made nothing
                break
            case Whose.HOST if lines:
                break
    return tuple(reversed(lines))


def _line_at(code: CodeType, place: int) -> int:
    """The line of an instruction."""
    lines = (line for begin, end, line in code.co_lines() if line and begin <= place < end)
    return next(lines, code.co_firstlineno)


def scopes_of(equation: Equation) -> tuple[str, ...]:
    """Scope names, outermost first, as JAX writes them: ("transpose(jvp(layer))", "relu")."""
    try:
        return _names(str(equation.source_info.name_stack))
    except (AttributeError, TypeError):
        return ()


@functools.lru_cache(maxsize=4096)
def _names(written: str) -> tuple[str, ...]:
    """A path split at slashes outside of parentheses."""
    names, depth = [""], 0
    for letter in written:
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and not depth:
            names.append("")
        else:
            names[-1] += letter
    return tuple(name for name in names if name)

"""dropped: choices of the compiler's own that do not apply are left out; the kernel is made so.

    vectorize i1.1   ✗ dropped: vectorize i1.1: i1.1 cannot be lanes: idiv of int64 has no good …

Choices are a heuristic, which may be slow and never fatal. So what a pass refuses, what leaves a
broken invariant behind, and what cannot be lowered or written as LLVM IR is left out with its
reason, and the kernel is compiled again without: first the refused row and those about parts of the
axis that it would have cut, then, where a few rows less do not help, all of them. That is for what
`choose` made and what a search found; what a user wrote by name is the user's error.

In tests such a drop is an error: where the environment has `SVODVIZ_DROPPED=error`.
"""

import os
import threading
from collections.abc import Iterator
from dataclasses import fields

from compiler.core.errors import CompileError, InternalError, PassError, ScheduleError
from compiler.core.reason import Reason
from compiler.loops.choices import Choice, Choices, Refused, Reorder, Tile, chosen, show, text, word
from compiler.settings.options import Measured, Options

SWITCH = "SVODVIZ_DROPPED"
ROUNDS = 4
"""Rows refused one after the other, after which the loops stay plain: a bound on compiling again,
not measured."""


class Count:
    """The number of choices left out since the caches were cleared."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.rows = 0

    def add(self, rows: int) -> None:
        """So many more were left out."""
        with self._lock:
            self.rows += rows

    def clear(self) -> None:
        """Begin to count again."""
        with self._lock:
            self.rows = 0


DROPPED = Count()


def again(choices: Choices, error: Exception, options: Options, attempt: int) -> Choices:
    """The choices to make a kernel with after attempt number `attempt` at it raised `error`.

    Raises the error where it is the user's, or in tests; nothing is left out of no choices.
    """
    if not choices or isinstance(error, PassError) or _is_out_of_memory(error):
        raise error
    if not is_own(options):
        raise _explained(choices, error) from error
    if os.environ.get(SWITCH) == "error":
        raise error
    left = _less(choices, error) if attempt < ROUNDS else None
    fewer = _plain(choices, error) if left is None else left
    DROPPED.add(len(choices) - len(fewer))
    return fewer


def unchosen(error: Exception) -> Choices:
    """No choices, as those that were to be made could not be; raises the error in tests."""
    if _is_out_of_memory(error) or os.environ.get(SWITCH) == "error":
        raise error
    DROPPED.add(1)
    return chosen([Refused("vectorize", Reason(f"dropped: nothing was chosen: {_problem(error)}"))])


def is_own(options: Options) -> bool:
    """True if the compiler made the choices itself: by default, or by measuring."""
    return options.loops == "auto" or isinstance(options.loops, Measured)


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) and not isinstance(error, CompileError)


def _explained(choices: Choices, error: Exception) -> Exception:
    """The error of a user whose choices, each legal, break an invariant together."""
    if not isinstance(error, InternalError):
        return error
    why = f"these do not go together: {error.problem} ({error.got})"
    hint = "leave one out at a time to see which"
    return ScheduleError("choices", why, got=text(choices), hint=hint)


def _less(choices: Choices, error: Exception) -> Choices | None:
    """The choices without the row that a pass refused; None where it is not known which it was."""
    if not isinstance(error, CompileError):
        return None
    refused = next((row for row in choices if _is_of(error, row)), None)
    if refused is None:
        return None
    gone = [_gone(refused, error.problem)]
    left: list[Choice] = []
    for row in choices:
        if _rests_on(row, refused):
            gone.append(_gone(row, f"it rests on {show(refused)}"))
        elif row is not refused:
            left.append(row)
    return chosen([*left, *choices.refused, *gone])


def _plain(choices: Choices, error: Exception) -> Choices:
    """No choices."""
    why = f"the loops stay plain: {_problem(error)}"
    return chosen([*choices.refused, *(_gone(row, why) for row in choices)])


def _gone(row: Choice, why: str) -> Refused:
    return Refused(word(row), Reason(f"dropped: {show(row)}: {why}"))


def _is_of(error: CompileError, row: Choice) -> bool:
    """True if it is `row` that a pass refused."""
    return error.operation == word(row) and error.got == show(row)


def _rests_on(row: Choice, refused: Choice) -> bool:
    """True if a choice names a part of the axis that `refused` would have cut."""
    parts = f"{refused.axis}." if isinstance(refused, Tile) else None
    return parts is not None and any(name.startswith(parts) for name in _named(row))


def _named(row: Choice) -> Iterator[str]:
    """The axes that a choice names."""
    if isinstance(row, Reorder):
        yield from row.axes
        return
    for field in fields(row):
        value = getattr(row, field.name)
        if isinstance(value, str) and field.name != "because":
            yield value


def _problem(error: Exception) -> str:
    """The problem in one line."""
    if isinstance(error, CompileError):
        return f"{error.operation}: {error.problem}"
    return f"{type(error).__name__}: {error}"

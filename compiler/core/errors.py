"""Errors. A message has the operation, the problem, got / expected, the calls that led to the
user's line, that line, and a hint.

    CompileError              every error this package raises on purpose
      ShapeError  DTypeError  AxisError  SizeError  DataError     the user's input
      DeviceError                                                 the user's placement
      GradientError                                               the user's derivatives
      JitError                                                    a function given to jit
      GraphError                                                  a tensor graph made by hand
      ScheduleError                                               a kernel graph made by hand
      PassError                                                   passes in an order of one's own
      NameMistake                                                 a name that does not exist
      InternalError                                               ours: a broken invariant

For an error of the user's, a notebook shows this message and the user's own lines; an internal
error has its traceback.
"""

import functools
from collections.abc import Callable
from itertools import groupby
from typing import ParamSpec, TypeVar

from compiler.core.origin import Origin, caller, current, public_name, users_lines
from compiler.core.printable import printable, printout

P = ParamSpec("P")
R = TypeVar("R")


class CompileError(Exception):
    """Base of all errors; `str` is the whole message, the fields are its parts."""

    def __init__(
        self,
        operation: str,
        problem: str,
        *,
        got: str = "",
        expected: str = "",
        hint: str = "",
        origin: Origin | None = None,
    ) -> None:
        self.operation = operation
        self.problem = problem
        self.got = got
        self.expected = expected
        self.hint = hint
        self.origin = origin or current()
        super().__init__(self._message())

    def locate(self, origin: Origin) -> None:
        """Say where it happened, unless that is known."""
        if self.origin is None:
            self.origin = origin
            self.args = (self._message(),)

    def _message(self) -> str:
        """The message: one line, then the parts that are known, indented."""
        parts = [f"{self.operation}: {self.problem}"]
        where = self.origin.address if self.origin else ""
        text = self.origin.text if self.origin else ""
        rows = (
            ("got", self.got),
            ("expected", self.expected),
            ("calls", _calls(self.origin)),
            ("line", f"{where}  {text}".rstrip()),
            ("hint", self.hint),
        )
        parts += [f"  {name + ':':<10}{value}" for name, value in rows if value]
        return printout(line for part in parts for line in part.split("\n"))


def _calls(origin: Origin | None) -> str:
    """The lines that led to one, the innermost last, as Python tells them: a recursion once."""
    if origin is None:
        return ""
    calls = (printable(f"{it.address}  {it.text}".rstrip()) for it in origin.callers)
    rows = []
    for row, same in groupby(calls):
        count = len(list(same))
        rows.append(f"{row}  (× {count})" if count > 1 else row)
    return f"\n{' ' * 12}".join(rows)


class Mistake(CompileError):
    """An error that the user can mend, so the user's lines say more than ours."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows instead of a traceback; `%debug` still has all of it."""
        calls = {it.address: it.text for it in reversed(users_lines(self.__traceback__))}
        for it in (self.origin, *self.origin.callers) if self.origin else ():
            calls.pop(it.address, None)  # the message has it
        rows = printout(f"  called at {place}  {text}" for place, text in calls.items())
        return [f"{type(self).__name__}: {self}", rows][: 1 + bool(calls)]


class ShapeError(Mistake, ValueError):
    """Shapes do not fit together."""


class DTypeError(Mistake, TypeError):
    """An operation is not defined for these element types."""


class AxisError(Mistake, IndexError):
    """An axis or an index is out of range."""


class SizeError(Mistake, MemoryError):
    """A tensor is larger than can be addressed or allocated."""


class DataError(Mistake, TypeError):
    """Data that cannot become a tensor."""


class DeviceError(Mistake, ValueError):
    """A device that does not exist or cannot do this, or values on devices that do not fit."""


class GradientError(Mistake, ValueError):
    """A gradient that does not exist, or of what has none."""


class JitError(Mistake, RuntimeError):
    """A function that cannot be captured, or is called otherwise than it was."""


class GraphError(Mistake, ValueError):
    """A node of a tensor graph made by hand whose operands or arguments do not fit together."""


class ScheduleError(Mistake, ValueError):
    """A kernel graph that cannot be scheduled or run: the message names the node and the reason."""


class PassError(Mistake, ValueError):
    """Passes, or rules, of a user's that cannot run: the message names the pass and the reason."""


class NameMistake(Mistake, AttributeError):
    """An attribute that does not exist; the hint says which one was meant, if that is known."""


def renamed(name: str, today: str) -> str:
    """The hint for an argument, attribute, pass or choice under an earlier name."""
    return f"{name} was renamed: write {today}"


class Renamed:
    """An attribute's earlier name, as a class attribute; `NameMistake` if read or assigned."""

    def __init__(self, today: str) -> None:
        self.today = today

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owned: object, owner: type) -> "Renamed":
        if owned is not None:
            raise self._mistake(owner)
        return self

    def __set__(self, owned: object, value: object) -> None:
        raise self._mistake(type(owned))

    def _mistake(self, owner: type) -> NameMistake:
        return NameMistake(
            owner.__name__, f"there is no attribute {self.name}", got=self.name,
            hint=renamed(self.name, self.today), origin=caller(self.name),
        )  # fmt: skip


class InternalError(CompileError):
    """A broken invariant of the compiler; the message names the stage and the invariant."""


def located(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function that makes no nodes: its errors name the line of its caller."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except CompileError as error:
            error.locate(caller(public_name(function.__name__)))
            raise

    return wrapper

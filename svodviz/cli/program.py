"""Runs a user's program and finds the compilations to explore in it.

The convention: what the program passes to `svodviz.explore(...)`, in order; where it calls that
never, its last module-level Tensor or Compilation (in the order in which the names were first
bound).
"""

import contextlib
import os
import runpy
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from svodviz.foundation.subject import compilation_of, is_explorable
from svodviz.widget.explorer import Explorer, Shown, listen
from svodviz.wire.checks import Checks, check_all

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

_OWN = tuple(str(Path(__file__).parents[2] / name) + os.sep for name in ("svodviz", "compiler"))


class ProgramError(Exception):
    """The user's program raised; the message is the traceback of its own frames."""


class NothingFound(Exception):
    """The program ran, but left nothing to explore."""


@dataclass(frozen=True)
class Found:
    """A compilation to explore, and the explorer that the program opened for it, if any.

    If it shows two side by side, the compilation is the second.
    """

    compilation: "Compilation"
    shown: Shown | None = None

    def check(self) -> Checks:
        """Its checks, made now unless the program asked for them; ValueError for two at once."""
        match self.shown:
            case Explorer(checks=Checks() as checks):
                return checks
            case Explorer() | None:
                return check_all(self.compilation)
            case _:
                raise ValueError("check: two programs side by side have no marks; explore one")

    def page(
        self, *, machine_code: bool = False, measure: bool = False, checks: Checks | None = None
    ) -> str:
        """Its page; with `machine_code` it has all answers of LLVM.

        With `measure` the program is run for it, and every item timed.
        """
        shown = self.shown
        if shown is None:
            shown = Explorer(self.compilation, checks)
        elif checks is not None and isinstance(shown, Explorer) and shown.checks is not checks:
            before, shown = shown, Explorer(self.compilation, checks, **shown.state)
            shown.recorded = before.recorded
        if isinstance(shown, Explorer):
            if measure:
                shown.record_run()
            if measure and machine_code:
                shown.record_hot()
            return shown.export_html(machine_code=machine_code, maker="command line")
        return shown.export_html(maker="command line")


def run(path: str, arguments: list[str]) -> list[Found]:
    """Everything to explore in the program at `path`, run with `arguments` as a script is.

    What the program prints goes to standard error: standard output is for what was asked for.
    Raises ProgramError if the program raises, NothingFound if it leaves nothing.
    """
    explorers: list[Shown] = []
    stop = listen(explorers.append)
    before = sys.argv[:], sys.path[:]
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).resolve().parent))
    names: dict[str, object] = {}
    try:
        with contextlib.redirect_stdout(sys.stderr):
            names = runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise ProgramError(f"{path}: exit with {end.code!r}") from end
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ProgramError(_report(error)) from error
    finally:
        stop()
        sys.argv, sys.path[:] = before
    return _found(path, explorers, names)


def _found(path: str, explorers: list[Shown], names: dict[str, object]) -> list[Found]:
    if explorers:
        return [Found(it.compilation, it) for it in explorers]
    public = (it for name, it in names.items() if not name.startswith("_"))
    candidates = [it for it in public if is_explorable(it)]
    if not candidates:
        raise NothingFound(
            f"{path}: nothing to explore. Call svodviz.explore(...) in it, or bind a Tensor or a "
            "Compilation to a name of the module."
        )
    return [Found(_compiled(candidates[-1]))]


def _compiled(subject: object) -> "Compilation":
    try:
        return compilation_of(subject)
    except Exception as error:
        raise ProgramError(_report(error)) from error


def _report(error: BaseException) -> str:
    """The exception as Python prints it, with only the frames of the user's files."""
    trace = traceback.TracebackException.from_exception(error)
    _keep_users_frames(trace)
    return "".join(trace.format()).rstrip("\n")


def _keep_users_frames(trace: traceback.TracebackException) -> None:
    trace.stack = traceback.StackSummary.from_list([it for it in trace.stack if _is_users(it)])
    for cause in (trace.__cause__, trace.__context__):
        if cause is not None:
            _keep_users_frames(cause)


def _is_users(frame: traceback.FrameSummary) -> bool:
    is_own = frame.filename.startswith(_OWN)
    return not (is_own or frame.filename.startswith("<frozen") or "runpy" in frame.filename)

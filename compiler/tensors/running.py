"""Running programs: which may run at once, and the cleanup after one that an exception ended.

    begin     the run is listed, once no other run reads a buffer it writes, or writes one it reads
    finish    its effects are recorded if they are complete, else undone; it is removed

An exception (Ctrl-C, an alarm, a user's function) can end a run anywhere, even inside `finish`. The
run then stays listed until it is finished by the next one that needs the same memory, or by the
next work on the same thread: each step of `finish` can be repeated. A run is abandoned when the
function that began it is no longer on the stack of its thread.
"""

import _thread
import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar, TypeVar

from compiler.core import forking
from compiler.core.effects import Effects
from compiler.tensors.readers import LOCK

F = TypeVar("F", bound=Callable[..., Any])
Numbers = frozenset[int]

RUNNING: "list[Run]" = []
"""Runs that began and are not finished. Changed only under `LOCK`."""
_waiting: list[Any] = []
"""A locked lock for each thread that waits for a run to finish."""
_OWNERS: set[CodeType] = set()
WAIT = 0.05
"""The interval, in seconds, at which a waiting thread looks for abandoned runs. A choice."""
_NONE: Numbers = frozenset()


class Run:
    """A running program: the numbers of the buffers that it reads and writes, and its effects."""

    __slots__ = ("effects", "thread")
    is_program: ClassVar[bool] = True
    """True if code runs: a program that it starts inside does not wait for it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.effects = Effects()

    @property
    def reads(self) -> Numbers:
        """The numbers of buffers that no other run may write meanwhile."""
        return _NONE

    @property
    def writes(self) -> Numbers:
        """The numbers of buffers that no other run may read meanwhile."""
        return _NONE

    def record(self) -> None:
        """Record the effects, which are complete. May be repeated."""

    def undo(self) -> None:
        """Undo incomplete effects. May be repeated."""
        self.effects.undo()

    def excludes(self, other: "Run") -> bool:
        """True if the two runs must not overlap."""
        own, others = self.writes, other.writes
        return not (
            own.isdisjoint(others) and own.isdisjoint(other.reads) and self.reads.isdisjoint(others)
        )


def owner(function: F) -> F:
    """Decorator for a function that has a run in its local variable `run`: the function finishes
    it."""
    _OWNERS.add(function.__code__)
    return function


def begin(run: Run) -> bool:
    """List the run. False if it has to wait for another one."""
    with LOCK:
        if RUNNING:
            settle()
            if must_wait(run):
                return False
        RUNNING.append(run)
    return True


def must_wait(run: Run) -> bool:
    """True if a run of another thread excludes this one. A program that a user's function starts
    inside another program does not wait, because it could wait forever."""
    own = [other for other in RUNNING if other.thread == run.thread]
    if any(other.is_program for other in own):
        return False
    return any(run.excludes(other) for other in RUNNING if other not in own)


def finish(run: Run) -> None:
    """Record or undo the effects of a run, and remove it from the list."""
    with LOCK:
        if run not in RUNNING:
            return
        if run.effects.is_complete:
            if run.effects.later:
                run.effects.apply()
            run.record()
        else:
            run.undo()
        RUNNING.remove(run)
        if _waiting:
            for each in _waiting:
                if each.locked():
                    each.release()
            _waiting.clear()


def settle() -> None:
    """Finish the runs that this thread abandoned, the innermost first."""
    own = threading.get_ident()
    for run in RUNNING[::-1]:
        if run.thread == own and _is_abandoned(run):
            finish(run)


def wait() -> None:
    """Wait until a run is finished, or for `WAIT`. Call it without `LOCK`."""
    mine = _thread.allocate_lock()
    mine.acquire()
    with LOCK:
        if not RUNNING:
            return
        _waiting.append(mine)
    if mine.acquire(True, WAIT):
        return
    for run in RUNNING[::-1]:
        if _is_abandoned(run):
            finish(run)


def _is_abandoned(run: Run) -> bool:
    """True if the function that began a run is no longer on the stack of its thread."""
    frame = sys._current_frames().get(run.thread)
    while frame is not None:
        if frame.f_code in _OWNERS and frame.f_locals.get("run") is run:
            return False
        frame = frame.f_back
    return True


class Change(Run):
    """A change to attributes of several tensors that takes effect for all of them, or none.

    Each attribute is recorded before it is changed. Undoing it skips attributes that others changed
    since.
    """

    __slots__ = ("_after", "_before", "_release")
    is_program = False

    def __init__(self, release: Callable[[Any], None] = lambda value: None) -> None:
        """`release` is called with each value that is undone."""
        super().__init__()
        self._before: list[tuple[Any, str, Any]] = []
        self._after: list[Any] = []
        self._release = release

    def change(self, tensor: Any, name: str, before: Any) -> None:
        """Record that an attribute is about to change."""
        self._before.append((tensor, name, before))

    def changed(self, after: Any) -> None:
        """Record that the last attribute has changed."""
        self._after.append(after)

    def undo(self) -> None:
        """Restore the attributes, the last one first."""
        for place in reversed(range(len(self._before))):
            tensor, name, before = self._before[place]
            now = getattr(tensor, name, None)
            # the change of the last one may not be recorded yet
            if place >= len(self._after) or now is self._after[place]:
                setattr(tensor, name, before)
                if now is not before:
                    self._release(now)


def _forget_others() -> None:
    """In the child of a `fork`, forget runs of other threads, which do not exist there."""
    own = threading.get_ident()
    RUNNING[:] = [run for run in RUNNING if run.thread == own]
    _waiting.clear()


forking.in_child(_forget_others)

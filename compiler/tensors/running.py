"""Programs under way: which may run at once, and what is left of one that an exception ended.

    begin     the run is listed, once no other run reads what it writes or writes what it reads
    finish    its effects are recorded where they are complete, else undone; it is listed no more

An exception (Ctrl-C, an alarm, a function of the user's) can end a run anywhere, also in the middle
of `finish`. The run stays listed then, and whoever needs the same memory next, or works on the same
thread, finishes it: each step of that can be repeated. A run is abandoned when the function that
began it is not on the stack of its thread any more.
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
"""The runs that began and are not finished. Changed under `LOCK`."""
_waiting: list[Any] = []
"""A locked lock for each thread that waits until a run is finished."""
_OWNERS: set[CodeType] = set()
WAIT = 0.05
"""Seconds after which a waiting thread looks for runs that were abandoned. A choice."""
_NONE: Numbers = frozenset()


class Run:
    """A program that runs: the numbers of the buffers that it reads and writes, its effects."""

    __slots__ = ("effects", "thread")
    is_program: ClassVar[bool] = True
    """Whether code runs: what it starts inside does not wait."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.effects = Effects()

    @property
    def reads(self) -> Numbers:
        """Buffers that nobody may write meanwhile."""
        return _NONE

    @property
    def writes(self) -> Numbers:
        """Buffers that nobody may read meanwhile."""
        return _NONE

    def record(self) -> None:
        """Record the effects, which are complete; may be repeated."""

    def undo(self) -> None:
        """Undo what was done of effects that are not complete; may be repeated."""
        self.effects.undo()

    def excludes(self, other: "Run") -> bool:
        """Whether the two may not run at once."""
        own, others = self.writes, other.writes
        return not (
            own.isdisjoint(others) and own.isdisjoint(other.reads) and self.reads.isdisjoint(others)
        )


def owner(function: F) -> F:
    """Decorate a function that has a run in its local variable `run`: it finishes that."""
    _OWNERS.add(function.__code__)
    return function


def begin(run: Run) -> bool:
    """List the run; False where it has to wait for another one."""
    with LOCK:
        if RUNNING:
            settle()
            if must_wait(run):
                return False
        RUNNING.append(run)
    return True


def must_wait(run: Run) -> bool:
    """Whether a run of another thread excludes this one. A program that a function of the user's
    starts inside another one does not wait: that could be for ever."""
    own = [other for other in RUNNING if other.thread == run.thread]
    if any(other.is_program for other in own):
        return False
    return any(run.excludes(other) for other in RUNNING if other not in own)


def finish(run: Run) -> None:
    """Record the effects of a run, or undo them, and list it no more."""
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
    """Wait until a run is finished, or a moment. To be called without `LOCK`."""
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
    """Whether the function that began a run is not on the stack of its thread."""
    frame = sys._current_frames().get(run.thread)
    while frame is not None:
        if frame.f_code in _OWNERS and frame.f_locals.get("run") is run:
            return False
        frame = frame.f_back
    return True


class Change(Run):
    """Attributes of several tensors that change together: all of them, or none.

    An attribute is noted before it is changed. Undone is what nobody changed since.
    """

    __slots__ = ("_after", "_before", "_release")
    is_program = False

    def __init__(self, release: Callable[[Any], None] = lambda value: None) -> None:
        """`release` forgets a value that is undone."""
        super().__init__()
        self._before: list[tuple[Any, str, Any]] = []
        self._after: list[Any] = []
        self._release = release

    def change(self, tensor: Any, name: str, before: Any) -> None:
        """An attribute is about to change."""
        self._before.append((tensor, name, before))

    def changed(self, after: Any) -> None:
        """The attribute noted last has changed."""
        self._after.append(after)

    def undo(self) -> None:
        """Set the attributes to what they were, the last one first."""
        for place in reversed(range(len(self._before))):
            tensor, name, before = self._before[place]
            now = getattr(tensor, name, None)
            # of the last one it may not be noted yet that it changed
            if place >= len(self._after) or now is self._after[place]:
                setattr(tensor, name, before)
                if now is not before:
                    self._release(now)


def _forget_others() -> None:
    """In a child of `fork` only the thread that called it goes on."""
    own = threading.get_ident()
    RUNNING[:] = [run for run in RUNNING if run.thread == own]
    _waiting.clear()


forking.in_child(_forget_others)

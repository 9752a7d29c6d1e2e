"""Processes made by `fork`: their locks are free, and no foreign call is cut in half in them.

A child has the parent's memory and one of its threads. A lock that another thread held would stay
locked for ever, and a library that another thread was in would be as that thread left it. So

    locks of Python code        are free in the child: what they guard is changed in single steps
    calls into a library        are ended before the fork, and none begins until it is done
    properties made once        get a new lock in the child: Python's has one for each of them
"""

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from compiler.core.visits import Visits

if TYPE_CHECKING:
    from _thread import RLock

    Lock: TypeAlias = RLock

_PACKAGES = ("compiler", "svodviz")
_locks: "weakref.WeakSet[Any]" = weakref.WeakSet()


def lock() -> "Lock":
    """A lock that is free in a child.

    A thread that has it may take it again: the search for garbage may start anywhere, and what is
    collected may run a user's code.
    """
    new = threading.RLock()
    _locks.add(new)
    return new


PAUSE = 0.001
"""Seconds between checks of a closed barrier. A choice."""


class Barrier:
    """Several threads may be inside; `close` waits until all others left, and keeps them out."""

    def __init__(self) -> None:
        self._visits = Visits()
        self._closed_by: int | None = None
        self._lock = lock()

    @contextlib.contextmanager
    def passed(self) -> Iterator[None]:
        """A context inside the barrier; entering waits until it is open."""
        number = next(self._visits.numbers)
        try:
            while not self._is_let_in(number):
                time.sleep(PAUSE)
            yield
        finally:
            self._visits.inside.pop(number, None)

    def _is_let_in(self, number: int) -> bool:
        with self._lock:
            if self._closed_by is None:
                self._visits.enter(number)
            return self._closed_by is None

    def close(self) -> None:
        """Wait until no other thread is inside; nobody enters before `open`.

        A fork cannot be called off: an exception that comes meanwhile is raised in the end.
        """
        came: BaseException | None = None
        while True:
            try:
                while not self._is_mine() or self._visits.are_others():
                    time.sleep(PAUSE)
                break
            except BaseException as error:
                came = error
        if came is not None:
            raise came

    def _is_mine(self) -> bool:
        """Close the barrier; False where another thread did."""
        thread = threading.get_ident()
        with self._lock:
            if self._closed_by is None:
                self._closed_by = thread
            return self._closed_by == thread

    def open(self) -> None:
        """Let threads in again."""
        self._closed_by = None


Pair: TypeAlias = tuple[Callable[[], None], Callable[[], None]]
_first: list[Pair] = []
_pairs: list[Pair] = []
_under_way: list[list[Pair]] = []
"""For each fork under way the pairs whose first halves were called."""


def around(before: Callable[[], None], after: Callable[[], None], is_first: bool = False) -> None:
    """Call `before` ahead of every fork and `after` behind it, in the parent and in the child.

    Of several, what was registered last is called first, as Python does; `is_first` comes ahead of
    all, and may wait for somebody who registers more: that is called too.
    """
    (_first if is_first else _pairs).append((before, after))


def _before() -> None:
    called: list[Pair] = []
    _under_way.append(called)  # what an exception ends here is ended behind the fork too
    for pair in _first:
        called.insert(0, pair)
        pair[0]()
    for pair in reversed(_pairs):
        called.insert(0, pair)
        pair[0]()


def _after() -> None:
    with contextlib.ExitStack() as ended:
        for _, after in reversed(_under_way.pop()):
            ended.callback(after)  # each, whatever another one raises


def in_child(function: Callable[[], None]) -> None:
    """Call `function` in every child, before its program goes on."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def _free_locks() -> None:
    for each in _locks:
        if not each._is_owned():
            each._at_fork_reinit()


def _free_properties() -> None:
    """Until Python 3.12 a property that is made once has a lock, held while it is made."""
    ours = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] in _PACKAGES]
    kinds = {kind for module in ours for kind in vars(module).values() if isinstance(kind, type)}
    for kind in kinds:
        for member in vars(kind).values():
            if isinstance(member, cached_property) and hasattr(member, "lock"):
                member.lock = threading.RLock()


in_child(_free_locks)
in_child(_free_properties)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

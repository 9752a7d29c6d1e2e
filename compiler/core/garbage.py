"""Python's search for garbage in cycles, put off while a program is compiled.

Nodes, instructions and lines of source are made in great numbers and hold no cycles: searching
them again and again found nothing, and took a sixth of the time to compile a large program.

It is put off by its threshold, and stays enabled: libraries that are loaded meanwhile may look at
that once and for all, as Dask does, which left it disabled afterwards in every slicing of an array.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from compiler.core import forking
from compiler.core.visits import Visits

_lock = forking.lock()
_compiling = Visits()
_before = gc.get_threshold()
NEVER = 2**31 - 1
"""So many more objects made than freed begin a search: the most that the threshold can be."""


@contextmanager
def put_off() -> Iterator[None]:
    """No search for garbage inside, in any thread; afterwards as it was before the first."""
    number = next(_compiling.numbers)
    try:
        _begin(number)
        yield
    finally:
        _compiling.inside.pop(number, None)
        _go_on()


def is_put_off() -> bool:
    """True if no search begins by itself."""
    return gc.get_threshold()[0] == NEVER


def _begin(number: int) -> None:
    """A compilation begins."""
    global _before
    with _lock:
        _compiling.enter(number)
        if not is_put_off():  # else another one is under way, or an exception ended it
            _before = gc.get_threshold()
            gc.set_threshold(NEVER, *_before[1:])


def _go_on() -> None:
    with _lock:
        if not _compiling.inside and is_put_off():
            gc.set_threshold(*_before)


def _forget_others() -> None:
    """In a child of `fork` only the thread that called it goes on."""
    _compiling.forget_others()
    _go_on()


forking.in_child(_forget_others)

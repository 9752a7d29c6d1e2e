"""Python's search for garbage in cycles, put off while a program is compiled.

Nodes, instructions and lines of source are made in great numbers and hold no cycles: searching
them again and again found nothing, and took a sixth of the time to compile a large program.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from compiler.core import forking

_lock = forking.lock()
_compiling: list[int] = []
"""The thread of each compilation under way."""
_was_enabled = False


@contextmanager
def put_off() -> Iterator[None]:
    """No search for garbage inside, in any thread; afterwards as it was before the first."""
    global _was_enabled
    thread = threading.get_ident()
    with _lock:
        if not _compiling:
            _was_enabled = gc.isenabled()
            gc.disable()
        _compiling.append(thread)
    try:
        yield
    finally:
        with _lock:
            _compiling.remove(thread)
            _enable()


def _enable() -> None:
    if not _compiling and _was_enabled:
        gc.enable()


def _forget_others() -> None:
    """In a child of `fork` only the thread that called it goes on."""
    others = [thread for thread in _compiling if thread != threading.get_ident()]
    if others:
        _compiling[:] = [threading.get_ident()] * (len(_compiling) - len(others))
        _enable()


forking.in_child(_forget_others)

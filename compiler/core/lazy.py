"""Names of a package that are loaded, with what they need, when somebody first asks for them.

A module is loaded under a lock of Python's own, which stays locked in a process that is made by
`fork` meanwhile: a fork waits until all are loaded. Nothing looks for garbage while they are:
modules hold on to all that they make.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from compiler.core import forking, garbage

_imports = forking.Barrier()
_own = threading.local()
forking.around(_imports.close, _imports.open, is_first=True)


@contextmanager
def loading() -> Iterator[None]:
    """Inside, modules are loaded at once, with the modules that they load."""
    if getattr(_own, "is_loading", False):
        yield
        return
    with _imports.passed(), garbage.put_off():
        _own.is_loading = True
        try:
            yield
        finally:
            _own.is_loading = False


def load(place: str, name: str) -> Any:
    """The object at `place` for a package's `name`: "a.module" of that name, or "a.module:other".

    A module itself is "a.module:".
    """
    module, _, other = place.partition(":")
    with loading():
        loaded = import_module(module)
    return loaded if place.endswith(":") else getattr(loaded, other or name)

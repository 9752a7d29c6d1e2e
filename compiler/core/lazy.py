"""Lazy loading: a package's names are imported, with the modules they need, on first use.

Python imports a module under a lock, which would stay locked in a process forked meanwhile: a fork
waits until all imports have finished. Garbage collection is off during imports, since modules keep
the objects that they create.
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

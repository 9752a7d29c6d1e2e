"""Names of a package that are loaded, with what they need, when somebody first asks for them."""

from importlib import import_module
from typing import Any

from compiler.core import garbage


def load(place: str, name: str) -> Any:
    """What `place` has for a package's `name`: "a.module" of that name, or "a.module:other".

    A module itself is "a.module:". Nothing looks for garbage meanwhile: modules hold on to all
    that they make.
    """
    module, _, other = place.partition(":")
    with garbage.put_off():
        found = import_module(module)
    return found if place.endswith(":") else getattr(found, other or name)


def is_private(name: str) -> bool:
    """Whether Python, IPython and `copy` look for such names: they are quickly told no."""
    return name.startswith("_")

"""Packages whose names are imported lazily, on first use: `compiler` and `svodviz`."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from compiler.core import lazy
from compiler.core.lazy import loading


def names(
    package: str, places: Mapping[str, str], known: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package. `places` maps each module to its names, as
    `lazy.load` takes it; `known` are all public names."""
    held = vars(import_module(package))
    place_of = {name: place for place, each in places.items() for name in each.split()}

    def __getattr__(name: str) -> Any:
        if name in place_of:
            held[name] = lazy.load(place_of[name], name)
            return held[name]
        if name.startswith("_"):  # Python, IPython and `copy` probe such names: answer quickly
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with loading():
            from compiler.tensor import Tensor
            from compiler.tensors.names import missing_name

        raise missing_name(package, name, known, Tensor)

    return __getattr__, lambda: sorted({*held, *known})

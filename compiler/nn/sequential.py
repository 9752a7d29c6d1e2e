"""Chains, lists and dicts of modules."""

from collections.abc import Callable, Iterator
from typing import Any

from compiler.core.errors import DataError
from compiler.nn.module import Module


class Sequential(Module):
    """A chain: each part gets the result of the one before it. A part is a module or any
    function."""

    def __init__(self, *parts: Callable[..., Any]) -> None:
        for part in parts:
            if not callable(part):
                raise DataError("Sequential", "a part is not callable", got=type(part).__name__,
                                expected="modules and functions")  # fmt: skip
        for place, part in enumerate(parts):
            vars(self)[str(place)] = part

    @property
    def parts(self) -> list[Callable[..., Any]]:
        """The modules and functions, in order."""
        return [part for name, part in vars(self).items() if name.isdigit()]

    def forward(self, x: Any) -> Any:
        """The result of the last part."""
        for part in self.parts:
            x = part(x)
        return x

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.parts)

    def __getitem__(self, place: int) -> Callable[..., Any]:
        return self.parts[place]

    def __repr__(self) -> str:
        lines = [
            f"  {place}: " + (repr(part).replace("\n", "\n  ") if isinstance(part, Module)
                              else getattr(part, "__name__", repr(part)))
            for place, part in enumerate(self.parts)
        ]  # fmt: skip
        return "\n".join(["Sequential", *lines])


class ModuleList(list[Any]):
    """A list of modules that belong to the module with this attribute. A plain list works as well;
    this one has PyTorch's name."""


class ModuleDict(dict[str, Any]):
    """A dict of modules, like `ModuleList`."""

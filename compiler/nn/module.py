"""Modules, their named tensors, saving and loading.

A module is an object whose attributes are tensors, modules, and lists, tuples and dicts of these:
`layers.0.weight` is `self.layers[0].weight`. Tensors that require gradients are its parameters; the
other tensors, such as running means, are saved with them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from compiler.core.errors import DataError, ShapeError
from compiler.graph.words import short
from compiler.nn import running
from compiler.nn.running import CHANGES as CHANGES
from compiler.tensor import Tensor
from compiler.tensors.gradients import collect_together, no_grad
from compiler.tensors.history import is_collecting
from compiler.tensors.writing import assign_together

SHOWN = 8
"""The number of differences listed in an error message."""


class Module:
    """Base of layers and networks: write `__init__` and `forward`, then call it.

    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         self.hidden, self.out = nn.Linear(784, 512), nn.Linear(512, 10)
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x).relu())
    """

    training: bool = True
    """True in training mode: dropout is active, and batch normalisation uses batch statistics."""

    def __setattr__(self, name: str, value: Any) -> None:
        CHANGES[0] += 1
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        CHANGES[0] += 1
        object.__delattr__(self, name)

    def forward(self, *inputs: Any, **given: Any) -> Any:
        """The computation of the module; override it."""
        raise DataError(type(self).__name__, "the module has no forward",
                        expected="a method forward(self, …)")  # fmt: skip

    def __call__(self, *inputs: Any, **given: Any) -> Any:
        return running.run(self, _inside, inputs, given)

    def named_tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors of this module and its submodules, with their names."""
        for name, value in _named(self):
            if isinstance(value, Tensor):
                yield name, value

    def named_modules(self) -> Iterator[tuple[str, "Module"]]:
        """This module, under the name "", and its submodules, with their names."""
        yield "", self
        for name, value in _named(self):
            if isinstance(value, Module):
                yield name, value

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors that require gradients, with their names; a tensor with two names under the
        first."""
        met: set[int] = set()
        for name, tensor in self.named_tensors():
            if is_collecting(tensor) and id(tensor) not in met:
                met.add(id(tensor))
                yield name, tensor

    def parameters(self) -> list[Tensor]:
        """The tensors that require gradients."""
        return [tensor for _, tensor in self.named_parameters()]

    def train(self, mode: bool = True) -> Self:
        """Switch this module and its submodules to training mode, or with False to evaluation mode;
        returns it."""
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Switch this module and its submodules to evaluation mode; returns it."""
        return self.train(False)

    def requires_grad_(self, flag: bool = True) -> Self:
        """Start or stop collecting gradients for its tensors: `model.encoder.requires_grad_(False)`
        freezes that part. Only its parameters can be unfrozen later."""
        for _, tensor in self.named_parameters() if not flag else self.named_tensors():
            if tensor.dtype.is_float:
                tensor.requires_grad_(flag)
        return self

    def register_buffer(self, name: str, value: Tensor | None, persistent: bool = True) -> None:
        """The same as `self.name = value`: a tensor without gradients is saved, but not a
        parameter. Raises `DataError` unless `persistent`."""
        if not persistent:
            raise DataError(
                "register_buffer", "tensors of a module are always saved", got="persistent=False",
                expected="True",
                hint="keep a tensor that is not to be saved outside the module",
            )  # fmt: skip
        setattr(self, name, value)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Delete the collected gradients, or set them to 0."""
        forget_gradients(self.parameters(), set_to_none)

    def state_dict(self) -> dict[str, Tensor]:
        """All tensors by name: `compiler.save("model.safetensors", model.state_dict())`."""
        return dict(self.named_tensors())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Write values by name into the tensors, in place.

        Raises `DataError` that lists missing and unknown names and differing shapes and types; then
        nothing is written.
        """
        load_state(type(self).__name__, self.state_dict(), state)

    def __repr__(self) -> str:
        inside = [
            (name, value) for name, value in vars(self).items()
            if isinstance(value, Module | list | tuple | dict) and not name.startswith("_")
        ]  # fmt: skip
        lines = [f"  {name}: " + repr(value).replace("\n", "\n  ") for name, value in inside]
        tensors = ", ".join(
            f"{name} {short(value.node)}" for name, value in vars(self).items()
            if isinstance(value, Tensor)
        )  # fmt: skip
        head = f"{type(self).__name__}({tensors})"
        return "\n".join([head, *lines])


def forget_gradients(tensors: Iterable[Tensor], set_to_none: bool) -> None:
    """Delete the collected gradients, or set them to 0."""
    collect_together([
        (each, None if set_to_none or each.grad is None else each.grad.zeros_like())
        for each in tensors
    ])  # fmt: skip


def _named(module: Module) -> Iterator[tuple[str, Any]]:
    """The attributes and items of a module, at any depth, by name."""
    open_parts: list[tuple[str, Any]] = [("", module)]
    while open_parts:
        prefix, value = open_parts.pop()
        match value:
            case Module():
                inside = list(vars(value).items())
            case list() | tuple():
                inside = [(str(n), each) for n, each in enumerate(value)]
            case Mapping():
                inside = list(value.items())
            case _:
                continue
        found = [(f"{prefix}{name}", each) for name, each in inside]
        yield from ((name, each) for name, each in found if isinstance(each, Tensor | Module))
        open_parts += [(f"{name}.", each) for name, each in reversed(found)]


def _inside(module: Module) -> Iterator[tuple[str, Module]]:
    """The direct submodules of a module, also those in its lists, tuples and dicts, by name."""
    open_parts: list[tuple[str, Any]] = [*reversed(vars(module).items())]
    while open_parts:
        name, value = open_parts.pop()
        match value:
            case Module():
                yield name, value
            case list() | tuple():
                open_parts += [(f"{name}.{n}", each) for n, each in enumerate(value)][::-1]
            case Mapping():
                open_parts += [(f"{name}.{key}", each) for key, each in value.items()][::-1]


@no_grad()
def load_state(what: str, own: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write values by name into tensors, all or none. Raises `DataError` if names, shapes or types
    differ."""
    given = {name: value if isinstance(value, Tensor) else Tensor(value)
             for name, value in state.items()}  # fmt: skip
    wrong = [f"{name} is missing" for name in own if name not in given]
    wrong += [f"{name} is unknown" for name in given if name not in own]
    for name, tensor in own.items():
        if name in given and short(given[name].node) != short(tensor.node):
            wrong.append(f"{name} is {short(given[name].node)}, not {short(tensor.node)}")
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise DataError(what, "the state does not fit", got="; ".join(wrong[:SHOWN]) + more,
                        expected=f"{len(own)} tensors, with the same names and types")  # fmt: skip
    pairs = [(tensor, given[name]) for name, tensor in own.items()]
    assign_together(pairs, is_computed=True)


def refuse_rank(module: Module, x: Tensor, *ranks: int, name: str = "input") -> None:
    """Raise `ShapeError` unless an input of a module has one of `ranks`."""
    if x.ndim not in ranks:
        raise ShapeError(
            type(module).__name__, f"the {name} has another rank", got=short(x.node),
            expected=" or ".join(f"{rank} axes" for rank in ranks),
        )  # fmt: skip

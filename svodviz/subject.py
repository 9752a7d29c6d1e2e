"""What can be explored: tensors, compilations, and functions with example inputs."""

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from compiler.errors import DataError
from compiler.origin import caller

_STAGES = ("graph", "passes", "kernels", "schedule")
EXPLORABLE = "a Tensor, a list of them, a Compilation, or a function and its example inputs"


def is_compilation(value: Any) -> bool:
    """Whether a value is a compilation (by its public data, so that stand-ins are ones too)."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in _STAGES)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of our compiler."""
    import compiler

    return isinstance(value, compiler.Tensor)


def is_explorable(value: Any) -> bool:
    """Whether a value is something with stages: a compilation, a tensor, several tensors."""
    if is_compilation(value):
        return True
    several = isinstance(value, list | tuple) and value and all(is_tensor(it) for it in value)
    return bool(several) or is_tensor(value)


def name_of(compilation: Any) -> str:
    """What a compilation is called: its own name, or the program it was written in."""
    is_named = compilation.name != "program"
    return str(compilation.name if is_named else compilation.user_source.title)


def compilation_of(subject: Any, *inputs: Any, by: str = "explore") -> Any:
    """The compilation to explore: a given one, or what tensors or a function on inputs compile to.

    Arrays among the inputs of a function become tensors. Raises DataError, which is a TypeError,
    for anything else; `by` is the call that asks.
    """
    is_function = callable(subject) and not is_explorable(subject)
    if inputs and not is_function:
        _refuse(by, "example inputs are for functions", f"{type(subject).__name__} and more",
                hint="other arguments are given by name")  # fmt: skip
    what = "there is nothing to explore in this"
    if is_function:
        what = f"{_called(subject)} gives nothing to explore"
        _check_inputs(by, subject, inputs)
        subject = subject(*map(_as_tensor, inputs))
    if is_compilation(subject):
        return subject
    if not is_explorable(subject):
        _refuse(by, what, type(subject).__name__)
    import compiler

    return compiler.compile(list(subject) if isinstance(subject, tuple) else subject)


def _check_inputs(by: str, function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Refuses a function that so many inputs do not fit."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*inputs)
    except TypeError as error:
        got = f"{len(inputs)} inputs for {_called(function)}{signature}"
        hint = f"give them after it: {by}(function, x, …)"
        _refuse(by, f"the function needs other inputs: {error}", got,
                "one example for each argument", hint)  # fmt: skip


def _as_tensor(value: Any) -> Any:
    import compiler

    return compiler.Tensor(value) if isinstance(value, np.ndarray) else value


def _called(function: Any) -> str:
    name = str(getattr(function, "__name__", "the function"))
    return "the function" if name == "<lambda>" else name


def _refuse(by: str, what: str, got: str, expected: str = EXPLORABLE, hint: str = "") -> NoReturn:
    raise DataError(by, what, got=got, expected=expected, hint=hint, origin=caller(by))

"""What can be explored: tensors, compilations, and functions with example inputs."""

from typing import Any, NoReturn

from compiler.core.errors import DataError
from compiler.core.origin import caller
from compiler.pipeline.asked import called, result_of

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
        what = f"{called(subject)} gives nothing to explore"
        subject = result_of(by, subject, inputs)
    if is_compilation(subject):
        return subject
    if not is_explorable(subject):
        _refuse(by, what, type(subject).__name__)
    import compiler

    return compiler.compile(list(subject) if isinstance(subject, tuple) else subject)


def _refuse(by: str, what: str, got: str, expected: str = EXPLORABLE, hint: str = "") -> NoReturn:
    raise DataError(by, what, got=got, expected=expected, hint=hint, origin=caller(by))

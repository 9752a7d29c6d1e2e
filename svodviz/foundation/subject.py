"""Subjects that can be explored: tensors, compilations, and functions with example inputs."""

from typing import TYPE_CHECKING, NoReturn, TypeGuard

from compiler.core.errors import DataError
from compiler.core.origin import caller
from compiler.pipeline.asked import called, result_of

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from compiler.tensor import Tensor

EXPLORABLE = "a Tensor, a list of them, a Compilation, or a function and its example inputs"


def is_compilation(value: object) -> "TypeGuard[Compilation]":
    """True if a value is a compilation."""
    import compiler

    return isinstance(value, compiler.Compilation)


def is_tensor(value: object) -> "TypeGuard[Tensor]":
    """True if a value is a tensor of our compiler."""
    import compiler

    return isinstance(value, compiler.Tensor)


def is_explorable(value: object) -> bool:
    """True if a value can be explored: a compilation, a tensor, several tensors."""
    if is_compilation(value):
        return True
    several = isinstance(value, list | tuple) and value and all(is_tensor(it) for it in value)
    return bool(several) or is_tensor(value)


def name_of(compilation: "Compilation") -> str:
    """The name of a compilation: its own, or the program it was written in."""
    is_named = compilation.name != "program"
    return compilation.name if is_named else compilation.user_source.title


def compilation_of(subject: object, *inputs: object, by: str = "explore") -> "Compilation":
    """The compilation to explore: a given one, or what tensors or a function on inputs compile to.

    Arrays among the inputs of a function become tensors. Raises DataError, which is a TypeError,
    for anything else; `by` is the call that asks.
    """
    is_function = callable(subject) and not is_explorable(subject)
    if inputs and not is_function:
        _refuse(by, "example inputs are for functions", f"{type(subject).__name__} and more",
                hint="other arguments are given by name")  # fmt: skip
    what = "there is nothing to explore in this"
    if callable(subject) and not is_explorable(subject):
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

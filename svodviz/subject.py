"""What can be explored: tensors, compilations, and functions with example inputs."""

from typing import Any

_STAGES = ("graph", "passes", "kernels", "schedule")


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


def compilation_of(subject: Any, *inputs: Any) -> Any:
    """The compilation to explore: a given one, or what tensors or a function on inputs compile to.

    Raises TypeError for anything else.
    """
    is_function = callable(subject) and not is_explorable(subject)
    if inputs and not is_function:
        raise TypeError("explore: example inputs are for functions; the subject is no function")
    if is_function:
        subject = subject(*inputs)
    if is_compilation(subject):
        return subject
    if not is_explorable(subject):
        raise TypeError(
            f"explore: got {type(subject).__name__}; expected a Tensor, a list of them, "
            "a Compilation, or a function and its example inputs"
        )
    import compiler

    return compiler.compile(list(subject) if isinstance(subject, tuple) else subject)

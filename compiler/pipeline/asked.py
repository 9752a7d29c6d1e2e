"""The program in the arguments of a call: tensors, lists of them, or a function and its inputs."""

import inspect
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.core.origin import caller
from compiler.graph.nodes import TensorNode
from compiler.settings.options import Options, options_of

makers: "list[Callable[[Array], object]]" = []
"""Functions that make a tensor of an array: `Tensor`, which is made of what is here, says so."""


def program_of(
    operation: str, program: Sequence[object], options: Options | None
) -> tuple[list[TensorNode], Options | None]:
    """The nodes to compute, and the options, from what a call was given: tensors, or lists of them,
    or a function and its example inputs; options may come last.

    A realised tensor stands for the program it came from. Raises `DataError` for anything else.
    """
    last = program[-1] if program else None
    if isinstance(last, Options):
        program, options = program[:-1], _only(operation, last, options)
    elif len(program) > 1 and not callable(program[0]) and not _is_computed(last):
        program, options = program[:-1], options if last is None else options_of(last, None)
    value: object = program[0] if len(program) == 1 else program
    if program and callable(program[0]):
        value = result_of(operation, program[0], program[1:])
    roots = value if isinstance(value, list | tuple) else [value]
    if not roots:
        what = f"nothing to {operation}"
        raise DataError(operation, what, got=repr(value), expected="a Tensor")
    flat = [one for each in roots for one in (each if isinstance(each, list | tuple) else [each])]
    return [_node(operation, each) for each in flat], options


def _is_computed(value: object) -> bool:
    """True if it can be one of several results: anything else stands where options may."""
    return isinstance(value, TensorNode | list | tuple) or hasattr(type(value), "recipe")


def _only(operation: str, last: Options, named: Options | None) -> Options:
    if named is None:
        return last
    raise DataError(operation, "options are given twice", got=f"{last} and options={named}",
                    expected="one of them")  # fmt: skip


def result_of(operation: str, function: Callable[..., object], inputs: Sequence[object]) -> object:
    """The result of a function for example inputs, arrays among them as tensors; of one that gives
    several by name, as a model does, these in order.

    Raises `DataError` where so many inputs do not fit it.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    try:
        if signature:
            signature.bind(*inputs)
    except TypeError as error:
        raise DataError(
            operation, f"the function needs other inputs: {error}",
            got=f"{len(inputs)} inputs for {called(function)}{signature}",
            expected="one example for each argument",
            hint=f"give them after it: {operation}(function, x, …)", origin=caller(operation),
        ) from None  # fmt: skip
    result = function(*(makers[0](v) if isinstance(v, np.ndarray) else v for v in inputs))
    return list(result.values()) if isinstance(result, Mapping) else result


def called(function: Callable[..., object]) -> str:
    """The name of a function, in a sentence."""
    name = str(getattr(function, "__name__", "the function"))
    return "the function" if name == "<lambda>" else name


def _node(operation: str, value: object) -> TensorNode:
    """The graph node of a tensor."""
    node = getattr(value, "recipe", value)
    if isinstance(node, TensorNode):
        return node
    what, got = f"only tensors can be {operation}d", type(value).__name__
    raise DataError(operation, what, got=got, expected="Tensor",
                    hint="give a function and its inputs, or tensors and then the options by name"
                    if isinstance(value, np.ndarray | str) else "")  # fmt: skip

"""What a user gives: tensors as nodes; data for placeholders, held against what was declared."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.device import buffers
from compiler.errors import DataError
from compiler.graph.markers import PLACEHOLDER, Placeholder
from compiler.graph.nodes import Buffer, TensorNode
from compiler.options import Options
from compiler.origin import caller

Array: TypeAlias = "np.ndarray[Any, Any]"

makers: "list[Callable[[Array], object]]" = []
"""What makes a tensor of an array: `Tensor`, which is made of what is here, says so."""


def refuse_unknown(nodes: Iterable[TensorNode], given: Mapping[str, object]) -> None:
    """`DataError` for a name that no placeholder among `nodes` has, and for what has no names."""
    if not isinstance(given, Mapping):
        raise DataError("run", "data are given by the names of placeholders",
                        got=type(given).__name__, expected='a dict, e.g. {"x": array}',
                        hint="compiler.prepare(y).run([array]) takes them by place")  # fmt: skip
    names = sorted({n.name for n in nodes if isinstance(n, Placeholder)})
    for name in given:
        if name not in names:
            raise DataError("run", f"there is no placeholder {name}", got=name,
                            expected=", ".join(names) or "no inputs")  # fmt: skip


def arrays(nodes: Iterable[TensorNode], given: Mapping[str, object]) -> dict[Buffer, Array]:
    """The data of every Buffer among `nodes`, flat: its own, or those given for its name.

    Raises `DataError` for a placeholder without data, and for data of another type or shape.
    """
    return {
        node: _array(node, given).reshape(-1) for node in nodes if isinstance(node, Buffer)
    }


def _array(node: Buffer, given: Mapping[str, object]) -> Array:
    if node.unique != PLACEHOLDER or node.name not in given:
        return buffers.data(node)
    array = np.asarray(given[node.name], order="C")
    if (array.dtype, array.shape) == (node.dtype.numpy, node.shape):
        return array
    raise DataError("run", f"the data for placeholder {node.name} do not fit",
                    got=f"{array.dtype} {array.shape}", expected=f"{node.dtype} {node.shape}",
                    hint="convert them with numpy's astype and reshape")  # fmt: skip


def program_of(
    operation: str, program: Sequence[object], options: Options | None
) -> tuple[list[TensorNode], Options | None]:
    """What to compute, and the options, from what a call was given: tensors, or lists of them, or
    a function and its example inputs; options may come last.

    A realised tensor stands for the program it came from. Raises `DataError` for anything else.
    """
    last = program[-1] if program else None
    if isinstance(last, Options):
        program, options = program[:-1], _only(operation, last, options)
    value: object = program[0] if len(program) == 1 else program
    if program and callable(program[0]):
        value = result_of(operation, program[0], program[1:])
    given = value if isinstance(value, list | tuple) else [value]
    if not given:
        what = f"nothing to {operation}"
        raise DataError(operation, what, got=repr(value), expected="a Tensor")
    flat = [one for each in given for one in (each if isinstance(each, list | tuple) else [each])]
    return [_node(operation, each) for each in flat], options


def _only(operation: str, last: Options, named: Options | None) -> Options:
    if named is None:
        return last
    raise DataError(operation, "options are given twice", got=f"{last} and options={named}",
                    expected="one of them")  # fmt: skip


def result_of(operation: str, function: Callable[..., object], inputs: Sequence[object]) -> object:
    """What a function gives for example inputs, arrays among them as tensors.

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
    return function(*(makers[0](v) if isinstance(v, np.ndarray) else v for v in inputs))


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

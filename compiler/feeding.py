"""What a user gives: tensors as nodes; data for placeholders, held against what was declared."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from compiler.device import buffers
from compiler.errors import DataError
from compiler.graph.markers import PLACEHOLDER, Placeholder
from compiler.graph.nodes import Buffer, TensorNode

Array: TypeAlias = "np.ndarray[Any, Any]"


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


def name_of(name: object) -> str:
    """What a program is called; an empty name is none. `DataError` for what is no text."""
    if not isinstance(name, str):
        what, got = "the name is no text", type(name).__name__
        raise DataError("compile", what, got=got, expected="a str")
    return name or "program"


def nodes_of(operation: str, value: object) -> list[TensorNode]:
    """How each of the tensors given to `operation` is computed: one, or a list or tuple of them.

    A realised tensor stands for the program it came from. Raises `DataError` for anything else.
    """
    given = value if isinstance(value, list | tuple) else [value]
    if not given:
        what = f"nothing to {operation}"
        raise DataError(operation, what, got=repr(value), expected="a Tensor")
    return [_node(operation, each) for each in given]


def _node(operation: str, value: object) -> TensorNode:
    """The graph node of a tensor."""
    node = getattr(value, "recipe", value)
    if isinstance(node, TensorNode):
        return node
    what, got = f"only tensors can be {operation}d", type(value).__name__
    raise DataError(operation, what, got=got, expected="Tensor")

"""The call of one node of an exported module, and the table of operators.

    @operator("gelu")
    def gelu(call, x, /, approximate="none"): …

A function takes the call and tensors by place, before `/`, and all else by its name in the
operator's schema (binding.py); it returns a tensor, or a tuple of them, None for one that nobody
needs. The name of the operator may name an overload, as in "add.Tensor"; without one it is for all
of them. The results are converted to the types that PyTorch describes.
"""

import operator as python
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.lazy import loading
from compiler.imported import call as imported
from compiler.imported.call import Extent, Number, Results, adding_to
from compiler.imported.torch.element_types import dtype_of
from compiler.imported.torch.graphs import Node, description_of
from compiler.tensor import Tensor
from compiler.tensors.shapes import Axes
from compiler.tensors.variables import Variable

Function: TypeAlias = Callable[..., Results | Extent]

OPERATORS: dict[str, Function] = {}
"""The functions by the operator's name, with its overload where they differ."""
operator = adding_to(OPERATORS)
"""Decorator: the function implements the ATen operators of these names."""


def function_of(target: Any) -> Function | None:
    """The function of an ATen operator, if it is supported."""
    name = name_of(target)
    return OPERATORS.get(name) or OPERATORS.get(name.rpartition(".")[0])


def name_of(target: Any) -> str:
    """`conv2d.default`; with the library for others, `torchvision::nms.default`."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return getattr(target, "__name__", str(target))
    overload = schema.overload_name or "default"
    return f"{schema.name.removeprefix('aten::')}.{overload}"


def base_of(name: str) -> str:
    """The name of an operator without its overload: `conv2d`."""
    return name.partition(".")[0]


def is_number_function(target: Any) -> bool:
    """True if it computes with Python numbers, such as extents."""
    module = getattr(target, "__module__", "") or ""
    is_symbolic = module in ("torch", "torch.fx.experimental.symbolic_shapes")
    is_of_sizes = getattr(target, "__name__", "").startswith("sym_")
    return module in ("_operator", "math", "builtins") or (is_symbolic and is_of_sizes)


@dataclass(frozen=True)
class Call(imported.Call):
    """A node of an exported module."""

    node: Node
    name: str
    described: str

    importer: ClassVar[str] = "from_torch"

    @property
    def where(self) -> str:
        """The operator, and its place in the model if it is known."""
        return f"{self.name} ({self.described})" if self.described else self.name

    @property
    def values(self) -> tuple[Any, ...]:
        """PyTorch's description of each result: type and shape; None for one that is not
        produced."""
        described = description_of(self.node)
        return tuple(described) if isinstance(described, tuple | list) else (described,)

    @property
    def dtype(self) -> DType:
        """The type of the (first) result."""
        return dtype_of(self.values[0].dtype, self.name)

    def result_type(self, first: int = 0, second: int = 1) -> DType:
        """The type that PyTorch computes two arguments in."""
        with loading():
            import torch
        operands = [self.argument(first), self.argument(second)]
        values = [each.meta["val"] if hasattr(each, "meta") else each for each in operands]
        return dtype_of(torch.result_type(*values), self.name)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number of the result's type."""
        with loading():
            import torch
        return float(torch.finfo(self.values[0].dtype).eps)

    def argument(self, place: int) -> Any:
        """The argument at a place as it stands in the graph, positional or by name."""
        if place < len(self.node.args):
            return self.node.args[place]
        return self.node.kwargs[self.node.target._schema.arguments[place].name]


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from 0 on; rank 0 has one axis, as in PyTorch."""
    return axis + max(rank, 1) if axis < 0 else axis


def axes_of(axes: Axes, rank: int) -> tuple[int, ...]:
    """Axes counted from 0 on; by default all."""
    if axes is None or (isinstance(axes, Sequence) and not axes):
        return tuple(range(rank))
    several = [axes] if isinstance(axes, int) else axes
    return tuple(axis_of(python.index(a), rank) for a in several) if rank else ()


def as_tensor(value: Number, dtype: DType) -> Tensor:
    """A tensor, or a number, in a type."""
    if isinstance(value, Tensor):
        return value if value.dtype == dtype else value.cast(dtype)
    if isinstance(value, Variable):
        return Tensor(value).cast(dtype)
    kind = bool if dtype.kind == "bool" else float if dtype.is_float else int
    return Tensor(kind(value), dtype=dtype)


def half_or_wide(x: Tensor) -> Tensor:
    """In float32 at least, as PyTorch computes with 16-bit floats."""
    return x.cast(dtypes.float32) if x.dtype.is_float and x.dtype.bits < 32 else x

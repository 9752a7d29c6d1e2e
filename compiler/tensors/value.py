"""The core of a tensor: one graph node, its shape and type; and the conversion of operands.

The methods of `Tensor` are in mixins of one topic each. Each inherits `TensorValue` and the mixins
whose methods it calls; `Tensor` inherits them all. No two define the same name.
"""

import itertools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType, Scalar
from compiler.core.errors import DataError
from compiler.core.keywords import public
from compiler.core.origin import state
from compiler.device import buffers
from compiler.graph.kinds.shaping import broadcast_node as broadcast_node
from compiler.graph.kinds.shaping import cast_to as cast_to
from compiler.graph.kinds.shaping import reshaped as reshaped
from compiler.graph.nodes import Shape, TensorNode
from compiler.tensors import data as tensor_data
from compiler.tensors.names import Named, missing
from compiler.tensors.readers import LOCK, READERS
from compiler.tensors.traced_numbers import TakesNumbers
from compiler.tensors.variables import Variable, bounds_of, is_weak, shape_of

C = TypeVar("C", bound=type)
_numbers = itertools.count()
_QUIET = {
    "__array_function__", "__array_ufunc__", "__hash__", "__init__", "__new__", "__repr__",
}  # fmt: skip


def traced(cls: C) -> C:
    """Class decorator: results of public methods and operators record the user's source line."""
    wrapped: dict[int, Any] = {}
    for name, member in list(vars(cls).items()):
        is_operator = name.startswith("__") and name.endswith("__") and name not in _QUIET
        if is_operator or not name.startswith("_"):
            if id(member) not in wrapped:  # aliases stay one object
                wrapped[id(member)] = _traced_member(member)
            setattr(cls, name, wrapped[id(member)])
    return cls


def _traced_member(member: Any) -> Any:
    """A function, class method or property, wrapped; anything else unchanged."""
    match member:
        case classmethod():
            return classmethod(public(member.__func__))
        case property():
            kept = public(member.fset) if member.fset else None
            read = public(member.fget) if member.fget else None
            return property(read, kept, doc=member.__doc__)
        case FunctionType():
            return public(member)
        case _:
            return member


def next_number() -> int:
    """A number lower than that of every tensor made from now on."""
    return next(_numbers)


class LateTensor:
    """A tensor in exclusive memory, created when it is first read.

    Its numbers and its origin are fixed from the beginning, because they define the order of
    tensors. Read it only under `LOCK`.
    """

    __slots__ = ("_kind", "_made", "_number", "_origin", "_unique", "buffer", "memory")

    def __init__(
        self, kind: "type[TensorValue]", memory: Any, buffer: "Callable[[Any, int], TensorNode]"
    ) -> None:
        """`buffer` returns a node of this `memory` for a buffer number."""
        self._kind = kind
        self._number = next(_numbers)
        self._origin = state.origin
        self._unique = buffers.next_number()
        self._made: TensorValue | None = None
        self.memory = memory
        self.buffer = buffer

    def tensor(self) -> "TensorValue":
        """The tensor; the same object each time."""
        if self._made is None:
            before, state.origin = state.origin, self._origin
            try:
                node = self.buffer(self.memory, self._unique)
            finally:
                state.origin = before
            made = self._kind.__new__(self._kind)
            made.node = node
            made._number = self._number
            self._made = made
        return self._made


class TensorValue(TakesNumbers, metaclass=Named):
    """A lazy value: `node` is its computation; `realize()` replaces it with data."""

    __slots__ = ("__weakref__", "_collected", "_number", "_recipe", "node")
    node: TensorNode
    _recipe: TensorNode
    _number: int
    _collected: "TensorValue | LateTensor | None"

    @property
    def _grad(self) -> Any:
        """The gradient that `backward` collected; None before."""
        held = self._collected
        if held is None or isinstance(held, TensorValue):
            return held
        with LOCK:
            made = held.tensor()
            if self._collected is held:  # unless another thread has set it meanwhile
                self._collected = made
        return made

    @_grad.setter
    def _grad(self, value: Any) -> None:
        self._collected = value

    def _same(self) -> Self:
        """Another tensor of the same value: assigning to one does not change the other."""
        made = self._new(self.node)
        if hasattr(self, "_recipe"):
            made._recipe = self._recipe
        return made

    @property
    def recipe(self) -> TensorNode:
        """The graph of the value; for a realised tensor the graph that it was computed from."""
        recipe: TensorNode = getattr(self, "_recipe", self.node)
        return recipe

    @property
    def shape(self) -> Shape:
        """The extent of each axis; for a symbolic axis its maximum."""
        return self.node.shape

    @property
    def symbolic_shape(self) -> tuple[int | Variable, ...]:
        """The extent of each axis; a `Variable` for an extent that is known only when the program
        runs."""
        return shape_of(self.node)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """The number of elements, an int as in NumPy. PyTorch's `size()` is `shape` here."""
        return self.node.size

    def numel(self) -> int:
        """The number of elements."""
        return self.node.size

    def __new__(cls, *arguments: object, **keywords: object) -> Self:
        """A new tensor, registered for as long as it exists."""
        made = object.__new__(cls)
        made._number = next(_numbers)
        made._collected = None
        READERS.note(made)
        return made

    if not TYPE_CHECKING:  # which finds every attribute

        def __getattr__(self, name: str) -> Any:
            raise missing(type(self), name)

    @classmethod
    def _of(cls, node: TensorNode) -> Self:
        """A tensor of this class that holds `node`."""
        made = cls.__new__(cls)
        made.node = node
        return made

    def _new(self, node: TensorNode) -> Self:
        """The same, from a tensor of this class."""
        made = type(self).__new__(type(self))
        made.node = node
        return made

    def _lift(self, operand: "Operand") -> Self:
        """`operand` as a tensor, with NumPy's type for a Python number."""
        if isinstance(operand, TensorValue):
            return self._new(operand.node)
        return self._new(tensor_data.tensor(operand))


Operand: TypeAlias = (
    TensorValue | Variable | Scalar | np.ndarray[Any, Any] | np.generic | Sequence[Any]
)
"""Operands accepted by operations; Python numbers take the tensor's type."""


def operand_of(operation: str, value: object) -> TensorNode | Scalar:
    """`value` as a node; a Python number, whose type is weak, is returned unchanged."""
    match value:
        case TensorNode():
            return value
        case TensorValue():
            return value.node
        case np.generic():
            return tensor_data.from_generic(value)
        case Variable():
            return value.node
        case bool() | int() | float():
            return value
        case np.ndarray() | list() | tuple():
            return tensor_data.tensor(value)
    raise DataError(
        operation,
        "an operand cannot become a tensor",
        got=type(value).__name__,
        expected="a tensor, an array, a number or a list of numbers",
    )


def common_type(parts: Sequence[TensorNode | Scalar]) -> DType:
    """The type that the operands are converted to. Of a number or variable only the kind counts."""
    types = [
        (0 if is_weak(p) else p.dtype) if isinstance(p, TensorNode) else p.__class__()
        for p in parts
    ]
    return dtypes.promote(*types)


def as_node(operation: str, part: TensorNode | Scalar, dtype: DType) -> TensorNode:
    """`part` converted to `dtype`. Raises `DataError` for an integer out of range."""
    if isinstance(part, TensorNode):
        if is_weak(part):
            for bound in bounds_of(part):
                tensor_data.scalar(bound, dtype, operation)  # raises where it does not fit
        return cast_to(part, dtype)
    return tensor_data.scalar(part, dtype, operation)

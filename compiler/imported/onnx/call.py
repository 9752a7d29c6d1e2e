"""The call of one node of a model, and the table of operators.

    @operator("Relu")
    def relu(call, x): return x.relu()

A function takes the call and the inputs as tensors, None for one that is omitted, and returns a
tensor, or a tuple of them. Values that must be known while the program is built (a shape, an axis,
a repetition) are read with `call.known`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from compiler.core.dtypes import Array
from compiler.graph.extents import symbolic
from compiler.imported.arguments import Reads, is_same
from compiler.imported.call import AttributeCall, Function, adding_to
from compiler.imported.constants import MOST_COMPUTED, computed, constant, has_data, leaves
from compiler.tensor import Tensor
from compiler.tensors.shapes import axis_of
from compiler.tensors.variables import Variable, made_of

OPERATORS: dict[tuple[str, str], Callable[..., Any]] = {}
"""The functions by domain ("" is ONNX's own) and name."""
RUNTIME = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""


def operator(*names: str, domain: str = "") -> Callable[[Function], Function]:
    """Decorator: the function implements the operators of these names."""
    return adding_to(OPERATORS)(*((domain, name) for name in names))


@dataclass(frozen=True, eq=False)
class Value:
    """A value of a model: a tensor, and an array if it is already known."""

    array: Array | None = None
    lazy: Tensor | None = None
    name: str = ""
    """The name of a constant in the model."""
    numbers: Array | None = None
    """Integers, some of which depend on variables, as objects."""

    @cached_property
    def tensor(self) -> Tensor:
        """The value as a tensor; a single number is a constant of the program."""
        if self.lazy is not None:
            return self.lazy
        assert self.array is not None
        return constant(self.array, self.name)


@dataclass(frozen=True)
class Call(AttributeCall):
    """A node with its attributes, its operator version, and its inputs."""

    name: str
    version: int
    inputs: Sequence[Value | None]
    outputs: int
    bound: Mapping[str, Variable] = field(default_factory=dict)
    """The bound variables, by name."""

    importer: ClassVar[str] = "from_onnx"

    @property
    def where(self) -> str:
        """The operator, and the name of the node if it has one."""
        return f"{self.op} {self.name}".strip()

    def check_fits(self, name: str, fitting: Any) -> None:
        """Raise `DataError` if an attribute contradicts the inputs."""
        said = self.get(name)
        if said is not None and not is_same(said, fitting):
            raise self.refused(f"{name} is not that of the inputs", said, str(fitting))

    def as_other(self, op: str, attributes: Mapping[str, Any], **changes: Any) -> "Call":
        """The call of another operator, with its own attributes."""
        return replace(self, op=op, attributes=attributes, reads=Reads(), **changes)

    def extents(self, x: Tensor) -> list[Any]:
        """The extents of a tensor: integers, and bound variables."""
        return [made_of(n, self.bound) for n in symbolic(x.shape, x.node.extents)]

    def has(self, place: int) -> bool:
        """True if that input is given."""
        return place < len(self.inputs) and self.inputs[place] is not None

    def known(self, place: int, what: str) -> Array:
        """The input at that place, which has to be known while the program is built: it is a
        constant, depends only on shapes, or on data that were passed, and is computed."""
        self.reads.places.add(place)
        value = self.inputs[place] if place < len(self.inputs) else None
        if value is None:
            raise self.refused(f"{what} is missing", "nothing", f"input {place}")
        if value.array is not None:
            return value.array
        if value.numbers is not None:
            raise self.refused(f"{what} follows from a variable", ", ".join(
                map(str, value.numbers.reshape(-1))), "a constant")  # fmt: skip
        if value.tensor.size > MOST_COMPUTED or not all(map(has_data, leaves(value.tensor))):
            raise self.refused(f"{what} is known only when the program runs",
                               f"input {place}: {value.tensor.dtype} {value.tensor.shape}",
                               "a constant, or what depends on shapes")  # fmt: skip
        return computed([value.tensor])[0]

    def is_zero(self, place: int) -> bool:
        """True if that input is known to be all zeros."""
        value = self.inputs[place] if place < len(self.inputs) else None
        return value is not None and value.array is not None and not value.array.any()

    def numbers(self, place: int, attribute: str, usual: Any = None) -> Any:
        """Integers that are an input in newer versions and an attribute in older ones; a `Variable`
        for one that is known only when the program runs."""
        self.reads.places.add(place)
        value = self.inputs[place] if self.has(place) else None
        if value is not None and value.numbers is not None:
            return value.numbers.reshape(-1).tolist()
        if self.has(place):
            return [int(n) for n in self.known(place, attribute).reshape(-1)]
        return self.get(attribute, usual)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from 0 on. Raises `AxisError` that names this node if it is out of
        range."""
        return axis_of(f"from_onnx: {self.where}", axis, rank)


def fixed(x: Tensor, *axes: int) -> tuple[int, ...]:
    """The extents of axes, by default all. Raises `TypeError` for a variable one: code that
    processes elements one by one needs their number."""
    extents = [x.symbolic_shape[axis] for axis in axes or range(x.ndim)]
    if variable := next((n for n in extents if not isinstance(n, int)), None):
        raise TypeError(f"an axis has {variable} elements")
    return tuple(n for n in extents if isinstance(n, int))


def of_type(like: Tensor, number: float) -> Tensor:
    """A number in the type of a tensor."""
    return Tensor(np.array(number).item(), dtype=like.dtype)

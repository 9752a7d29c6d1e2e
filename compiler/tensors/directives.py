"""Tensor methods that say how to compute, not what; and tensors from nodes made by hand."""

from collections.abc import Callable, Sequence
from typing import Self

from compiler.core.dtypes import parse
from compiler.core.errors import DataError, ShapeError
from compiler.device.buffers import declare
from compiler.graph.kinds.composite import Composite, checked
from compiler.graph.kinds.kernel import Kernel, plain
from compiler.graph.kinds.markers import ContiguousBackward, Detach, Fuse, Placeholder, Unroll
from compiler.graph.kinds.views import Strided, View
from compiler.graph.nodes import Param, Sink, Store, TensorNode
from compiler.graph.verify import verify
from compiler.tensors.files import Files
from compiler.tensors.shapes import extents, integers
from compiler.tensors.value import TensorValue, traced


@traced
class Directives(Files):
    """Directives to the scheduler, and the composite kinds users ask for by name."""

    __slots__ = ()

    @classmethod
    def from_node(cls, node: TensorNode) -> Self:
        """The tensor of a node made by hand, e.g. with `GraphBuilder`.

        Raises `InternalError` with the invariant that a node under it breaks.
        """
        if not isinstance(node, TensorNode) or isinstance(node, Sink | Store):
            raise DataError("from_node", "this is no value", got=type(node).__name__,
                            expected="a node of the tensor graph")  # fmt: skip
        verify(node)
        return cls._of(node)

    @classmethod
    def placeholder(cls, *shape: int | Sequence[int], dtype: object, name: str) -> Self:
        """Data that are given when the program runs, by this tensor, its name or its place.

        `compile` shows every stage of what is made from it;
        `compile(…).run({name: array})` runs it. Asked for its data, it is refused.
        """
        wanted = extents("placeholder", shape)
        node = Placeholder((), wanted, parse(dtype, "placeholder"), name)
        return cls._of(declare(checked(node, DataError)))

    @classmethod
    def kernel(cls, name: str, function: Callable[..., TensorValue], *inputs: TensorValue) -> Self:
        """`function(*inputs)` as one kernel called `name`: nothing is fused across its border.

        The inputs are written to memory first; `function` may read nothing else but numbers.
        Raises `DataError` where it does, and for a name that cannot be a kernel's.
        """
        if not callable(function):
            raise DataError("kernel", "the body is no function", got=type(function).__name__,
                            expected="a function of tensors")  # fmt: skip
        given = tuple(_tensor(each) for each in inputs)
        params = (Param((), i + 1, x.shape, x.dtype) for i, x in enumerate(given))
        body = _tensor(function(*map(cls._of, params)))
        return cls._of(checked(Kernel(given, plain(body), name), DataError))

    def _composite(self, node: Composite) -> Self:
        """The tensor of a node; `ShapeError` with its problem."""
        return self._new(checked(node, ShapeError))

    def detach(self) -> Self:
        """The same values; gradients stop here."""
        return self._new(Detach((self.node,)))

    def contiguous_backward(self) -> Self:
        """The same values; their gradient is written to memory."""
        return self._new(ContiguousBackward((self.node,)))

    def fuse(self) -> Self:
        """The same values, computed inside all that reads them, whatever that costs."""
        return self._new(Fuse((self.node,)))

    def unroll(self, factor: int) -> Self:
        """The same reduction, the innermost loop of it unrolled `factor` times.

        Raises `ShapeError` where the tensor is no reduction.
        """
        (times,) = integers("unroll", (factor,))
        return self._composite(Unroll((self.node,), times))

    def as_strided(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Self:
        """Element [i, j, …] is element offset + i·strides[0] + j·strides[1] + … of this tensor in
        row-major order. Strides may be 0 or negative, and elements be read more than once.

        Raises `ShapeError` where an element outside the tensor would be read.
        """
        wanted = extents("as_strided", (tuple(shape),)) if shape else ()
        steps = integers("as_strided", (tuple(strides),)) if strides else ()
        (first,) = integers("as_strided", (offset,))
        return self._composite(View((self.node,), (Strided(wanted, steps, first),)))


def _tensor(value: object) -> TensorNode:
    """The node of a tensor; `DataError` for anything else."""
    if isinstance(value, TensorValue):
        return value.node
    raise DataError("kernel", "a kernel reads and gives tensors", got=type(value).__name__,
                    expected="a Tensor")  # fmt: skip

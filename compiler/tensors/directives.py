"""Tensor methods that direct the scheduler, and tensors made from graph nodes."""

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
from compiler.tensors.shapes import extents, integers
from compiler.tensors.value import TensorValue, traced


@traced
class Directives(TensorValue):
    """Directives to the scheduler, and composite nodes that users request by name."""

    __slots__ = ()

    @classmethod
    def from_node(cls, node: TensorNode) -> Self:
        """The tensor of a graph node, for example one made with `GraphBuilder`.

        Raises `InternalError` with the invariant that a node of its graph violates.
        """
        if not isinstance(node, TensorNode) or isinstance(node, Sink | Store):
            raise DataError("from_node", "the node has no value", got=type(node).__name__,
                            expected="a node of the tensor graph")  # fmt: skip
        verify(node)
        return cls._of(node)

    @classmethod
    def placeholder(cls, *shape: int | Sequence[int], dtype: object, name: str) -> Self:
        """An input without data: they are passed when the program runs, by this tensor, its name or
        its position.

        `compile` shows every stage of the program; `compile(…).run({name: array})` runs it. Methods
        that need its data raise an error.
        """
        wanted = extents("placeholder", shape)
        node = Placeholder((), wanted, parse(dtype, "placeholder"), name)
        return cls._of(declare(checked(node, DataError)))

    @classmethod
    def kernel(cls, name: str, function: Callable[..., TensorValue], *inputs: TensorValue) -> Self:
        """`function(*inputs)` compiled as one kernel called `name`; it is not fused with anything
        outside.

        The inputs are stored to memory first; apart from them `function` may use only numbers.
        Raises `DataError` if it reads other tensors, and for a name that is not valid for a kernel.
        """
        if not callable(function):
            raise DataError("kernel", "the body is not a function", got=type(function).__name__,
                            expected="a function of tensors")  # fmt: skip
        given = tuple(_tensor(each) for each in inputs)
        params = (Param((), i + 1, x.shape, x.dtype) for i, x in enumerate(given))
        body = _tensor(function(*map(cls._of, params)))
        return cls._of(checked(Kernel(given, plain(body), name), DataError))

    def _composite(self, node: Composite) -> Self:
        """The tensor of a node. Raises `ShapeError` if the node is not valid."""
        return self._new(checked(node, ShapeError))

    def detach(self) -> Self:
        """The same values, without history: gradients stop here."""
        return self._new(Detach((self.node,)))

    def contiguous_backward(self) -> Self:
        """The same values. Their gradient is stored to memory in the backward pass."""
        return self._new(ContiguousBackward((self.node,)))

    def fuse(self) -> Self:
        """The same values. The scheduler fuses them into every consumer, even if they are
        recomputed."""
        return self._new(Fuse((self.node,)))

    def unroll(self, factor: int) -> Self:
        """The same reduction, with its innermost loop unrolled `factor` times.

        Raises `ShapeError` if the tensor is not a reduction.
        """
        (times,) = integers("unroll", (factor,))
        return self._composite(Unroll((self.node,), times))

    def as_strided(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Self:
        """A strided view: element [i, j, …] is element offset + i·strides[0] + j·strides[1] + … of
        this tensor in row-major order. Strides may be 0 or negative, so elements may occur more
        than once.

        Raises `ShapeError` if an element outside the tensor would be read.
        """
        wanted = extents("as_strided", (tuple(shape),)) if shape else ()
        steps = integers("as_strided", (tuple(strides),)) if strides else ()
        (first,) = integers("as_strided", (offset,))
        return self._composite(View((self.node,), (Strided(wanted, steps, first),)))


def _tensor(value: object) -> TensorNode:
    """The node of a tensor. Raises `DataError` for anything else."""
    if isinstance(value, TensorValue):
        return value.node
    raise DataError("kernel", "a kernel takes and returns tensors", got=type(value).__name__,
                    expected="a Tensor")  # fmt: skip

"""The call of one equation of a jaxpr, and the table of primitives.

    @primitive("exp")
    def exp(call, x): return x.exp()

A function takes the call and the operands as tensors, and returns a tensor, or a tuple of them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from compiler.core.dtypes import Array, DType
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.graph.nodes import Buffer, Const, Iota, TensorNode
from compiler.imported.call import AttributeCall, adding_to
from compiler.imported.constants import MOST_COMPUTED, computed, has_data
from compiler.imported.jax.element_types import dtype_of, jax_itself
from compiler.imported.jax.jaxprs import Body, Described, opened
from compiler.tensor import Tensor

PRIMITIVES: dict[str, Callable[..., Any]] = {}
"""The functions by the name of the primitive."""
primitive = adding_to(PRIMITIVES)
"""Decorator: the function implements the primitives of these names."""


class Walker(Protocol):
    """Calls the equations of a jaxpr."""

    def walk(self, jaxpr: Body, operands: Sequence[Tensor]) -> list[Tensor]:
        """The results of a jaxpr for these operands."""
        ...

    @property
    def inputs(self) -> frozenset[TensorNode]:
        """The nodes of data that may change in the next run."""
        ...


@dataclass(frozen=True)
class Call(AttributeCall):
    """An equation: its primitive, parameters, operands and results as JAX describes them."""

    operands: Sequence[Described]
    results: Sequence[Described]
    walker: Walker

    importer: ClassVar[str] = "from_jax"
    missing: ClassVar[str] = "there is no parameter {}: this version of JAX is not known"

    @property
    def where(self) -> str:
        """The primitive."""
        return self.op

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first result."""
        return tuple(self.results[0].shape)

    @property
    def dtype(self) -> DType:
        """The element type of the first result."""
        return dtype_of(self.results[0].dtype, self.op)

    def inline(self, jaxpr: Body, operands: Sequence[Tensor]) -> list[Tensor]:
        """The results of an inner jaxpr, whose equations are inlined in place of this one."""
        return self.walker.walk(jaxpr, operands)

    def spread(self, jaxpr: Body, operands: Sequence[Tensor]) -> list[Tensor]:
        """The results of a scalar jaxpr, applied to each element of its operands, which have one
        shape."""
        jax = jax_itself()
        with loading():
            from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
        body, constants = opened(jaxpr)
        shape = operands[0].shape
        flat = [t.reshape(t.size) for t in operands]
        function = jax.vmap(jaxpr_as_fun(ClosedJaxpr(body, constants)))
        described = [jax.ShapeDtypeStruct(t.shape, t.dtype.numpy) for t in flat]
        results = self.inline(jax.make_jaxpr(function)(*described), flat)
        return [t.reshape(*shape) for t in results]

    def known(self, tensor: Tensor) -> "Array | None":
        """The value of a tensor if it follows from constants alone, else None."""
        if tensor.size > MOST_COMPUTED:
            return None
        return computed([tensor])[0] if _follows(tensor, self.walker.inputs) else None


def _follows(tensor: Tensor, inputs: Collection[TensorNode]) -> bool:
    """True if a tensor follows from constants alone: from no `given` data, and no state of a
    loop."""
    ends = (node for node in toposort([tensor.node]) if not node.sources)
    return all(
        isinstance(n, Const | Iota) or (isinstance(n, Buffer) and has_data(n) and n not in inputs)
        for n in ends
    )

"""Nodes with side effects or a fixed order: scatter updates, external functions, assignment.

    node = Scatter(x, updates, indices…; op)      x with updates at the indices, in order
         | Custom(operands…; name, …)             an external function, by its symbol
         | Assign(target, x; parts, number)       writes x to the buffer of `target`, or to
                                                  a range of each of its axes
"""

from dataclasses import dataclass

from compiler.core.dtypes import DType
from compiler.graph import extents as rules
from compiler.graph.nodes import Parts, Shape, TensorNode
from compiler.ops.functions import Attributes


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Scatter(TensorNode):
    """`sources[0]` updated by `sources[1]` at positions `sources[2:]`, one int64 tensor per axis.

    The positions have the shape of the updates, which are applied in row-major order by row `op` of
    `updates.UPDATES`. Updates out of bounds are dropped.
    """

    op: str
    _extents = rules.kept


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Custom(TensorNode):
    """The result of the registered external function `name` on the operands."""

    name: str
    attributes: Attributes
    given_shape: Shape
    given_dtype: DType

    def _infer(self) -> tuple[Shape, DType]:
        return self.given_shape, self.given_dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Assign(TensorNode):
    """Writes `sources[1]` to the memory of `sources[0]`: a Buffer, or an earlier Assign to one.

    `parts` has begin, count and step for each axis: only these elements are written; () means all.
    Nodes that read the target see the old value, nodes that read the Assign the new one. `number`
    distinguishes assigns of one value to the same memory: these stay two nodes, because one of
    them may already have run.
    """

    parts: Parts = ()
    number: int = 0

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[0 if self.parts else 1].shape, self.sources[1].dtype

"""The tensor nodes whose order counts: updates, functions from outside, assignment.

    node = Scatter(x, updates, indices…; op)      x with updates at the indices, in order
         | Custom(operands…; name, …)             a function from outside, by its symbol
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
    """`sources[0]` with `sources[1]` at the positions `sources[2:]`: one int64 tensor per axis.

    The positions have the shape of the updates, which are applied in row-major order as row `op`
    of `updates.UPDATES` says. One whose position is outside is left out.
    """

    op: str
    _extents = rules.kept


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Custom(TensorNode):
    """The result of the function that `functions.find` knows as `name`, of its operands."""

    name: str
    attributes: Attributes
    given_shape: Shape
    given_dtype: DType

    def _infer(self) -> tuple[Shape, DType]:
        return self.given_shape, self.given_dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Assign(TensorNode):
    """`sources[1]`, in the memory of `sources[0]`: a Buffer, or an earlier Assign to one.

    `parts` has begin, count and step for each axis: only these elements are written, the others
    keep their values; without it all are. What reads the target reads the value before, what
    reads the Assign the one after. `number` is another one for each assign of a tensor: two that
    write the same value to the same memory are two, of which one may have taken effect.
    """

    parts: Parts = ()
    number: int = 0

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[0 if self.parts else 1].shape, self.sources[1].dtype

"""Kinds that compute nothing: they mark a value, for a reader or for a later stage.

    node = Detach(x) | ContiguousBackward(x)     x; decompose removes them
         | Fuse(x)                     x, to be fused into its users at any cost
         | Unroll(x; factor)           x, a reduction whose innermost loop is to be unrolled
         | Later(x, g)                 x for readers that run after `g` (rematerialisation)
         | Placeholder(shape, dtype, name)                   data passed at run time
"""

from dataclasses import dataclass
from typing import ClassVar

from compiler.core.dtypes import Array, DType
from compiler.graph.extents import kept
from compiler.graph.kinds.composite import Composite, Problem
from compiler.graph.nodes import MOVEMENT, Bitcast, Buffer, Cast, Reduce, Shape, TensorNode

PLACEHOLDER = 0
"""The number of every buffer whose data are passed by name at run time."""
LARGEST_FACTOR = 64
"""The greatest unroll factor: more copies of a loop body only fill the instruction cache. Not
measured."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Marker(Composite):
    """Base of the kinds whose value is that of their operand."""

    colour: ClassVar[str] = "control"

    def reference(self, values: list[Array]) -> Array:
        """The operand."""
        return values[0]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Detach(Marker):
    """x; gradients stop here."""

    def expansion(self) -> TensorNode:
        """detach(x) = x"""
        return self.sources[0]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class ContiguousBackward(Marker):
    """x; its gradient is written to memory."""

    name_in_print: ClassVar[str] = "contiguous_backward"

    def expansion(self) -> TensorNode:
        """contiguous_backward(x) = x"""
        return self.sources[0]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Fuse(Marker):
    """x, fused into all its users; `partition` records that the user requested it."""

    _extents = kept

    @property
    def value(self) -> TensorNode:
        """The node that is recomputed in each user: the operand below any movement."""
        node = self.sources[0]
        while isinstance(node, (Fuse, *MOVEMENT)):
            node = node.sources[0]
        return node


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Later(Marker):
    """x in memory, distinguished from x itself: its users run after the second operand is computed.

    Checkpoints use it, so that recomputation starts only in the backward pass.
    """

    operands: ClassVar[int | None] = 2
    _extents = kept


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Unroll(Marker):
    """x, a reduction perhaps moved or converted: `factor` iterations of its loop become one."""

    factor: int

    def own_problem(self) -> Problem | None:
        """An operand that is no reduction, or a factor out of range."""
        if not 2 <= self.factor <= LARGEST_FACTOR:
            return Problem("the factor is out of range", self.factor, f"2 to {LARGEST_FACTOR}")
        end = self._path()[-1]
        if isinstance(end, Reduce) or (isinstance(end, Composite) and end.is_reduction):
            return None
        got = end.op if hasattr(end, "op") else type(end).__name__.lower()
        return Problem("only the loop of a reduction can be unrolled", got, "a reduction",
                       "call it on the result of sum(), max() or matmul()")  # fmt: skip

    def _path(self) -> list[TensorNode]:
        """The operand and the nodes below it, through movement and casts to the first other node.
        """
        path = [self.sources[0]]
        while isinstance(path[-1], (*MOVEMENT, Cast, Bitcast, Fuse, Unroll)):
            path.append(path[-1].sources[0])
        return path

    def expansion(self) -> TensorNode | None:
        """unroll(reduce(x), n) = reduce(x) unrolled n times"""
        *moves, end = self._path()
        if not isinstance(end, Reduce):
            return None
        reduced: TensorNode = Reduce(end.sources, end.op, end.axes, self.factor)
        for node in reversed(moves):
            reduced = node.with_sources((reduced,))
        return reduced

    def describe(self) -> str:
        """The factor."""
        return str(self.factor)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Placeholder(Composite):
    """Data that do not exist yet: they are passed by name at run time."""

    operands: ClassVar[int | None] = 0
    colour: ClassVar[str] = "buffer"
    given_shape: Shape
    given_dtype: DType
    name: str

    def result(self) -> tuple[Shape, DType]:
        """As declared."""
        return self.given_shape, self.given_dtype

    def own_problem(self) -> Problem | None:
        """A negative extent, or no name."""
        if any(n < 0 for n in self.given_shape):
            return Problem("an extent is negative", self.given_shape, "extents of 0 or more")
        if not self.name:
            return Problem("a placeholder needs a name", "none", "the name its data are given by")
        return None

    def expansion(self) -> TensorNode:
        """placeholder(name) = the buffer of that name, filled when the program runs"""
        return Buffer((), PLACEHOLDER, self.given_shape, self.given_dtype, self.name)

    def describe(self) -> str:
        """The name."""
        return self.name

"""Kinds that compute nothing: they mark a value, for a reader or for a later stage.

    node = Detach(x) | ContiguousBackward(x)     x; decompose takes them away
         | Fuse(x)                     x, to be computed inside its users whatever that costs
         | Unroll(x; factor)           x, a reduction whose innermost loop is to be unrolled
         | Later(x, g)                 x, as what is computed from it once `g` has been
         | Placeholder(shape, dtype, name)                   data given when the program runs
"""

from dataclasses import dataclass
from typing import ClassVar

from compiler.core.dtypes import DType
from compiler.graph.extents import kept
from compiler.graph.kinds.composite import Array, Composite, Problem
from compiler.graph.nodes import MOVEMENT, Bitcast, Buffer, Cast, Reduce, Shape, TensorNode

PLACEHOLDER = 0
"""The number of every buffer whose data are given by name when the program runs."""
LARGEST_FACTOR = 64
"""More copies of a loop's body than this only fill the instruction cache: as many as `unroll` makes
at most. Not measured."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Marker(Composite):
    """Base of the kinds whose value is their operand's."""

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
    """x, computed inside all its users; `partition` records that it was asked for."""

    _extents = kept

    @property
    def value(self) -> TensorNode:
        """The node that is computed where it is read: the operand, looked for through movement."""
        node = self.sources[0]
        while isinstance(node, (Fuse, *MOVEMENT)):
            node = node.sources[0]
        return node


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Later(Marker):
    """x in memory, told from x itself: what reads it is computed when the second operand has been.
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
        """The operand and what it moves or converts, down to the first that does neither."""
        path = [self.sources[0]]
        while isinstance(path[-1], (*MOVEMENT, Cast, Bitcast, Fuse, Unroll)):
            path.append(path[-1].sources[0])
        return path

    def expansion(self) -> TensorNode | None:
        """unroll(reduce(x), n) = reduce(x) unrolled n times"""
        *moves, end = self._path()
        if not isinstance(end, Reduce):
            return None
        made: TensorNode = Reduce(end.sources, end.op, end.axes, self.factor)
        for node in reversed(moves):
            made = node.with_sources((made,))
        return made

    def describe(self) -> str:
        """The factor."""
        return str(self.factor)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Placeholder(Composite):
    """Data that do not exist yet: they are given, by name, when the program runs."""

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

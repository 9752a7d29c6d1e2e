"""Kinds of nodes that say everything about themselves, in one class each.

A composite kind stands in the graph as the user wrote it, and `decompose` replaces it by core
nodes. Its class holds what the stages ask for, so that each of them has one case for all kinds:

    fields, `result`       what it is, its shape and type
    `problem`              what `verify` refuses, with what was got and what is expected
    `reference`            the NumPy meaning, for the graph interpreter
    `expansion`            the core nodes; its docstring is the rule's one line of algebra
    `derivative`           what becomes of a cotangent, where that is not its expansion's
    `describe`, `word`     how it is printed

A kind without an expansion goes on to the schedule, which knows it: `Fuse` and `Kernel`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from compiler.core.dtypes import DType, bool_
from compiler.core.errors import CompileError, GraphError
from compiler.graph.extents import Extents, refused
from compiler.graph.nodes import Shape, TensorNode

Array: TypeAlias = "np.ndarray[Any, Any]"
N = TypeVar("N", bound=TensorNode)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a node is wrong: one sentence, what was found, what is expected, what to do."""

    what: str
    got: object
    expected: object
    hint: str = ""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Composite(TensorNode):
    """Base of the composite kinds; `operands` is how many there are, None for one or more."""

    operands: ClassVar[int | None] = 1
    colour: ClassVar[str] = "movement"
    """The class of node that pictures colour alike."""
    name_in_print: ClassVar[str] = ""

    def _infer(self) -> tuple[Shape, DType]:
        # A wrong node can be made, so that it can be shown and refused: it has no shape yet.
        return ((), bool_) if self.problem() else self.result()

    def _extents(self) -> Extents:
        """Those of the expansion: what is defined there is defined here."""
        made = None if self.problem() else self.expansion()
        return refused(self) if made is None else made.extents

    def result(self) -> tuple[Shape, DType]:
        """Shape and element type of a node without a problem."""
        return self.sources[0].shape, self.sources[0].dtype

    def problem(self) -> Problem | None:
        """The problem of the node; None if it has none."""
        count, wanted = len(self.sources), self.operands
        if count == wanted or (wanted is None and count):
            return self.own_problem()
        expected = "1 or more" if wanted is None else wanted
        return Problem("the number of operands is wrong", count, expected)

    def own_problem(self) -> Problem | None:
        """A problem besides the number of operands."""
        return None

    def reference(self, values: list[Array]) -> Array:
        """The value from those of the operands."""
        raise NotImplementedError(self.word)

    def expansion(self) -> TensorNode | None:
        """The core nodes that compute the same; None if the schedule has to know this kind."""
        return None

    @property
    def has_derivative(self) -> bool:
        """Whether it has a `derivative` of its own."""
        return False

    def derivative(self, g: TensorNode) -> Sequence[TensorNode | None]:
        """The operands' cotangents from this node's: see `derivatives/rules.py`."""
        raise NotImplementedError(self.word)

    def describe(self) -> str:
        """The arguments as printed programs write them."""
        return ""

    @property
    def is_reduction(self) -> bool:
        """Whether the expansion ends in a reduction, perhaps moved or converted."""
        return False

    @property
    def word(self) -> str:
        """The word printed for the node."""
        return self.name_in_print or type(self).__name__.lower()


def checked(node: N, error: type[CompileError] = GraphError) -> N:
    """`node`, or `error` with its problem."""
    found = node.problem() if isinstance(node, Composite) else None
    if found is None:
        return node
    assert isinstance(node, Composite)
    raise error(
        node.word, found.what, got=str(found.got), expected=str(found.expected), hint=found.hint
    )


def same_types(node: TensorNode) -> Problem | None:
    """A problem where the operands differ in type."""
    if len({s.dtype for s in node.sources}) == 1:
        return None
    got = " ".join(s.dtype.name for s in node.sources)
    return Problem("the operands differ in type", got, "one type", "cast them first")


def first_axis_outside(axes: Shape, rank: int) -> Problem | None:
    """A problem where an axis is out of range or named twice."""
    if len(set(axes)) == len(axes) and all(0 <= axis < rank for axis in axes):
        return None
    return Problem("the axes are wrong", axes, f"distinct axes from 0 to {rank - 1}")


def written(values: tuple[Any, ...]) -> str:
    """`(1,0)`, as printed programs write a shape."""
    return f"({','.join(map(str, values))})"

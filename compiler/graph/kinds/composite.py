"""The base class of composite kinds: nodes that `decompose` expands into core nodes.

A composite node is part of the graph as the user wrote it. Its class defines all that the stages
need, so that each of them has one case for all composite kinds:

    fields, `result`       its arguments, its shape and type
    `problem`              the reason for which `verify` rejects it: what was passed, what is right
    `reference`            its NumPy implementation, for the graph interpreter
    `expansion`            its core nodes; the docstring is the rule's one line of algebra
    `derivative`           its derivative rule, if not that of its expansion
    `describe`, `word`     its printed form

Kinds without an expansion, `Fuse` and `Kernel`, are handled by the schedule.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from compiler.core.dtypes import Array, DType, bool_
from compiler.core.errors import CompileError, GraphError
from compiler.graph.extents import Extents, refused
from compiler.graph.nodes import Shape, TensorNode

N = TypeVar("N", bound=TensorNode)


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a node is invalid: a sentence, what was passed, what is expected, a hint."""

    what: str
    got: object
    expected: object
    hint: str = ""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Composite(TensorNode):
    """Base of the composite kinds; `operands` is their number of operands, None for one or more."""

    operands: ClassVar[int | None] = 1
    colour: ClassVar[str] = "movement"
    """The category of the node, which determines its colour in pictures."""
    name_in_print: ClassVar[str] = ""

    def _infer(self) -> tuple[Shape, DType]:
        # An invalid node can be created, so that an error can show it: it has no shape yet.
        return ((), bool_) if self.problem() else self.result()

    def _extents(self) -> Extents:
        """The extents of the expansion, which determines the supported dynamic axes."""
        expanded = None if self.problem() else self.expansion()
        return refused(self) if expanded is None else expanded.extents

    def result(self) -> tuple[Shape, DType]:
        """Shape and element type of a valid node."""
        return self.sources[0].shape, self.sources[0].dtype

    def problem(self) -> Problem | None:
        """The problem of the node; None if it is valid."""
        count, wanted = len(self.sources), self.operands
        if count == wanted or (wanted is None and count):
            return self.own_problem()
        expected = "1 or more" if wanted is None else wanted
        return Problem("the number of operands is wrong", count, expected)

    def own_problem(self) -> Problem | None:
        """Any problem other than the number of operands."""
        return None

    def reference(self, values: list[Array]) -> Array:
        """The value from those of the operands."""
        raise NotImplementedError(self.word)

    def expansion(self) -> TensorNode | None:
        """Core nodes with the same value; None if the schedule handles this kind."""
        return None

    @property
    def has_derivative(self) -> bool:
        """True if it has a `derivative` of its own."""
        return False

    def derivative(self, g: TensorNode) -> Sequence[TensorNode | None]:
        """The cotangents of the operands, from that of this node: see `derivatives/rules.py`."""
        raise NotImplementedError(self.word)

    def describe(self) -> str:
        """The arguments as printed programs write them."""
        return ""

    @property
    def is_reduction(self) -> bool:
        """True if the expansion ends in a reduction, perhaps moved or converted."""
        return False

    @property
    def word(self) -> str:
        """The word printed for the node."""
        return self.name_in_print or type(self).__name__.lower()


def checked(node: N, error: type[CompileError] = GraphError) -> N:
    """`node`; raises `error` with its problem if it has one."""
    wrong = node.problem() if isinstance(node, Composite) else None
    if wrong is None:
        return node
    assert isinstance(node, Composite)
    raise error(
        node.word, wrong.what, got=str(wrong.got), expected=str(wrong.expected), hint=wrong.hint
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

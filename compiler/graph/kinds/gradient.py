"""Gradients in the graph, before `differentiate` expands them into operations.

    node = Backward(y…, g…, x…; pending)    the reverse sweep; no value of its own
         | Gradient(backward; index, …)     the gradient that the sweep computes by x number `index`
         | Wrt(x, unique)                   x, distinguished from other uses of the same value
         | Recalled(x, made)                x, in memory, which was computed as `made`
         | Checkpoint(y, x…, p…; count)     y; the backward pass recomputes (rematerialises) what
                                            is between y and the first `count` other operands
         | Ruled(y, x…; rules)              y, an elementwise function of the x, with its own rules

The first `pending` sources of a Backward are values that the sweep has still to process, in
topological order; then come their cotangents: the derivatives of the result by each value.
`differentiate` processes the last value, accumulates the cotangents of its operands, and goes on
until only the x are left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compiler.core.dtypes import Array, DType, bool_
from compiler.core.node import substitute
from compiler.core.written import place_of
from compiler.graph import extents as rules
from compiler.graph.devices import Devices
from compiler.graph.extents import Extents
from compiler.graph.kinds.composite import Composite, Problem
from compiler.graph.kinds.markers import Detach, Later
from compiler.graph.kinds.placement import Unique
from compiler.graph.nodes import Reduce, Shape, TensorNode


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Backward(Composite):
    """A reverse sweep: values still to be processed, their cotangents, and the requested inputs."""

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    _extents = rules.none
    pending: int

    @property
    def values(self) -> tuple[TensorNode, ...]:
        """The values that the sweep has still to process."""
        return self.sources[: self.pending]

    @property
    def cotangents(self) -> tuple[TensorNode, ...]:
        """The cotangent of each value."""
        return self.sources[self.pending : 2 * self.pending]

    @property
    def inputs(self) -> tuple[TensorNode, ...]:
        """The inputs whose gradients are requested."""
        return self.sources[2 * self.pending :]

    def result(self) -> tuple[Shape, DType]:
        """The shape and type of a Sink, which has no value."""
        return (), bool_

    def own_problem(self) -> Problem | None:
        """Cotangents that differ from their values in shape or type."""
        if self.pending < 0 or len(self.sources) <= 2 * self.pending:
            return Problem("a sweep lacks operands", len(self.sources),
                           f"more than {2 * self.pending}")  # fmt: skip
        for value, cotangent in zip(self.values, self.cotangents, strict=True):
            got, expected = ((it.shape, it.dtype.name) for it in (cotangent, value))
            if got != expected:
                return Problem("a cotangent is not like its value", got, expected)
        return None

    def reference(self, values: list[Array]) -> Array:
        """No value, as a Sink's."""
        return np.zeros((), np.bool_)

    def _placed(self) -> Devices:
        return ()

    def describe(self) -> str:
        """The number of pending values."""
        return f"{self.pending} pending"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Gradient(Composite):
    """The gradient by input `index` of a sweep, with the shape and type of that input."""

    colour: ClassVar[str] = "control"
    index: int

    @property
    def input(self) -> TensorNode:
        """The input that the gradient is by."""
        (sweep,) = self.sources
        assert isinstance(sweep, Backward)
        return sweep.inputs[self.index]

    def result(self) -> tuple[Shape, DType]:
        """The shape and type of the input."""
        return self.input.shape, self.input.dtype

    def own_problem(self) -> Problem | None:
        """A source that is no sweep, or has no such input."""
        (sweep,) = self.sources
        if isinstance(sweep, Backward) and 0 <= self.index < len(sweep.inputs):
            return None
        return Problem("a gradient reads no sweep", type(sweep).__name__.lower(), "backward")

    def __post_init__(self) -> None:
        TensorNode.__post_init__(self)
        object.__setattr__(self, "extents", self._extents())

    def _extents(self) -> Extents:
        return () if self.problem() else self.input.extents

    def _placed(self) -> Devices:
        return () if self.problem() else self.input.devices

    def describe(self) -> str:
        """The number of the input."""
        return f"of input {self.index}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Wrt(Composite):
    """`sources[0]` as the input of a gradient: `sources[1]`, a Unique, distinguishes it from other
    uses of the same value."""

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "control"
    _extents = rules.kept

    def own_problem(self) -> Problem | None:
        """A second source that is no Unique."""
        mark = self.sources[1]
        if isinstance(mark, Unique):
            return None
        return Problem("a wrt has no unique", type(mark).__name__.lower(), "unique")

    def reference(self, values: list[Array]) -> Array:
        """The value."""
        return values[0]

    def expansion(self) -> TensorNode:
        """wrt(x) = x"""
        return self.sources[0]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Recalled(Composite):
    """A value in memory, and the graph that computed it: gradients continue through the graph."""

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "control"
    _extents = rules.kept

    def own_problem(self) -> Problem | None:
        """A value that differs in shape or type from the graph that computed it."""
        value, gradient = ((it.shape, it.dtype.name) for it in self.sources)
        return None if value == gradient else Problem("a value was not made so", value, gradient)

    def reference(self, values: list[Array]) -> Array:
        """The value in memory."""
        return values[0]

    def expansion(self) -> TensorNode:
        """recalled(x, made) = x"""
        return self.sources[0]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Checkpoint(Composite):
    """y = f(x…) as a gradient checkpoint: the backward pass recomputes what is between x and y.

    The operands after the first `count` are the other inputs of f; they stay in memory.
    """

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    _extents = rules.kept
    count: int

    @property
    def inputs(self) -> tuple[TensorNode, ...]:
        """The values x from which y is recomputed."""
        return self.sources[1:]

    def own_problem(self) -> Problem | None:
        """More x than operands."""
        if 0 <= self.count < len(self.sources):
            return None
        return Problem("a checkpoint lacks operands", len(self.sources), f"over {self.count}")

    def reference(self, values: list[Array]) -> Array:
        """y."""
        return values[0]

    def expansion(self) -> TensorNode:
        """checkpoint(y, x…) = y"""
        return self.sources[0]

    def again(self, g: TensorNode) -> tuple[TensorNode, tuple[TensorNode, ...]]:
        """y, recomputed after `g` is available, and the inputs of that recomputation."""
        held = {x: Later((x, g)) for x in self.inputs[: self.count]}
        value = substitute(self.sources[0], held)
        return value, tuple(held.get(each, each) for each in self.inputs)

    def describe(self) -> str:
        """The number of inputs."""
        return f"of {self.count}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Ruled(Composite):
    """`sources[0]`, a function of the other sources, with its own derivative rules.

    Each of the others has a rule of `ops/composed.py`, or None if it has no gradient. A reduction
    has one operand and the rule of a reduction.
    """

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    _extents = rules.kept
    rules: tuple[Callable[..., Any] | None, ...]

    def own_problem(self) -> Problem | None:
        """A wrong number of rules; operands that differ in shape or type from the value."""
        value, *operands = self.sources
        if len(operands) != len(self.rules):
            return Problem("there is not a rule for each operand", len(self.rules), len(operands))
        nameless = [rule for rule in self.rules if rule is not None and not place_of(rule)]
        if nameless:
            return Problem("a rule has no place of its own", nameless[0],
                           "a function at the top of a file of the compiler")  # fmt: skip
        if isinstance(value, Reduce):
            return None if value.sources == (*operands,) else Problem(
                "a rule is of another reduction", len(operands), "its operand")  # fmt: skip
        for each in operands:
            got, expected = ((it.shape, it.dtype.name) for it in (each, value))
            if got != expected:
                return Problem("an operand is not like its value", got, expected)
        return None

    def reference(self, values: list[Array]) -> Array:
        """The value."""
        return values[0]

    def expansion(self) -> TensorNode:
        """ruled(y, x) = y"""
        return self.sources[0]

    @property
    def is_reduction(self) -> bool:
        """True if the value is a reduction."""
        return isinstance(self.sources[0], Reduce)

    def describe(self) -> str:
        """The name of the first rule."""
        return next((rule.__name__ for rule in self.rules if rule is not None), "")


def ruled(
    value: TensorNode, rules: Sequence[Callable[..., Any] | None], *operands: TensorNode
) -> TensorNode:
    """`value` with a derivative rule for each operand; `value` itself for integers."""
    return Ruled((value, *operands), tuple(rules)) if value.dtype.is_float else value


def changed_by(node: TensorNode) -> Sequence[TensorNode]:
    """The sources through which gradients flow: none for detached values and for integers."""
    if isinstance(node, Detach) or not (node.dtype.is_float or isinstance(node, Backward)):
        return ()
    return node.sources[1:] if isinstance(node, Recalled | Ruled) else node.sources


def needed_for(
    order: Sequence[TensorNode], inputs: frozenset[TensorNode]
) -> frozenset[TensorNode]:
    """The values of `order` (topological) that depend differentiably on one of the inputs."""
    needed: set[TensorNode] = set()
    for node in order:
        if node in inputs or any(source in needed for source in changed_by(node)):
            needed.add(node)
    return frozenset(needed)


def reached(root: TensorNode, way: frozenset[TensorNode]) -> set[TensorNode]:
    """The nodes of `way` (from `needed_for`) on which the root depends differentiably."""
    nodes = {root} & way
    waiting = list(nodes)
    while waiting:
        new = {source for source in changed_by(waiting.pop()) if source in way} - nodes
        nodes |= new
        waiting += new
    return nodes

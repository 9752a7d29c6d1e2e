"""Gradients as they stand in a graph until `differentiate` makes them operations.

    node = Backward(y…, g…, x…; pending)    the reverse sweep; no value of its own
         | Gradient(backward; index, …)     what the sweep finds for x number `index`
         | Wrt(x, unique)                   x, told from all that equals it
         | Recalled(x, made)                x, which was computed earlier, as `made` says
         | Checkpoint(y, x…, p…; count)     y, of which the way back computes again what is between
                                            it and the first `count` others
         | Ruled(y, x…; rules)              y, of elements of the x, which changes as the rules say

The first `pending` sources of a Backward are values that the sweep has yet to pass, sources before
users, then what the result changes by for a change of each, its cotangent. `differentiate` takes
the last of them, gives its operands their shares, and so on, until only the x are left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compiler.core.dtypes import DType, bool_
from compiler.core.node import substitute
from compiler.core.written import place_of
from compiler.graph import extents as rules
from compiler.graph.devices import Devices
from compiler.graph.extents import Extents
from compiler.graph.kinds.composite import Array, Composite, Problem
from compiler.graph.kinds.markers import Detach, Later
from compiler.graph.kinds.placement import Unique
from compiler.graph.nodes import Reduce, Shape, TensorNode


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Backward(Composite):
    """A reverse sweep: values that wait, their cotangents, and what gradients are wanted of."""

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    _extents = rules.none
    pending: int

    @property
    def values(self) -> tuple[TensorNode, ...]:
        """The values that the sweep has yet to pass."""
        return self.sources[: self.pending]

    @property
    def cotangents(self) -> tuple[TensorNode, ...]:
        """For each of the values what the result changes by."""
        return self.sources[self.pending : 2 * self.pending]

    @property
    def inputs(self) -> tuple[TensorNode, ...]:
        """What gradients are wanted of."""
        return self.sources[2 * self.pending :]

    def result(self) -> tuple[Shape, DType]:
        """None; as a Sink's."""
        return (), bool_

    def own_problem(self) -> Problem | None:
        """Cotangents that are not like their values."""
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
        """How many values wait."""
        return f"{self.pending} pending"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Gradient(Composite):
    """The change of the result for a change of input `index` of a sweep, like that input."""

    colour: ClassVar[str] = "control"
    index: int

    @property
    def input(self) -> TensorNode:
        """What it is the gradient of."""
        (sweep,) = self.sources
        assert isinstance(sweep, Backward)
        return sweep.inputs[self.index]

    def result(self) -> tuple[Shape, DType]:
        """Those of the input."""
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
        """Which input."""
        return f"of input {self.index}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Wrt(Composite):
    """`sources[0]` as what a gradient is wanted of: `sources[1]`, a Unique, tells it from all
    other uses of that value."""

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
    """A value in memory, and how it was made: gradients go on there."""

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "control"
    _extents = rules.kept

    def own_problem(self) -> Problem | None:
        """A value that is not like what made it."""
        value, made = ((it.shape, it.dtype.name) for it in self.sources)
        return None if value == made else Problem("a value was not made so", value, made)

    def reference(self, values: list[Array]) -> Array:
        """The value in memory."""
        return values[0]

    def expansion(self) -> TensorNode:
        """recalled(x, made) = x"""
        return self.sources[0]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Checkpoint(Composite):
    """y = f(x…): what is between is computed again for gradients, when these have come so far.

    The operands behind the `count` x are what else f reads: it is kept.
    """

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    _extents = rules.kept
    count: int

    @property
    def inputs(self) -> tuple[TensorNode, ...]:
        """What y is computed from."""
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
        """y computed once more, after `g`, and what it is computed from then."""
        held = {x: Later((x, g)) for x in self.inputs[: self.count]}
        made = substitute(self.sources[0], held)
        return made, tuple(held.get(each, each) for each in self.inputs)

    def describe(self) -> str:
        """How many inputs."""
        return f"of {self.count}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Ruled(Composite):
    """`sources[0]`, a function of the others: for each of them a rule of `ops/composed.py`, or None
    where nothing goes there. A reduction has one operand, and the rule of one."""

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    _extents = rules.kept
    rules: tuple[Callable[..., Any] | None, ...]

    def own_problem(self) -> Problem | None:
        """Not a rule for each operand; operands that are not like the value they lead to."""
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
        """Whether the value is one."""
        return isinstance(self.sources[0], Reduce)

    def describe(self) -> str:
        """What the first rule is called."""
        return next((rule.__name__ for rule in self.rules if rule is not None), "")


def ruled(
    value: TensorNode, rules: Sequence[Callable[..., Any] | None], *operands: TensorNode
) -> TensorNode:
    """`value`, which changes with each operand as its rule says; of integers just the value."""
    return Ruled((value, *operands), tuple(rules)) if value.dtype.is_float else value


def changed_by(node: TensorNode) -> Sequence[TensorNode]:
    """The sources with whose changes a value changes: none of what is detached, or no float."""
    if isinstance(node, Detach) or not (node.dtype.is_float or isinstance(node, Backward)):
        return ()
    return node.sources[1:] if isinstance(node, Recalled | Ruled) else node.sources


def needed_for(
    order: Sequence[TensorNode], inputs: frozenset[TensorNode]
) -> frozenset[TensorNode]:
    """The values of `order`, sources before users, that change where one of the inputs does."""
    found: set[TensorNode] = set()
    for node in order:
        if node in inputs or any(source in found for source in changed_by(node)):
            found.add(node)
    return frozenset(found)


def reached(root: TensorNode, way: frozenset[TensorNode]) -> set[TensorNode]:
    """Those of `way`, as `needed_for` gives it, with whose changes the root changes."""
    found = {root} & way
    waiting = list(found)
    while waiting:
        new = {source for source in changed_by(waiting.pop()) if source in way} - found
        found |= new
        waiting += new
    return found

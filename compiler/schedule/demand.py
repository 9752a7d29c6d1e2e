"""Demands: who reads a value, in which kernel, under which index.

A kernel's loops are its output axes, outermost first, and inside them the axes of each
reduction; an extent that is a variable counts as its maximum. An expression is computed in the
outermost loop that has all axes it depends on, so the loops around that place, divided by those
it depends on, tell how often it is repeated.
"""

import math
from dataclasses import dataclass, field

from compiler.graph.dependence import Dependence, gathered, loop_index, source_dependence, union
from compiler.graph.kinds.effects import Assign, Scatter
from compiler.graph.nodes import Elementwise, Index, Prefix, Reduce, TensorNode


@dataclass(slots=True, eq=False)
class KernelPlan:
    """A kernel being formed: its root, its axes so far, its number of operations."""

    root: TensorNode
    operations: int = 0
    extents: list[int] = field(default_factory=list)
    outputs: int = 0
    paths: dict[int, int] = field(default_factory=dict)
    """For each reduction axis the bit set of the axes of the loops around it."""
    inner: dict[tuple[TensorNode, Dependence], Dependence] = field(default_factory=dict)

    updates: dict[Scatter, Dependence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.extents = list(self.written.shape)
        self.outputs = len(self.extents)

    @property
    def written(self) -> TensorNode:
        """The node that the kernel writes: for an assign its value, maybe a part of the root."""
        return self.root.sources[1] if isinstance(self.root, Assign) else self.root

    @property
    def size(self) -> int:
        """Elements the kernel writes."""
        return self.written.size

    @property
    def dependence(self) -> Dependence:
        """The root's own: each axis depends on itself."""
        return tuple(loop_index(axis, n) for axis, n in enumerate(self.written.shape))

    def path(self, axes: int) -> int:
        """The axes of all loops around the place where an expression over `axes` is computed."""
        outputs = axes & ((1 << self.outputs) - 1)
        result = (1 << outputs.bit_length()) - 1
        for axis in range(self.outputs, len(self.extents)):
            if axes >> axis & 1:
                result |= self.paths[axis]
        return result

    def iterations(self, axes: int) -> int:
        """The product of the extents of `axes`."""
        return math.prod(n for axis, n in enumerate(self.extents) if axes >> axis & 1)

    def reduce_axes(self, node: Reduce, dependence: Dependence) -> Dependence:
        """The dependence of a reduction's source; its axes become loops of this kernel."""
        known = self.inner.get((node, dependence))
        if known is not None:
            return known
        around = self.path(union(dependence))
        result = list(dependence)
        for axis in node.axes:
            extent = node.sources[0].shape[axis]
            number = len(self.extents)
            self.extents.append(extent)
            around |= 1 << number
            self.paths[number] = around
            result[axis] = loop_index(number, extent)
        self.inner[node, dependence] = tuple(result)
        return tuple(result)

    def update_axes(self, node: Scatter) -> Dependence:
        """The dependence of the updates of a scatter: loops of their own, after the others."""
        known = self.updates.get(node)
        if known is not None:
            return known
        around, result = 0, []
        for extent in node.sources[1].shape:
            number = len(self.extents)
            self.extents.append(extent)
            around |= 1 << number
            self.paths[number] = around
            result.append(loop_index(number, extent))
        self.updates[node] = tuple(result)
        return tuple(result)


@dataclass(frozen=True, slots=True)
class Demand:
    """A value is read in kernel `plan` under this index. Equal demands read equal elements."""

    plan: KernelPlan
    dependence: Dependence

    def below(self, node: TensorNode, operand: int = 0) -> "Demand":
        """The demand that `node`, computed under this demand, makes on one of its sources."""
        if isinstance(node, Elementwise):
            return self
        if isinstance(node, Index):
            return self if operand else Demand(self.plan, gathered(node, self.dependence))
        if isinstance(node, Scatter):
            return Demand(self.plan, self.plan.update_axes(node)) if operand else self
        if isinstance(node, Prefix) and operand:
            return Demand(self.plan, ())
        if isinstance(node, Reduce):
            return Demand(self.plan, self.plan.reduce_axes(node, self.dependence))
        dependence = source_dependence(node, self.dependence)
        return self if dependence is self.dependence else Demand(self.plan, dependence)

    @property
    def axes(self) -> int:
        """All axes the value depends on, as a bit set."""
        return union(self.dependence)

    @property
    def is_in_reduction(self) -> bool:
        """Whether the value is read inside a reduction's loops."""
        return self.axes >> self.plan.outputs != 0

    @property
    def evaluations(self) -> int:
        """How often the value is computed if it is fused here."""
        return self.plan.iterations(self.plan.path(self.axes))

    @property
    def repeats(self) -> int:
        """How often each element is computed if the value is fused here."""
        return self.evaluations // max(self.plan.iterations(self.axes), 1)

    def blocking_axes(self) -> str:
        """In words: the loops around the value that its index does not depend on."""
        around = self.plan.path(self.axes) & ~self.axes
        extents = [n for a, n in enumerate(self.plan.extents) if around >> a & 1 and n != 1]
        return "its index does not use the loop of " + " × ".join(map(str, extents)) + " around it"

    def describe(self) -> str:
        """In words: the loops the value depends on."""
        extents = [n for a, n in enumerate(self.plan.extents) if self.axes >> a & 1]
        return " × ".join(map(str, extents))

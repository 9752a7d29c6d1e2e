"""Demands: the readers of a value, each with its kernel and its index.

The loops of a kernel are its output axes, outermost first, and inside them the axes of each
reduction; a dynamic extent counts as its maximum. Loop-invariant code motion computes an expression
in the outermost loop that has all axes it depends on. So the iterations of the loops around that
place, divided by those of the axes it depends on, are the number of repetitions.
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
    """For each reduction axis, the bit set of the axes of its enclosing loops."""
    inner: dict[tuple[TensorNode, Dependence], Dependence] = field(default_factory=dict)

    updates: dict[Scatter, Dependence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.extents = list(self.written.shape)
        self.outputs = len(self.extents)

    @property
    def written(self) -> TensorNode:
        """The node that the kernel writes: for an assign its value, perhaps a part of the root."""
        return self.root.sources[1] if isinstance(self.root, Assign) else self.root

    @property
    def size(self) -> int:
        """The number of elements that the kernel writes."""
        return self.written.size

    @property
    def dependence(self) -> Dependence:
        """The dependence of the root: each axis depends on itself."""
        return tuple(loop_index(axis, n) for axis, n in enumerate(self.written.shape))

    def path(self, axes: int) -> int:
        """The axes of all loops around the point where an expression over `axes` is computed."""
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
        axes = self.inner.get((node, dependence))
        if axes is not None:
            return axes
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
        """The dependence of the updates of a scatter: its own loops, after the others."""
        axes = self.updates.get(node)
        if axes is not None:
            return axes
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
    """A read of a value in kernel `plan` at an index. Equal demands read the same elements."""

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
        """True if the value is read inside the loops of a reduction."""
        return self.axes >> self.plan.outputs != 0

    @property
    def evaluations(self) -> int:
        """The number of times that the value is computed if it is fused here."""
        return self.plan.iterations(self.plan.path(self.axes))

    @property
    def repeats(self) -> int:
        """The number of times that each element is computed if the value is fused here."""
        return self.evaluations // max(self.plan.iterations(self.axes), 1)

    def blocking_axes(self) -> str:
        """The enclosing loops that the index does not depend on, as text."""
        around = self.plan.path(self.axes) & ~self.axes
        extents = [n for a, n in enumerate(self.plan.extents) if around >> a & 1 and n != 1]
        return "its index does not use the loop of " + " × ".join(map(str, extents)) + " around it"

    def describe(self) -> str:
        """The loops that the value depends on, as text."""
        extents = [n for a, n in enumerate(self.plan.extents) if self.axes >> a & 1]
        return " × ".join(map(str, extents))

"""A step repeated: the state after `count` iterations, each of which makes the next of the last.

    %3 = repeat %0, %1   8 iterations, state 0

The body is a graph of its own under a Sink: its roots are the next states, Param k is state k of
the iteration, the Params behind them are what else the step reads, and the Variable `counter`
counts the iterations from 0. Walking a graph never enters a body.
"""

from dataclasses import dataclass

from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.graph.devices import Devices, common_devices
from compiler.graph.nodes import Param, Shape, Sink, TensorNode, Variable


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Repeat(TensorNode):
    """State `index` after `count` iterations of `body`.

    The sources are the first states, then the rest. A loop of several states is several nodes that
    differ in `index` only, and runs once.
    """

    body: Sink
    counter: str
    count: int
    index: int

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[self.index].shape, self.sources[self.index].dtype

    def _placed(self) -> Devices:
        """Where its state begins: those of a loop over shards are on different devices."""
        return self.sources[self.index].devices or common_devices(self)

    @property
    def states(self) -> int:
        """How many tensors go from iteration to iteration."""
        return len(self.body.sources)

    @property
    def parameters(self) -> tuple[Param, ...]:
        """The Params of the body, in the order in which it meets them."""
        return tuple(node for node in toposort([self.body]) if isinstance(node, Param))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The counter as the body reads it, if it does."""
        return tuple(node for node in toposort([self.body]) if isinstance(node, Variable))

    @property
    def loop(self) -> tuple[object, ...]:
        """The key that the nodes of one loop have in common."""
        return self.sources, self.body, self.counter, self.count

    def problem(self) -> str:
        """The problem of the node; "" if it has none."""
        if not 0 < self.states <= len(self.sources) or not 0 <= self.index < self.states:
            return f"{self.states} states of {len(self.sources)} sources, state {self.index}"
        if self.count < 1:
            return f"{self.count} iterations"
        for number, (new, old) in enumerate(zip(self.body.sources, self.sources, strict=False)):
            if (new.shape, new.dtype) != (old.shape, old.dtype):
                was, becomes = (f"{x.dtype.short}{list(x.shape)}" for x in (old, new))
                return f"state {number} is {was} and becomes {becomes}"
        for param in self.parameters:
            source = self.sources[param.slot] if param.slot < len(self.sources) else None
            if source is None or (source.shape, source.dtype) != (param.shape, param.dtype):
                return f"param {param.slot} of the body is no source"
        for variable in self.variables:
            if variable.name != self.counter:
                return f"the body reads variable {variable.name}, which is not its counter"
        return ""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Placed(Param):
    """A Param of a body of which it is known where it is: while that is sharded."""

    device: str

    def _placed(self) -> Devices:
        return (self.device,)


def with_iterations(root: TensorNode) -> list[TensorNode]:
    """All nodes of a graph, sources first, then those of the bodies of its loops, each once."""
    found: dict[TensorNode, None] = dict.fromkeys(toposort([root]))
    for node in [node for node in found if isinstance(node, Repeat)]:
        found.update(dict.fromkeys(with_iterations(node.body)))
    return list(found)


def inside(node: TensorNode) -> list[TensorNode]:
    """A node, and all that a loop does in its iterations."""
    return [node, *(with_iterations(node.body) if isinstance(node, Repeat) else ())]


def counter_of(name: str, count: int) -> Variable:
    """The variable that counts `count` iterations from 0."""
    return Variable((), name, 0, max(count - 1, 0))

"""A counted loop (like `fori_loop` or `scan` of JAX): the state after `count` iterations.

    %3 = repeat %0, %1   8 iterations, state 0

The body is a graph of its own under a Sink. Its roots are the next states; Param k is state k of
the iteration, further Params are the other, loop-invariant inputs, and the Variable `counter` is
the number of the iteration, from 0. Graph traversals never enter a body.
"""

from dataclasses import dataclass

from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.graph.devices import Devices, common_devices
from compiler.graph.nodes import Param, Shape, Sink, TensorNode, Variable


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Repeat(TensorNode):
    """State `index` of a counted loop after `count` iterations of `body`.

    The sources are the initial states, then the other inputs. A loop with several states is
    represented by several nodes that differ in `index` only; it runs once.
    """

    body: Sink
    counter: str
    count: int
    index: int

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[self.index].shape, self.sources[self.index].dtype

    def _placed(self) -> Devices:
        """The device of its initial state: the states of a loop over shards are on several."""
        return self.sources[self.index].devices or common_devices(self)

    @property
    def states(self) -> int:
        """The number of loop-carried tensors."""
        return len(self.body.sources)

    @property
    def parameters(self) -> tuple[Param, ...]:
        """The Params of the body, in topological order."""
        return tuple(node for node in toposort([self.body]) if isinstance(node, Param))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The counter, if the body reads it."""
        return tuple(node for node in toposort([self.body]) if isinstance(node, Variable))

    @property
    def loop(self) -> tuple[object, ...]:
        """The key that all nodes of one loop share."""
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
    """A Param with known devices, used while the body of a loop is sharded."""

    device: str

    def _placed(self) -> Devices:
        return (self.device,)


def with_iterations(root: TensorNode) -> list[TensorNode]:
    """All nodes of a graph in topological order, then those of its loop bodies, each once."""
    nodes: dict[TensorNode, None] = dict.fromkeys(toposort([root]))
    for node in [node for node in nodes if isinstance(node, Repeat)]:
        nodes.update(dict.fromkeys(with_iterations(node.body)))
    return list(nodes)


def inside(node: TensorNode) -> list[TensorNode]:
    """A node, followed by the nodes of its body if it is a loop."""
    return [node, *(with_iterations(node.body) if isinstance(node, Repeat) else ())]


def counter_of(name: str, count: int) -> Variable:
    """The variable that counts `count` iterations from 0."""
    return Variable((), name, 0, max(count - 1, 0))

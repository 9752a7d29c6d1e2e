"""The kernel graph while it is built: its calls, and the nodes that hold each value."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.core.errors import DataError
from compiler.core.node import Node
from compiler.core.origin import Origin
from compiler.core.trace import PassRecord, Provenance
from compiler.graph.nodes import Buffer, Param, Sink, TensorNode, Variable
from compiler.graph.words import operation
from compiler.schedule.carry import Carried
from compiler.schedule.general_body import General
from compiler.schedule.kinds import Bind, KernelSink
from compiler.schedule.partition import Choice, Partition


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of a loop: the next states, the partition, and the records of its passes."""

    root: Sink
    parts: Partition
    carried: Carried
    """The states that get one new row in each iteration; the root computes the row."""
    records: Sequence[PassRecord] = ()
    """The records of the graph passes on the iteration."""
    lines: Provenance[Origin] = field(default_factory=Provenance)
    """The user's lines that each node of the iteration comes from."""

    @property
    def kept(self) -> tuple[Choice, ...]:
        """The decisions to store values that might have been fused."""
        return tuple(choice for choice in self.parts.choices if not choice.is_fused)


@dataclass(slots=True)
class Outlined:
    """The kernel graph, with the provenance of its nodes and bodies: their tensor nodes."""

    root: KernelSink
    bodies: dict[Sink, str] = field(default_factory=dict)
    """Each distinct body with its name, in order of first use; users' kernels first."""
    origins: Provenance[TensorNode] = field(default_factory=Provenance)
    """For kernel-graph nodes and body nodes, the tensor nodes that they come from."""
    buffers: dict[TensorNode, Node] = field(default_factory=dict)
    """For each stored node (and input) the kernel-graph node that holds its value."""
    readers: dict[TensorNode, list[Node]] = field(default_factory=dict)
    """For each stored node (and input) the calls that read it."""
    iterations: Mapping[Sink, Iteration] = field(default_factory=dict)
    """One iteration for the body of each loop."""
    names: Iterator[str] = field(default_factory=lambda: (f"k{n}" for n in itertools.count()))
    """Names for bodies without a name."""
    numbers: Iterator[int] = field(default_factory=itertools.count)
    """Numbers for new buffers."""
    ranges: Iterator[int] = field(default_factory=itertools.count)
    """Numbers for loops."""
    loops: dict[tuple[object, ...], list[Node]] = field(default_factory=dict)
    """For each loop the nodes that hold its states after the last iteration."""
    reasons: dict[Buffer, str] = field(default_factory=dict)
    """For buffers created in loops, the reason why their values were not fused."""
    inside_iterations: dict[Node, frozenset[TensorNode]] = field(default_factory=dict)
    """For nodes created in loops, the nodes of the iteration that they come from."""
    runs: list[Node] = field(default_factory=list)
    """Every call, or its End if it is in an inner loop."""
    placeless: set[Buffer] = field(default_factory=set)
    """Buffers computed from constants and files alone: other devices read a copy of them."""
    copies: dict[tuple[TensorNode, str], Node] = field(default_factory=dict)
    """For values on no device, the node that holds their copy on a device."""
    general: Mapping[Sink, General] = field(default_factory=dict)
    """General bodies, for bodies that differ only in the offsets of their reads."""
    given: set[Sink] = field(default_factory=set)
    """The bodies of users' kernels."""
    owner: TensorNode | None = None
    """The loop whose iteration is outlined: the origin of all new nodes."""
    counter: Bind | None = None
    """The node that passes the iteration number to calls in the loop."""

    def inside(self, owner: TensorNode, counter: Bind) -> "Outlined":
        """The same kernel graph, to outline an iteration of the loop `owner`."""
        return Outlined(
            self.root, self.bodies, self.origins, iterations=self.iterations, names=self.names,
            numbers=self.numbers, ranges=self.ranges, reasons=self.reasons,
            inside_iterations=self.inside_iterations, placeless=self.placeless,
            general=self.general, given=self.given,
            owner=self.owner or owner, counter=counter,
        )  # fmt: skip

    def note(self, node: Node, nodes: frozenset[TensorNode]) -> None:
        """Record that `node` comes from these nodes, or, inside an iteration, from the loop."""
        self.origins.add(node, frozenset((self.owner,)) if self.owner else nodes)
        if self.owner:
            self.inside_iterations[node] = self.inside_iterations.get(node, frozenset()) | nodes

    def name_of(self, body: Sink) -> str:
        """The name of a body; a new body gets the first free one of k0, k1, …"""
        if body not in self.bodies:
            taken = set(self.bodies.values())
            self.bodies[body] = next(k for k in self.names if k not in taken)
        return self.bodies[body]

    def holder(self, node: TensorNode) -> Node:
        """The kernel-graph node that holds `node`'s value: an After, or an input buffer."""
        if node not in self.buffers:
            if isinstance(node, Param | Variable):
                raise outside(node)
            assert isinstance(node, Buffer)
            self.buffers[node] = node
            self.note(node, frozenset((node,)))
        return self.buffers[node]

    def new_buffer(self, node: TensorNode, device: str) -> Buffer:
        """A buffer for the value of `node`."""
        number = next(self.numbers)
        return Buffer((), -1 - number, node.shape, node.dtype, f"tmp{number}", device)


def outside(node: TensorNode) -> DataError:
    """The error for a loop state that is read outside the step of the loop."""
    return DataError(
        operation(node), "a state of a loop has no value outside of the step",
        got=f"{node.dtype.short}{list(node.shape)}", expected="tensors of the program",
        hint="return the state from the step: repeat returns its last value",
    )  # fmt: skip

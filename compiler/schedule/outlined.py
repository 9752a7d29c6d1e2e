"""A kernel graph in the making: its calls, and which of its nodes hold which values."""

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
    """One iteration of a loop: the next states, cut into parts, and how they got so."""

    root: Sink
    parts: Partition
    carried: Carried
    """The states of which only a row is carried over; the root has the row."""
    records: Sequence[PassRecord] = ()
    """The graph passes on the iteration: what each did."""
    lines: Provenance[Origin] = field(default_factory=Provenance)
    """For the nodes of the iteration the user's lines that they come from."""

    @property
    def kept(self) -> tuple[Choice, ...]:
        """Why nodes are written to memory that might have been fused."""
        return tuple(choice for choice in self.parts.choices if not choice.is_fused)


@dataclass(slots=True)
class Outlined:
    """The kernel graph with, for its nodes and for bodies, the tensor nodes they come from."""

    root: KernelSink
    bodies: dict[Sink, str] = field(default_factory=dict)
    """Each distinct body with its name, in order of first use; users' kernels first."""
    origins: Provenance[TensorNode] = field(default_factory=Provenance)
    """For kernel-graph nodes and body nodes: the tensor nodes they stand for."""
    buffers: dict[TensorNode, Node] = field(default_factory=dict)
    """For each realized node (and input) the kernel-graph node that holds its value."""
    readers: dict[TensorNode, list[Node]] = field(default_factory=dict)
    """For each realized node (and input) the calls that read it."""
    iterations: Mapping[Sink, Iteration] = field(default_factory=dict)
    """For the body of each loop one iteration of it."""
    names: Iterator[str] = field(default_factory=lambda: (f"k{n}" for n in itertools.count()))
    """Names for bodies that have none."""
    numbers: Iterator[int] = field(default_factory=itertools.count)
    """The numbers of the buffers made."""
    ranges: Iterator[int] = field(default_factory=itertools.count)
    """The numbers of the loops."""
    loops: dict[tuple[object, ...], list[Node]] = field(default_factory=dict)
    """For each loop the nodes that hold its states after the last iteration."""
    reasons: dict[Buffer, str] = field(default_factory=dict)
    """For buffers made in loops why their values were not fused."""
    inside_iterations: dict[Node, frozenset[TensorNode]] = field(default_factory=dict)
    """For the nodes made in loops the nodes of the iteration that they stand for."""
    runs: list[Node] = field(default_factory=list)
    """Every call, or its End where it is in a loop inside."""
    placeless: set[Buffer] = field(default_factory=set)
    """Buffers computed from constants and files alone: any device may read them, from a copy."""
    copies: dict[tuple[TensorNode, str], Node] = field(default_factory=dict)
    """For values that are in no place: what holds their copy on a device."""
    general: Mapping[Sink, General] = field(default_factory=dict)
    """What stands for the bodies that are equal to another but for where they read."""
    given: set[Sink] = field(default_factory=set)
    """The bodies of users' kernels."""
    owner: TensorNode | None = None
    """The loop whose iteration this is: what all nodes made come from."""
    counter: Bind | None = None
    """The node that gives a call in the loop the number of its iteration."""

    def inside(self, owner: TensorNode, counter: Bind) -> "Outlined":
        """The same kernel graph, to outline an iteration of the loop `owner`."""
        return Outlined(
            self.root, self.bodies, self.origins, iterations=self.iterations, names=self.names,
            numbers=self.numbers, ranges=self.ranges, reasons=self.reasons,
            inside_iterations=self.inside_iterations, placeless=self.placeless,
            general=self.general, given=self.given,
            owner=self.owner or owner, counter=counter,
        )  # fmt: skip

    def note(self, made: Node, nodes: frozenset[TensorNode]) -> None:
        """`made` comes from these nodes; in an iteration of a loop from the loop."""
        self.origins.add(made, frozenset((self.owner,)) if self.owner else nodes)
        if self.owner:
            self.inside_iterations[made] = self.inside_iterations.get(made, frozenset()) | nodes

    def name_of(self, body: Sink) -> str:
        """The name of a body: the first of k0, k1, … that is free, unless it has one."""
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
    """The error for a state of a loop that is asked for outside the loop's step."""
    return DataError(
        operation(node), "a state of a loop has no value outside of the step",
        got=f"{node.dtype.short}{list(node.shape)}", expected="tensors of the program",
        hint="give the state back from the step: repeat returns its last value",
    )  # fmt: skip

"""The schedule: ordered items, with dependencies, analysis, critical path and slack.

    schedule   = items  dependencies  analysis  critical path  slack
    item       = id  operation  depends_on  dependents
    operation  = Kernel(name, body, arguments)              machine code on a device
               | MemoryTransfer(source, destination, dims)  a copy, pitched where strides are given
               | Synchronization(barrier | fence | event)   orders, moves no data
               | HostCallback(function, arguments)          a Python function
    dependency = from  to  kind ∈ {data, anti, output, control}  buffers  bytes
    analysis   = flops  bytes read  bytes written  estimated ns

Every operation has `name`, `arguments`, `reads`, `writes` and `devices`. Items are numbered in
the order they run in. `depends_on` and `dependencies` agree (verified).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.core.node import toposort
from compiler.graph.nodes import Buffer, Shape, Sink, TensorNode, Variable
from compiler.schedule.access import Scope, SynchronizationKind, slots_of
from compiler.schedule.kinds import Fixed as Fixed
from compiler.schedule.kinds import Region

DependencyKind = Literal["data", "anti", "output", "control"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Run the compiled `body` on `arguments`, one per Param.

    `fixed` are the values of loop counters and offsets, by name; the user provides those of other
    variables.
    """

    name: str
    body: Sink
    arguments: tuple[Buffer, ...]
    device: str = "CPU"
    fixed: Fixed = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of variables that the body reads and that are not fixed."""
        read: list[TensorNode] = toposort([self.body])
        names = {node.name for node in read if isinstance(node, Variable)}
        return tuple(sorted(names - dict(self.fixed).keys()))

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The buffers that are read, each once: all except those that the body only writes."""
        read, written = slots_of(self.body)
        only_written = written - read
        buffers = (b for slot, b in enumerate(self.arguments) if slot not in only_written)
        return tuple(dict.fromkeys(buffers))

    @property
    def writes(self) -> tuple[Buffer, ...]:
        """The buffers that a Store of the body names, each once."""
        _, written = slots_of(self.body)
        written_to = (b for slot, b in enumerate(self.arguments) if slot in written)
        return tuple(dict.fromkeys(written_to))

    @property
    def devices(self) -> tuple[str, ...]:
        """The device it runs on."""
        return (self.device,)


@dataclass(frozen=True, slots=True)
class MemoryTransfer:
    """Copy `dims` elements; strides and offsets count elements, None is row-major.

    On one host it is finished when the next item starts, whatever `is_async` and `stream` are.
    """

    name: str
    source: Buffer
    destination: Buffer
    source_device: str
    destination_device: str
    dims: Shape
    source_strides: Shape | None = None
    destination_strides: Shape | None = None
    nbytes: int = 0
    """The number of copied bytes."""
    is_async: bool = False
    stream: int | None = None
    source_offset: int = 0
    destination_offset: int = 0

    @property
    def arguments(self) -> tuple[Buffer, ...]:
        """The destination, then the source."""
        return self.destination, self.source

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The source."""
        return (self.source,)

    @property
    def writes(self) -> tuple[Buffer, ...]:
        """The destination."""
        return (self.destination,)

    @property
    def devices(self) -> tuple[str, ...]:
        """The source device and the destination device."""
        return tuple(dict.fromkeys((self.source_device, self.destination_device)))

    @property
    def is_pitched(self) -> bool:
        """True if either side has strides other than row-major."""
        return self.source_strides is not None or self.destination_strides is not None

    @property
    def region(self) -> Region:
        """The elements that are copied."""
        return Region(
            self.dims, self.source_strides, self.destination_strides,
            self.source_offset, self.destination_offset,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Synchronization:
    """Order the work of `devices`.

    No work is moved across a barrier; a fence makes writes visible; an event with number `event`
    is signalled by one item and waited for (`is_wait`) by others.
    """

    name: str
    kind: SynchronizationKind
    event: int | None = None
    is_wait: bool = False
    scope: Scope = "device"
    devices: tuple[str, ...] = ("CPU",)
    stream: int | None = None

    @property
    def arguments(self) -> tuple[Buffer, ...]:
        """No buffers: it moves no data."""
        return ()

    reads = writes = arguments


@dataclass(frozen=True, slots=True)
class HostCallback:
    """Call the registered `function` on `arguments`, flat arrays; `read`, `written` are slots."""

    name: str
    function: str
    arguments: tuple[Buffer, ...]
    read: tuple[int, ...]
    written: tuple[int, ...]
    fixed: Fixed = ()

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        """The buffers that it reads, each once."""
        return tuple(dict.fromkeys(self.arguments[slot] for slot in self.read))

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """The buffers it may write, each once."""
        return tuple(dict.fromkeys(self.arguments[slot] for slot in self.written))

    reads, writes = inputs, outputs

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of its arguments; the host runs it."""
        return tuple(dict.fromkeys(b.device for b in self.arguments)) or ("CPU",)


Operation: TypeAlias = Kernel | MemoryTransfer | Synchronization | HostCallback
WORDS: dict[type[Operation], str] = {
    Kernel: "kernel", MemoryTransfer: "transfer", Synchronization: "sync", HostCallback: "callback",
}  # fmt: skip
"""The printed names of the operations."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """Item `producer` must finish before `consumer` starts, because of `buffers`.

    data: read after write (RAW); anti: write after read (WAR); output: write after write (WAW);
    control: order only.
    """

    producer: int
    consumer: int
    kind: DependencyKind
    buffers: tuple[Buffer, ...]

    @property
    def nbytes(self) -> int:
        """The bytes that flow along the edge; 0 for an edge that only orders."""
        return sum(b.nbytes for b in self.buffers) if self.kind == "data" else 0


@dataclass(frozen=True, slots=True)
class ScheduleItem:
    """One step of the program."""

    item_id: int
    operation: Operation
    depends_on: tuple[int, ...]
    dependents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ItemAnalysis:
    """The costs of an item: operations, bytes, and estimated time.

    `registers` is the most values live at once, `occupancy` the vectorised share of the work
    (0 … 1); both are 0 where the loops are not known.
    """

    item_id: int
    flops: int
    bytes_read: int
    bytes_written: int
    estimated_ns: int
    registers: int = 0
    occupancy: float = 0.0
    bound: str = ""
    """The bottleneck of the estimate: "launch", "computing" (with data in the L1 cache), "latency",
    or moving data: "L2", "L3", "memory". "" for synchronisations and functions of the user."""

    @property
    def cost(self) -> int:
        """The nanoseconds that count for the critical path: at least 1."""
        return max(1, self.estimated_ns)


@dataclass(frozen=True, slots=True)
class ItemTiming:
    """The earliest and latest start of an item, in nanoseconds from the start of the program."""

    item_id: int
    earliest_start: int
    latest_start: int
    cost: int

    @property
    def slack(self) -> int:
        """The time by which the item may be delayed without delaying the end of the program."""
        return self.latest_start - self.earliest_start

    @property
    def is_critical(self) -> bool:
        """True if a delay of the item would delay the end: it is on a longest path."""
        return self.slack == 0

    @property
    def finish(self) -> int:
        """The earliest end of the item."""
        return self.earliest_start + self.cost

"""The schedule: items in an order, with dependencies, analysis, critical path and slack.

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

    `fixed` are the values of loop counters, and of where it reads, by name; other variables are
    given by the user.
    """

    name: str
    body: Sink
    arguments: tuple[Buffer, ...]
    device: str = "CPU"
    fixed: Fixed = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the body reads and no loop counts in, by name."""
        read: list[TensorNode] = toposort([self.body])
        names = {node.name for node in read if isinstance(node, Variable)}
        return tuple(sorted(names - dict(self.fixed).keys()))

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The buffers read, each once: all but those that the body only writes."""
        read, written = slots_of(self.body)
        only_written = written - read
        found = (b for slot, b in enumerate(self.arguments) if slot not in only_written)
        return tuple(dict.fromkeys(found))

    @property
    def writes(self) -> tuple[Buffer, ...]:
        """The buffers that a Store of the body names, each once."""
        _, written = slots_of(self.body)
        found = (b for slot, b in enumerate(self.arguments) if slot in written)
        return tuple(dict.fromkeys(found))

    @property
    def devices(self) -> tuple[str, ...]:
        """Where it runs."""
        return (self.device,)


@dataclass(frozen=True, slots=True)
class MemoryTransfer:
    """Copy `dims` elements; strides and offsets count elements, None is row-major.

    On one host it has happened when the next item starts, whatever `is_async` and `stream` say.
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
    """Bytes copied."""
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
        """From which device, to which."""
        return tuple(dict.fromkeys((self.source_device, self.destination_device)))

    @property
    def is_pitched(self) -> bool:
        """Whether either side has strides of its own."""
        return self.source_strides is not None or self.destination_strides is not None

    @property
    def region(self) -> Region:
        """Which elements are copied."""
        return Region(
            self.dims, self.source_strides, self.destination_strides,
            self.source_offset, self.destination_offset,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Synchronization:
    """Order the work of `devices`.

    A barrier lets nothing pass, a fence makes writes visible, an event with number `event` is
    signalled by one item and waited for (`is_wait`) by others.
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
        """None: it moves no data."""
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
        """The buffers read, each once."""
        return tuple(dict.fromkeys(self.arguments[slot] for slot in self.read))

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """The buffers it may write, each once."""
        return tuple(dict.fromkeys(self.arguments[slot] for slot in self.written))

    reads, writes = inputs, outputs

    @property
    def devices(self) -> tuple[str, ...]:
        """The host runs it: the devices of its arguments."""
        return tuple(dict.fromkeys(b.device for b in self.arguments)) or ("CPU",)


Operation: TypeAlias = Kernel | MemoryTransfer | Synchronization | HostCallback
WORDS: dict[type[Operation], str] = {
    Kernel: "kernel", MemoryTransfer: "transfer", Synchronization: "sync", HostCallback: "callback",
}  # fmt: skip
"""The words of printed schedules for the operations."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """Item `producer` must finish before `consumer` starts, because of `buffers`.

    data: read after write; anti: write after read; output: write after write; control: nothing
    but the order.
    """

    producer: int
    consumer: int
    kind: DependencyKind
    buffers: tuple[Buffer, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that flow along the edge (0 for an edge that only orders)."""
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
    """The costs of an item: operations, bytes, and the time they should take.

    `registers` are the most values alive at once, `occupancy` the share of the work (0 … 1) that
    runs in vectors; both are 0 where the loops are not known.
    """

    item_id: int
    flops: int
    bytes_read: int
    bytes_written: int
    estimated_ns: int
    registers: int = 0
    occupancy: float = 0.0
    bound: str = ""
    """Most of the estimate: "launch", "computing" (with data in the first cache), "latency", or
    moving data: "L2", "L3", "memory". "" of what only orders or is a function of the user's."""

    @property
    def cost(self) -> int:
        """Nanoseconds that the critical path counts: at least 1."""
        return max(1, self.estimated_ns)


@dataclass(frozen=True, slots=True)
class ItemTiming:
    """When an item can start and when it must, nanoseconds from the start of the program."""

    item_id: int
    earliest_start: int
    latest_start: int
    cost: int

    @property
    def slack(self) -> int:
        """How much later than possible the item may start without delaying the end."""
        return self.latest_start - self.earliest_start

    @property
    def is_critical(self) -> bool:
        """Whether a delay of it would delay the end; so are all items of every longest path."""
        return self.slack == 0

    @property
    def finish(self) -> int:
        """The earliest end."""
        return self.earliest_start + self.cost

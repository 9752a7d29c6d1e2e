"""The schedule: items in an order, with dependencies, analysis, critical path and slack.

    schedule   = items  dependencies  analysis  critical path  slack
    item       = id  operation  depends_on  dependents
    operation  = Kernel(name, body, arguments)
    dependency = from  to  kind ∈ {data, anti, output, control}  buffers  bytes
    analysis   = flops  bytes read  bytes written  estimated ns

Items are numbered in the order they run in. `depends_on` and `dependencies` agree (verified).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.graph.nodes import Buffer, Sink

DependencyKind = Literal["data", "anti", "output", "control"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Run the compiled `body` on `arguments`; argument 0 is written, the rest are read."""

    name: str
    body: Sink
    arguments: tuple[Buffer, ...]

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The buffers read, each once."""
        return tuple(dict.fromkeys(self.arguments[1:]))

    @property
    def writes(self) -> tuple[Buffer, ...]:
        """The buffers written."""
        return self.arguments[:1]


Operation: TypeAlias = Kernel


@dataclass(frozen=True, slots=True)
class Dependency:
    """Item `producer` must finish before `consumer` starts, because of `buffers`."""

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
    """What an item costs: operations, bytes, and the time they should take.

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
    def finish(self) -> int:
        """The earliest end."""
        return self.earliest_start + self.cost

"""Schedules made by hand: every operation, dependency and decision that a schedule can have.

`plain` is the schedule of the sample network (see sample.py). `rich` runs on two devices: a copy
there, a loop of three turns, a barrier, a copy back and a function on the host.
"""

from dataclasses import dataclass, field, replace

import networkx as nx
import numpy as np

from compiler.core.dtypes import float32
from compiler.graph.nodes import Buffer
from compiler.schedule.calls import KernelGraph
from compiler.schedule.strict.builder import KernelGraphBuilder
from tests.svodviz.sample_graph import Line, Stage


@dataclass(frozen=True)
class Kernel:
    """Machine code on a device."""

    name: str
    reads: tuple = ()
    writes: tuple = ()
    device: str = "CPU"
    fixed: tuple = ()

    @property
    def arguments(self) -> tuple:
        return (*self.writes, *self.reads)


@dataclass(frozen=True)
class MemoryTransfer:
    """A pitched copy."""

    name: str
    source: Buffer
    destination: Buffer
    source_device: str
    destination_device: str
    dims: tuple
    source_strides: tuple | None = None
    nbytes: int = 0

    arguments = property(lambda self: (self.destination, self.source))
    reads = property(lambda self: (self.source,))
    writes = property(lambda self: (self.destination,))
    devices = property(lambda self: (self.source_device, self.destination_device))


@dataclass(frozen=True)
class Synchronization:
    """A barrier, a fence or an event."""

    name: str
    kind: str
    event: int | None = None
    scope: str = "device"
    devices: tuple = ("CPU",)

    arguments = reads = writes = ()


@dataclass(frozen=True)
class HostCallback:
    """A Python function."""

    name: str
    function: str
    arguments: tuple
    reads: tuple = ()
    writes: tuple = ()
    fixed: tuple = ()


@dataclass(frozen=True)
class Item:
    """One step."""

    item_id: int
    operation: object


@dataclass(frozen=True)
class Dependency:
    """Why one item waits for another."""

    producer: int
    consumer: int
    kind: str
    buffers: tuple = ()

    @property
    def nbytes(self) -> int:
        return sum(it.nbytes for it in self.buffers) if self.kind == "data" else 0


@dataclass(frozen=True)
class Analysis:
    """What an item costs."""

    flops: int
    bytes_read: int
    bytes_written: int
    estimated_ns: int


@dataclass(frozen=True)
class Timing:
    """When an item may and when it must start."""

    earliest_start: int
    latest_start: int
    cost: int


@dataclass(frozen=True)
class Lifetime:
    """From which item to which a buffer is needed."""

    buffer: Buffer
    first: int
    last: int


@dataclass(frozen=True)
class Place:
    """Where the planner put a buffer."""

    buffer: Buffer
    offset: int | None
    size: int
    first: int
    last: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """A memory plan."""

    places: tuple
    level_count: int
    unshared: int
    arena: int
    kept: int
    live: int

    @property
    def peak(self) -> int:
        return self.arena + self.kept


@dataclass(frozen=True)
class Opportunity:
    """Two items that could be one."""

    first: int
    second: int
    fusion_type: str
    score: float
    bytes_saved: int
    reason: str
    taken: bool = False


@dataclass(frozen=True)
class Schedule(Stage):
    """A schedule with its faces and its data."""

    items: tuple = ()
    dependencies: tuple = ()
    analysis: tuple = ()
    times: tuple = ()
    critical_path: tuple = ()
    lifetimes: tuple = ()
    parents: tuple = ()
    memory_plan: Plan | None = None
    opportunities: tuple | None = field(default=None)

    def entity(self, item_id: int) -> str:
        return f"schedule:{item_id}"


def buffer(number: int, name: str, *shape: int, device: str = "CPU") -> Buffer:
    """A float32 buffer; numbers below zero are made by the program."""
    return Buffer((), number, shape, float32, name, device)


def _costs(rows: list[tuple[int, int, int]]) -> dict[str, tuple]:
    """Analysis and times from rows (start, cost, slack)."""
    return {
        "analysis": tuple(Analysis(c * 90, c * 20, c * 5, c) for _, c, _ in rows),
        "times": tuple(Timing(start, start + slack, c) for start, c, slack in rows),
    }


def _stage(name: str, operations: list, edges: list, rows: list, parents: list, **more: object):
    items = tuple(Item(number, it) for number, it in enumerate(operations))
    dependencies = tuple(Dependency(*edge) for edge in edges)
    critical = tuple(number for number, (_, _, slack) in enumerate(rows) if not slack)
    graph, lines = nx.DiGraph(), []
    for item, (start, cost, slack), above in zip(items, rows, parents, strict=True):
        word = type(item.operation).__name__
        word = {"MemoryTransfer": "transfer", "Synchronization": "sync",
                "HostCallback": "callback"}.get(word, "kernel")  # fmt: skip
        counters = [f"{key} = {value}" for key, value in getattr(item.operation, "fixed", ())]
        graph.add_node(
            f"schedule:{item.item_id}", op=word, kind=word, name=item.operation.name,
            parents=above, argument=" ".join(counters), critical=not slack, slack=slack,
            start=start, finish=start + cost,
            cost={"est_ns": cost, "flops": cost * 90, "bytes": cost * 25},
        )  # fmt: skip
        mark = "critical" if not slack else f"slack {slack / 1000:.1f} µs"
        text = f"{item.item_id}  {word} {item.operation.name}   est {cost / 1000:.1f} µs   {mark}"
        lines.append(Line(text, f"schedule:{item.item_id}", above))
    for edge in dependencies:
        graph.add_edge(f"schedule:{edge.producer}", f"schedule:{edge.consumer}", operand=-1,
                       kind=edge.kind)  # fmt: skip
    length = max(start + cost for start, cost, _ in rows) / 1000
    total = Line(f"critical path {' '.join(map(str, critical))} · {length:.1f} µs")
    return Schedule(
        "schedule", (*lines, total), graph, 0.0003, "", items, dependencies,
        critical_path=critical, parents=tuple(parents), **_costs(rows), **more,
    )  # fmt: skip


def plain() -> Schedule:
    """Three kernels in a row and a fourth that may run any time before the last ends."""
    x, w1, b1, w2 = (buffer(n, name, *shape) for n, (name, shape) in enumerate(
        (("x", (64, 20)), ("w1", (20, 32)), ("b1", (32,)), ("w2", (32, 10))), start=1))
    hidden, logits = buffer(-1, "hidden", 64, 32), buffer(-2, "logits", 64, 10)
    result, total = buffer(-3, "probabilities", 64, 10), buffer(-4, "total", 64)
    operations = [
        Kernel("k0", (x, w1, b1), (hidden,)), Kernel("k1", (hidden, w2), (logits,)),
        Kernel("k2", (logits,), (result,)), Kernel("k3", (x,), (total,)),
    ]  # fmt: skip
    lives = [(it, 0, 3) for it in (x, w1, b1, w2)]
    lives += [(hidden, 0, 1), (logits, 1, 2), (result, 2, 3), (total, 3, 3)]
    return _stage(
        "schedule", operations, [(0, 1, "data", (hidden,)), (1, 2, "data", (logits,))],
        [(0, 9100, 0), (9100, 4600, 0), (13700, 3900, 0), (0, 1500, 16100)],
        [(f"kernels:call_k{it}",) for it in range(4)],
        lifetimes=tuple(Lifetime(*it) for it in lives),
    )  # fmt: skip


def rich(suffix: str = "") -> Schedule:
    """Two devices, a loop, all kinds of operation and dependency, a plan, and opportunities."""
    x = buffer(1, f"x{suffix}", 256, 64)
    there = buffer(-1, f"x on CPU:1{suffix}", 256, 64, device="CPU:1")
    state = buffer(-2, f"state{suffix}", 256, 64, device="CPU:1")
    local = buffer(-3, f"scaled{suffix}", 256, 64)
    mean, back = buffer(-4, f"mean{suffix}", 64), buffer(-5, f"back{suffix}", 256, 64)
    result = buffer(-6, f"result{suffix}", 256)
    operations = [
        MemoryTransfer(f"copy x{suffix}", x, there, "CPU", "CPU:1", (256, 64), (64, 1), 65536),
        Kernel(f"scale{suffix}", (x,), (local,)),
        *(Kernel(f"step{suffix}", (there, state), (state,), "CPU:1", ((f"i{suffix}", turn),))
          for turn in range(3)),
        Kernel(f"mean{suffix}", (local,), (mean,)),
        Synchronization(f"join{suffix}", "barrier", devices=("CPU", "CPU:1")),
        MemoryTransfer(f"copy back{suffix}", state, back, "CPU:1", "CPU", (256, 64), None, 65536),
        Kernel(f"combine{suffix}", (back, mean, local), (result,)),
        HostCallback(f"report{suffix}", f"print_mean{suffix}", (result,), (result,)),
    ]  # fmt: skip
    edges = [
        (0, 2, "data", (there,)), (2, 3, "data", (state,)), (2, 3, "output", (state,)),
        (3, 4, "data", (state,)), (3, 4, "output", (state,)), (1, 5, "data", (local,)),
        (1, 8, "data", (local,)), (4, 6, "control"), (5, 6, "control"), (4, 7, "data", (state,)),
        (6, 7, "control"), (5, 8, "data", (mean,)), (7, 8, "data", (back,)),
        (0, 8, "anti", (x,)), (8, 9, "data", (result,)),
    ]  # fmt: skip
    rows = [(0, 4000, 0), (0, 3000, 9500), (4000, 3500, 0), (7500, 3500, 0), (11000, 3500, 0),
            (3000, 2000, 9500), (14500, 500, 0), (15000, 4000, 0), (19000, 2500, 0),
            (21500, 1000, 0)]  # fmt: skip
    parents = [(), (), *[("kernels:6",)] * 3, (), (), (), ("kernels:12",), ("kernels:14",)]
    lives = [(x, 0, 9), (there, 0, 4), (state, 2, 7), (local, 1, 8), (mean, 5, 8), (back, 7, 8),
             (result, 8, 9)]  # fmt: skip
    size = x.nbytes
    places = (
        Place(there, 0, size, 0, 3, "memory of its own"),
        Place(state, size, size, 1, 5, "memory of its own"),
        Place(local, 2 * size, size, 0, 6, "memory of its own"),
        Place(mean, 3 * size, 256, 1, 6, "memory of its own"),
        Place(back, 0, size, 5, 6, f"shares 65,536 bytes with x on CPU:1{suffix}: "
              "dead since level 3"),
        Place(result, None, 1024, 6, 7, "a result: never shared"),
    )  # fmt: skip
    opportunities = (
        Opportunity(1, 5, "reduction", 0.25, size, f"scaled{suffix} is read by combine too"),
        Opportunity(7, 8, "elementwise", 0.125, size, "a copy between devices comes between"),
        Opportunity(5, 8, "mixed", 0.5, 256, "one user, same extent 256", taken=True),
        Opportunity(5, 9, "mixed", 0.031, 0, "a function on the host is no kernel"),
    )
    return _stage(
        "schedule", operations, edges, rows, parents,
        lifetimes=tuple(Lifetime(*it) for it in lives), opportunities=opportunities,
        memory_plan=Plan(places, 8, 4 * size + 1280, 3 * size + 256, 1024, 3 * size + 1280),
    )  # fmt: skip


def long(count: int, turns: int = 0) -> Schedule:
    """A chain of `count` kernels, of which the first `turns` are the turns of one loop."""
    made = [buffer(-1 - number, f"b{number}", 16) for number in range(count)]
    operations = [
        Kernel("turn" if number < turns else f"k{number}", (made[number - 1],) if number else (),
               (made[number],), fixed=(("i", number),) if number < turns else ())
        for number in range(count)
    ]  # fmt: skip
    edges = [(it, it + 1, "data", (made[it],)) for it in range(count - 1)]
    return _stage(
        "schedule", operations, edges, [(10 * it, 10, 0) for it in range(count)],
        [("kernels:0",) if it < turns else (f"kernels:{it}",) for it in range(count)],
        lifetimes=tuple(Lifetime(it, n, min(n + 1, count - 1)) for n, it in enumerate(made)),
    )  # fmt: skip


def kernel_graph() -> KernelGraph:
    """A kernel graph of every kind of node there is."""
    b = KernelGraphBuilder()
    x, out = b.input("x", np.zeros(4, np.float32)), b.buffer("out", (4,), float32)
    y = b.input("y", np.zeros(4, np.float32), "CPU:1")
    scratch = b.local(16, float32)
    turn, i = b.loop(3), b.variable("i", 0, 2)
    old = b.parameter(0, (4,), float32)
    step = b.call("step", b.body((old, old)), x, scratch, b.bind(i, turn))
    stepped = b.after(x, b.end(step, turn))
    lane = b.select(b.stack(stepped, y), 1)
    joined = b.call("join", b.body((old, old)), out, stepped, lane)
    there = b.buffer("there", (4,), float32)
    copied = b.transfer(there, b.after(out, joined))
    after = b.after(there, copied, b.barrier("join", copied))
    return b.graph(b.sink(b.after(after, b.custom("report", after))))


def with_schedule(compilation: object, schedule: Schedule, **more: object) -> object:
    """The compilation with another schedule."""
    return replace(compilation, schedule=schedule, **more)

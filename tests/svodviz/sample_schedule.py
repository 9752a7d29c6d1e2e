"""Schedules made by hand: every operation, dependency and decision that a schedule can have.

`plain` is the schedule of the sample network (see sample.py). `rich` runs on two devices: a copy
there, a loop of three iterations, a barrier, a copy back and a function on the host.
"""

from dataclasses import dataclass, replace

import networkx as nx
import numpy as np

from compiler.core.dtypes import float32
from compiler.graph.nodes import Buffer, Const, Param, Sink, Store
from compiler.schedule import printer
from compiler.schedule.analysis.footprint import Lifetime
from compiler.schedule.analysis.opportunities import FusionOpportunity
from compiler.schedule.analysis.own_work import OwnWork
from compiler.schedule.analysis.places import Place
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.calls import KernelGraph
from compiler.schedule.items import (
    Dependency,
    HostCallback,
    ItemAnalysis,
    ItemTiming,
    Kernel,
    MemoryTransfer,
    ScheduleItem,
    Synchronization,
)
from compiler.schedule.strict.builder import KernelGraphBuilder
from tests.svodviz.sample_graph import Line


@dataclass(frozen=True, eq=False, kw_only=True)
class Schedule(printer.Schedule):
    """A schedule whose text and picture are made by hand too."""

    graph: nx.DiGraph
    shown: tuple[Line, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.shown

    def network(self) -> nx.DiGraph:
        return self.graph.copy()


def kernel(
    name: str, reads: tuple[Buffer, ...], writes: tuple[Buffer, ...], device: str = "CPU",
    fixed: tuple[tuple[str, int], ...] = (),
) -> Kernel:  # fmt: skip
    """A kernel that reads and writes these; what it computes does not matter."""
    arguments = (*writes, *reads)
    params = [Param((), slot, (1,), float32) for slot in range(len(arguments))]
    targets, values = params[: len(writes)], params[len(writes) :] or [Const((), 0, float32, (1,))]
    stores = [Store((target, value)) for target in targets for value in values]
    return Kernel(name, Sink(tuple(stores)), arguments, device, fixed)


def buffer(number: int, name: str, *shape: int, device: str = "CPU") -> Buffer:
    """A float32 buffer; numbers below zero are made by the program."""
    return Buffer((), number, shape, float32, name, device)


def _costs(rows: list[tuple[int, int, int]]) -> dict[str, tuple]:
    """Analysis and times from rows (start, cost, slack)."""
    return {
        "analysis": tuple(
            ItemAnalysis(n, c * 90, c * 20, c * 5, c) for n, (_, c, _) in enumerate(rows)
        ),
        "times": tuple(
            ItemTiming(n, start, start + slack, c) for n, (start, c, slack) in enumerate(rows)
        ),
    }


def _stage(name: str, operations: list, edges: list, rows: list, parents: list, **more: object):
    dependencies = tuple(Dependency(*edge[:3], edge[3] if edge[3:] else ()) for edge in edges)
    items = tuple(_item(number, it, dependencies) for number, it in enumerate(operations))
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
        title="schedule", shown=(*lines, total), graph=graph, seconds=0.0003, items=items,
        dependencies=dependencies, critical_path=critical, parents=tuple(parents), results=(),
        peak_bytes=0, itemwise_bytes=0, **_costs(rows), **more,
    )  # fmt: skip


def _item(number: int, operation: object, edges: tuple[Dependency, ...]) -> ScheduleItem:
    before = tuple(it.producer for it in edges if it.consumer == number)
    after = tuple(it.consumer for it in edges if it.producer == number)
    return ScheduleItem(number, operation, before, after)


def plain() -> Schedule:
    """Three kernels in a row and a fourth that may run any time before the last ends."""
    x, w1, b1, w2 = (buffer(n, name, *shape) for n, (name, shape) in enumerate(
        (("x", (64, 20)), ("w1", (20, 32)), ("b1", (32,)), ("w2", (32, 10))), start=1))
    hidden, logits = buffer(-1, "hidden", 64, 32), buffer(-2, "logits", 64, 10)
    result, total = buffer(-3, "probabilities", 64, 10), buffer(-4, "total", 64)
    operations = [
        kernel("k0", (x, w1, b1), (hidden,)), kernel("k1", (hidden, w2), (logits,)),
        kernel("k2", (logits,), (result,)), kernel("k3", (x,), (total,)),
    ]  # fmt: skip
    lives = [(it, 0, 3) for it in (x, w1, b1, w2)]
    lives += [(hidden, 0, 1), (logits, 1, 2), (result, 2, 3), (total, 3, 3)]
    return _stage(
        "schedule", operations, [(0, 1, "data", (hidden,)), (1, 2, "data", (logits,))],
        [(0, 9100, 0), (9100, 4600, 0), (13700, 3900, 0), (0, 1500, 16100)],
        [(f"kernels:call_k{it}",) for it in range(4)],
        lifetimes=tuple(Lifetime(*it) for it in lives), shares=SHARES,
    )  # fmt: skip


SHARES = tuple(
    tuple((f"graph:{node}", OwnWork(*weights)) for node, *weights in rows)
    for rows in (
        ((11, 40960, 40960, 7680, 0), (12, 40960, 40960, 0, 0), (13, 2048, 2048, 128, 0),
         (15, 2048, 2048, 0, 8192)),
        ((21, 20480, 20480, 9472, 0), (22, 20480, 20480, 0, 2560)),
        ((25, 640, 640, 2560, 0), (27, 640, 640, 0, 0), (28, 7680, 7680, 0, 0),
         (29, 640, 640, 0, 0), (38, 256, 256, 0, 0), (39, 640, 640, 0, 2560)),
        ((32, 1280, 1280, 5120, 256),),
    )
)  # fmt: skip
"""The work of the sample's nodes in each item of `plain`."""


def rich(suffix: str = "") -> Schedule:
    """Two devices, a loop, all kinds of operation and dependency, a plan, and opportunities."""
    x = buffer(1, f"x{suffix}", 256, 64)
    there = buffer(-1, f"x on CPU:1{suffix}", 256, 64, device="CPU:1")
    state = buffer(-2, f"state{suffix}", 256, 64, device="CPU:1")
    local = buffer(-3, f"scaled{suffix}", 256, 64)
    mean, back = buffer(-4, f"mean{suffix}", 64), buffer(-5, f"back{suffix}", 256, 64)
    result = buffer(-6, f"result{suffix}", 256)
    operations = [
        MemoryTransfer(f"copy x{suffix}", x, there, "CPU", "CPU:1", (256, 64), (64, 1),
                       nbytes=65536),
        kernel(f"scale{suffix}", (x,), (local,)),
        *(kernel(f"step{suffix}", (there, state), (state,), "CPU:1", ((f"i{suffix}", number),))
          for number in range(3)),
        kernel(f"mean{suffix}", (local,), (mean,)),
        Synchronization(f"join{suffix}", "barrier", devices=("CPU", "CPU:1")),
        MemoryTransfer(f"copy back{suffix}", state, back, "CPU:1", "CPU", (256, 64), nbytes=65536),
        kernel(f"combine{suffix}", (back, mean, local), (result,)),
        HostCallback(f"report{suffix}", f"print_mean{suffix}", (result,), (0,), ()),
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
              "its live range ends at level 3"),
        Place(result, None, 1024, 6, 7, "a result: never shared"),
    )  # fmt: skip
    opportunities = (
        FusionOpportunity(1, 5, "reduction", 0.25, size, f"scaled{suffix} is read by combine too",
                          change=-10_750),
        FusionOpportunity(7, 8, "elementwise", 0.125, size, "a copy between devices comes between",
                          change=-5_375),
        FusionOpportunity(5, 8, "mixed", 0.5, 256, "one user, same extent 256", taken=True,
                          change=-21_500),
        FusionOpportunity(5, 9, "mixed", 0.031, 0, "a function on the host is no kernel",
                          change=-1_333),
    )
    return _stage(
        "schedule", operations, edges, rows, parents,
        lifetimes=tuple(Lifetime(*it) for it in lives), opportunities=opportunities,
        memory_plan=MemoryPlan(places, 8, 4 * size + 1280, 3 * size + 256, 1024, 3 * size + 1280),
    )  # fmt: skip


def long(count: int, trips: int = 0) -> Schedule:
    """A chain of `count` kernels, of which the first `trips` are the iterations of one loop."""
    made = [buffer(-1 - number, f"b{number}", 16) for number in range(count)]
    operations = [
        kernel("step" if number < trips else f"k{number}", (made[number - 1],) if number else (),
               (made[number],), fixed=(("i", number),) if number < trips else ())
        for number in range(count)
    ]  # fmt: skip
    edges = [(it, it + 1, "data", (made[it],)) for it in range(count - 1)]
    return _stage(
        "schedule", operations, edges, [(10 * it, 10, 0) for it in range(count)],
        [("kernels:0",) if it < trips else (f"kernels:{it}",) for it in range(count)],
        lifetimes=tuple(Lifetime(it, n, min(n + 1, count - 1)) for n, it in enumerate(made)),
    )  # fmt: skip


def empty() -> Schedule:
    """A schedule without items."""
    return replace(
        long(1), items=(), dependencies=(), lifetimes=(), graph=nx.DiGraph(), shown=()
    )


def kernel_graph() -> KernelGraph:
    """A kernel graph of every kind of node there is."""
    b = KernelGraphBuilder()
    x, out = b.input("x", np.zeros(4, np.float32)), b.buffer("out", (4,), float32)
    y = b.input("y", np.zeros(4, np.float32), "CPU:1")
    scratch = b.local(16, float32)
    steps, i = b.loop(3), b.variable("i", 0, 2)
    old = b.parameter(0, (4,), float32)
    step = b.call("step", b.body((old, old)), x, scratch, b.bind(i, steps))
    stepped = b.after(x, b.end(step, steps))
    lane = b.select(b.stack(stepped, y), 1)
    joined = b.call("join", b.body((old, old)), out, stepped, lane)
    there = b.buffer("there", (4,), float32)
    copied = b.transfer(there, b.after(out, joined))
    after = b.after(there, copied, b.barrier("join", copied))
    return b.graph(b.sink(b.after(after, b.custom("report", after))))


def with_schedule(compilation: object, schedule: Schedule, **more: object) -> object:
    """The compilation with another schedule."""
    return replace(compilation, schedule=schedule, **more)

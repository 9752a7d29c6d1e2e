"""The whole compiler, as ordered rows. Each row says why it stands where it stands.

Passes map a stage's data to the same kind of data and run generically (`run_passes`); the other
rows turn one stage into the next and are called by `compilation.py` in this order.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from compiler.graph import verify as verify_graph
from compiler.graph.decompose import decompose
from compiler.graph.merge import merge
from compiler.graph.nodes import Sink
from compiler.graph.printer import node_facts
from compiler.graph.shard import shard
from compiler.graph.simplify import simplify as simplify_graph
from compiler.graph.two_stage import two_stage
from compiler.llvm.emit import emit
from compiler.loops import verify as verify_loops
from compiler.loops.collapse import collapse
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.loops.printer import scalar_facts
from compiler.loops.simplify import simplify as simplify_loops
from compiler.lowered.linearize import linearize
from compiler.node import Node, toposort
from compiler.options import Options
from compiler.schedule.order import order
from compiler.schedule.outline import outline
from compiler.schedule.partition import partition
from compiler.trace import Match, PassRecord, Provenance

N = TypeVar("N", bound=Node)
StageName = Literal["graph", "schedule", "loops", "lowered", "llvm"]


@dataclass(frozen=True, slots=True)
class Step:
    """One row: in which stage, what it is called, what runs, and why here."""

    stage: StageName
    name: str
    function: Callable[..., Any]
    because: str
    is_pass: bool = False


PIPELINE: tuple[Step, ...] = (
    Step("graph", "merge", merge,
         "first: rules then meet each expression once, whatever line wrote it", True),
    Step("graph", "decompose", decompose,
         "before simplify: expansions bring constants and products that simplify removes", True),
    Step("graph", "shard", shard,
         "after decompose: it has a rule for each kind of the core; before simplify: what it cuts "
         "and copies is simplified too", True),
    Step("graph", "simplify", simplify_graph,
         "before two_stage: what is gone here is neither cut, scheduled nor compiled", True),
    Step("graph", "two_stage", two_stage,
         "last on the graph: simplify would make one reduction of two", True),
    Step("schedule", "partition", partition,
         "on the simplest graph: fusion is decided by what has to be computed"),
    Step("schedule", "outline", outline,
         "after partition: a kernel body is the region that partition left between two buffers"),
    Step("schedule", "order", order,
         "after outline: calls and their arguments are all that dependencies come from"),
    Step("loops", "index", index,
         "first in a kernel: turns movement into arithmetic, which the next rows simplify"),
    Step("loops", "simplify", simplify_loops,
         "before collapse: two loops can be told apart only by indices in simplest form", True),
    Step("loops", "collapse", collapse,
         "last on loops: it needs the simplest indices and changes no value", True),
    Step("lowered", "linearize", linearize,
         "after all loop passes: it fixes the order of loops and instructions"),
    Step("llvm", "emit", emit,
         "last: LLVM takes text"),
)  # fmt: skip


def steps(stage: StageName) -> tuple[Step, ...]:
    """The rows of one stage, in order."""
    return tuple(step for step in PIPELINE if step.stage == stage)


def run_passes(
    stage: StageName,
    root: N,
    provenance: Provenance[Any],
    options: Options,
    prefix: str,
    kernel: str = "",
) -> tuple[N, list[PassRecord]]:
    """`root` after every pass of `stage`, and a record of each; verified where asked.

    `prefix` begins the entity strings of the stage's nodes, e.g. "graph:".
    """
    facts = node_facts if stage == "graph" else scalar_facts
    provenance.numbers.all(toposort([root]))
    records = []
    checked: tuple[Node, tuple[bool, ...]] | None = None
    known: set[Any] = set()
    for step in steps(stage):
        if not step.is_pass:
            continue
        matches: list[Match] | None = [] if options.trace else None
        start = time.perf_counter()
        after: N = step.function(root, provenance, matches)
        seconds = time.perf_counter() - start
        record = PassRecord(
            stage, kernel, step.name, step.because, seconds, root, after,
            tuple(matches or ()), provenance.numbers, facts, prefix, options.trace,
        )  # fmt: skip
        records.append(record)
        root = after
        holds = step.name != "merge", step.name in ("shard", "simplify", "two_stage")
        if options.verify and checked != (root, holds):
            _verify(root, *holds, known)
            checked = root, holds
    return root, records


def _verify(root: Node, is_decomposed: bool, is_sharded: bool, known: set[Any]) -> None:
    """Check the invariants that hold by now; nodes in `known` were found right before."""
    if isinstance(root, Sink):
        verify_graph.verify(root, is_decomposed, is_sharded, known)
    elif isinstance(root, Body):
        verify_loops.verify(root)

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
from compiler.loops.accumulate import accumulate
from compiler.loops.choices import Choices
from compiler.loops.collapse import collapse
from compiler.loops.index import index
from compiler.loops.keep import keep
from compiler.loops.nodes import Body
from compiler.loops.pack import pack
from compiler.loops.parallelize import parallelize
from compiler.loops.prefetch import prefetch
from compiler.loops.printer import scalar_facts
from compiler.loops.reorder import reorder
from compiler.loops.simplify import simplify as simplify_loops
from compiler.loops.stream import stream
from compiler.loops.tile import tile
from compiler.loops.unroll import unroll
from compiler.loops.vectorize import vectorize
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
    is_chosen: bool = False
    """Whether it is a pass that does what the choices of a kernel say."""


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
         "after simplify: it needs the simplest indices; before all choices: these name its axes",
         True),
    Step("loops", "keep", keep,
         "first of the choices: passes over a row are compared while their axes are whole",
         True, True),
    Step("loops", "tile", tile,
         "before all that follows: they order and tag the parts that it makes", True, True),
    Step("loops", "reorder", reorder,
         "after tile; before pack: the order says which loops read a tile again", True, True),
    Step("loops", "pack", pack,
         "after reorder: a tile is what the loops inside read, in the order they do", True, True),
    Step("loops", "accumulate", accumulate,
         "after reorder: a row of sums has the axes of the output that stand inside", True, True),
    Step("loops", "unroll", unroll,
         "after pack and accumulate, which fill scratch memory in loops of their own", True, True),
    Step("loops", "vectorize", vectorize,
         "after unroll: a register per turn first, then what is in it", True, True),
    Step("loops", "parallelize", parallelize,
         "after vectorize: what runs on a core of its own is complete by then", True, True),
    Step("loops", "stream", stream,
         "after vectorize: only stores of whole vectors go past the caches", True, True),
    Step("loops", "prefetch", prefetch,
         "last on loops: only loads of whole vectors fetch more", True, True),
    Step("lowered", "linearize", linearize,
         "after all loop passes: it fixes the order of loops and instructions"),
    Step("llvm", "emit", emit,
         "last: LLVM takes text"),
)  # fmt: skip


def steps(stage: StageName) -> tuple[Step, ...]:
    """The rows of one stage, in order."""
    return tuple(step for step in PIPELINE if step.stage == stage)


def _passes(stage: StageName, choices: Choices | None) -> tuple[Step, ...]:
    """The passes of a stage that need no choices, or those that `choices` are for."""
    found = (step for step in steps(stage) if step.is_pass)
    if choices is None:
        return tuple(step for step in found if not step.is_chosen)
    return tuple(step for step in found if step.is_chosen and choices.has(step.name))


def run_passes(
    stage: StageName,
    root: N,
    provenance: Provenance[Any],
    options: Options,
    prefix: str,
    kernel: str = "",
    choices: Choices | None = None,
) -> tuple[N, list[PassRecord]]:
    """`root` after every pass of `stage`, and a record of each; verified where asked: loops once,
    after the last pass, unless every step is recorded. What a pass breaks is still broken then.

    `prefix` begins the entity strings of the stage's nodes, e.g. "graph:". With `choices`, the
    passes are those that do what they say, instead of those that need none.
    """
    facts = node_facts if stage == "graph" else scalar_facts
    provenance.numbers.all(toposort([root]))
    records = []
    checked: tuple[Node, tuple[bool, ...]] | None = None
    known: set[Any] = set()
    passes = _passes(stage, choices)
    for step in passes:
        matches: list[Match] | None = [] if options.trace else None
        given = (choices,) if step.is_chosen else ()
        start = time.perf_counter()
        after: N = step.function(root, *given, provenance, matches)
        seconds = time.perf_counter() - start
        record = PassRecord(
            stage, kernel, step.name, step.because, seconds, root, after,
            tuple(matches or ()), provenance.numbers, facts, prefix, options.trace,
        )  # fmt: skip
        records.append(record)
        root = after
        holds = step.name != "merge", step.name in ("shard", "simplify", "two_stage")
        is_due = stage == "graph" or options.trace or step is passes[-1]
        if options.verify and is_due and checked != (root, holds):
            _verify(root, *holds, known)
            checked = root, holds
    return root, records


def _verify(root: Node, is_decomposed: bool, is_sharded: bool, known: set[Any]) -> None:
    """Check the invariants that hold by now; nodes in `known` were found right before."""
    if isinstance(root, Sink):
        verify_graph.verify(root, is_decomposed, is_sharded, known)
    elif isinstance(root, Body):
        verify_loops.verify(root)

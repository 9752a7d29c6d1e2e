"""The whole compiler, as ordered rows. Each row says why it stands where it stands.

Passes map a stage's data to the same kind of data and run generically (`run_passes`); the other
rows turn one stage into the next and are called by `compilation.py` in this order.
"""

import time
from collections.abc import Sequence
from typing import Any, TypeVar

from compiler.core.errors import InternalError, PassError
from compiler.core.node import Node, toposort
from compiler.core.options import Options
from compiler.core.passes import Fact, Passes, StageName, Step, out_of_order, who_gives
from compiler.core.trace import Match, PassRecord, Provenance
from compiler.graph import verify as verify_graph
from compiler.graph.decompose import RULES as expansions
from compiler.graph.decompose import decompose
from compiler.graph.merge import merge
from compiler.graph.nodes import Sink
from compiler.graph.printer import node_facts
from compiler.graph.shard import shard
from compiler.graph.simplify import RULES as graph_rules
from compiler.graph.simplify import simplify as simplify_graph
from compiler.graph.two_stage import two_stage
from compiler.llvm.emit import emit
from compiler.loops import verify as verify_loops
from compiler.loops.choices import Choices
from compiler.loops.collapse import collapse
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.loops.printer import scalar_facts
from compiler.loops.simplify import RULES as loop_rules
from compiler.loops.simplify import simplify as simplify_loops
from compiler.loops.transforms.accumulate import accumulate
from compiler.loops.transforms.keep import keep
from compiler.loops.transforms.pack import pack
from compiler.loops.transforms.parallelize import parallelize
from compiler.loops.transforms.prefetch import prefetch
from compiler.loops.transforms.reorder import reorder
from compiler.loops.transforms.stream import stream
from compiler.loops.transforms.tile import tile
from compiler.loops.transforms.unroll import unroll
from compiler.loops.transforms.vectorize import vectorize
from compiler.lowered.linearize import linearize
from compiler.pipeline.facts import CUT, DECOMPOSED, LANES, LOOPS, MERGED, SHARDED, SIMPLE, WHOLE
from compiler.schedule.order import order
from compiler.schedule.outline import outline
from compiler.schedule.partition import partition

N = TypeVar("N", bound=Node)


PIPELINE: tuple[Step, ...] = (
    Step("graph", "merge", merge,
         "first: rules then meet each expression once, whatever line wrote it", True,
         gives=(MERGED,)),
    Step("graph", "decompose", decompose,
         "before simplify: expansions bring constants and products that simplify removes", True,
         needs=(MERGED,), gives=(DECOMPOSED,), rules=expansions.rules),
    Step("graph", "shard", shard,
         "after decompose: it has a rule for each kind of the core; before simplify: what it cuts "
         "and copies is simplified too", True,
         needs=(MERGED, DECOMPOSED), gives=(SHARDED,)),
    Step("graph", "simplify", simplify_graph,
         "before two_stage: what is gone here is neither cut, scheduled nor compiled", True,
         needs=(MERGED,), rules=graph_rules.rules),
    Step("graph", "two_stage", two_stage,
         "last on the graph: simplify would make one reduction of two", True,
         needs=(MERGED, DECOMPOSED, SHARDED)),
    Step("schedule", "partition", partition,
         "on the simplest graph: fusion is decided by what has to be computed",
         needs=(MERGED, DECOMPOSED, SHARDED)),
    Step("schedule", "outline", outline,
         "after partition: a kernel body is the region that partition left between two buffers"),
    Step("schedule", "order", order,
         "after outline: calls and their arguments are all that dependencies come from"),
    Step("loops", "index", index,
         "first in a kernel: turns movement into arithmetic, which the next rows simplify",
         gives=(WHOLE, LOOPS)),
    Step("loops", "simplify", simplify_loops,
         "before collapse: two loops can be told apart only by indices in simplest form", True,
         gives=(SIMPLE,), rules=loop_rules.rules),
    Step("loops", "collapse", collapse,
         "after simplify: it needs the simplest indices; before all choices: these name its axes",
         True, needs=(SIMPLE, WHOLE, LOOPS)),
    Step("loops", "keep", keep,
         "first of the choices: passes over a row are compared while their axes are whole",
         True, True, needs=(WHOLE, LOOPS)),
    Step("loops", "tile", tile,
         "before all that follows: they order and tag the parts that it makes", True, True,
         needs=(LOOPS,), gives=(CUT,), ends=(WHOLE,)),
    Step("loops", "reorder", reorder,
         "after tile; before pack: the order says which loops read a tile again", True, True,
         needs=(CUT, LOOPS)),
    Step("loops", "pack", pack,
         "after reorder: a tile is what the loops inside read, in the order they do", True, True,
         needs=(CUT, LOOPS)),
    Step("loops", "accumulate", accumulate,
         "after reorder: a row of sums has the axes of the output that stand inside", True, True,
         needs=(CUT, LOOPS)),
    Step("loops", "unroll", unroll,
         "after pack and accumulate, which fill scratch memory in loops of their own", True, True,
         needs=(CUT,), ends=(LOOPS,)),
    Step("loops", "vectorize", vectorize,
         "after unroll: a register per turn first, then what is in it", True, True,
         needs=(CUT,), gives=(LANES,), ends=(LOOPS,)),
    Step("loops", "parallelize", parallelize,
         "after vectorize: what runs on a core of its own is complete by then", True, True,
         needs=(CUT,), ends=(LOOPS,)),
    Step("loops", "stream", stream,
         "after vectorize: only stores of whole vectors go past the caches", True, True,
         needs=(LANES,)),
    Step("loops", "prefetch", prefetch,
         "last on loops: only loads of whole vectors fetch more", True, True,
         needs=(CUT, LANES)),
    Step("lowered", "linearize", linearize,
         "after all loop passes: it fixes the order of loops and instructions"),
    Step("llvm", "emit", emit,
         "last: LLVM takes text"),
)  # fmt: skip
PASSES = Passes(tuple(step for step in PIPELINE if step.is_pass))
"""The passes that run by default."""


def steps(stage: StageName) -> tuple[Step, ...]:
    """The rows of one stage, in order."""
    return tuple(step for step in PIPELINE if step.stage == stage)


def _passes(stage: StageName, options: Options, choices: Choices | None) -> Sequence[Step]:
    """The passes of a stage up to where choices are made, or with `choices` those from there on."""
    rows = [s for s in (PIPELINE if options.passes is None else options.passes) if s.is_pass]
    rows = [step for step in rows if step.stage == stage]
    first = next((place for place, step in enumerate(rows) if step.is_chosen), len(rows))
    if choices is None:
        return rows[:first]
    return [step for step in rows[first:] if not step.is_chosen or choices.has(step.name)]


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
    passes are those that do what they say and what follows, instead of those before. Raises
    `PassError` where passes of a user's are not in an order that can run.
    """
    facts = node_facts if stage == "graph" else scalar_facts
    provenance.numbers.all(toposort([root]))
    records: list[PassRecord] = []
    checked: tuple[Node, tuple[bool, ...]] | None = None
    known: set[Any] = set()
    given: set[Fact] = set()
    passes = _passes(stage, options, choices)
    for step in passes:
        if options.passes is not None:
            _refuse_unmet(step, root, options.passes.of(stage), [r.name for r in records])
        matches: list[Match] | None = [] if options.trace else None
        asked = (choices,) if step.is_chosen else ()
        start = time.perf_counter()
        after: N = _run(step, root, *asked, provenance, matches)
        seconds = time.perf_counter() - start
        record = PassRecord(
            stage, kernel, step.name, step.because, seconds, root, after,
            tuple(matches or ()), provenance.numbers, facts, prefix, options.trace,
        )  # fmt: skip
        records.append(record)
        root = after
        given = given | set(step.gives) - set(step.ends)
        holds = DECOMPOSED in given, SHARDED in given
        is_due = stage == "graph" or options.trace or step is passes[-1]
        if options.verify and is_due and checked != (root, holds):
            _verify(step, root, *holds, known)
            checked = root, holds
    if options.passes is not None and stage == "graph":
        _refuse_unmet(steps("schedule")[0], root, options.passes.of(stage), [])
    return root, records


def _run(step: Step, *given: Any) -> Any:
    """What a pass makes of the program; rules of a user's that never end are refused."""
    try:
        return step.function(*given)
    except InternalError as error:
        if not step.is_own:
            raise
        hint = "a rule must make something that it does not match again"
        raise PassError(step.name, error.problem, got=error.got, hint=hint) from error


def _refuse_unmet(
    step: Step, root: Node, rows: tuple[Step, ...], done: Sequence[str]
) -> None:
    """Raise `PassError` where a program lacks what a pass needs; it says who would give it.

    `rows` are all passes of the stage, `done` those that ran.
    """
    places = [place for place, row in enumerate(rows) if row == step] or [len(rows)]
    place = places[-1 if step.name in done else 0]
    for fact in step.needs:
        wrong = fact.broken(root) if fact.broken else out_of_order(fact, rows, place)
        if wrong:
            hint = who_gives(fact, step.name, rows, place, PIPELINE)
            what = "the program is not what this pass needs"
            raise PassError(step.name, what, got=wrong, expected=fact.words, hint=hint)


def _verify(
    step: Step, root: Node, is_decomposed: bool, is_sharded: bool, known: set[Any]
) -> None:
    """Check the invariants that hold by now; nodes in `known` were found right before."""
    try:
        if isinstance(root, Sink):
            verify_graph.verify(root, is_decomposed, is_sharded, known)
        elif isinstance(root, Body):
            verify_loops.verify(root)
    except InternalError as error:
        if not step.is_own:
            raise
        what = "this pass leaves a program that is broken"
        hint = "a rule may not undo what the passes before it gave; try it before them"
        got = f"{error.problem}; {error.got}"
        raise PassError(step.name, what, got=got, expected=error.expected, hint=hint) from error

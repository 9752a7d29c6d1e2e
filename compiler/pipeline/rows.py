"""The whole compiler, as ordered rows: what runs is a row, and what is a row runs (`driver.py`).

Each row says why it stands where it stands. A pass changes the program of its stage; another row
takes what earlier rows made, by name, and makes the next thing of it, or checks it. To add a pass:
a file in the stage's folder, and a row here; `CONTRIBUTING.md` lists its tests.
"""

from compiler.core.passes import Passes, StageName, Step
from compiler.graph import verify as verify_graph
from compiler.graph.cse import cse
from compiler.graph.decompose import RULES as expansions
from compiler.graph.decompose import decompose
from compiler.graph.differentiate import differentiate
from compiler.graph.forward_stores import forward_stores
from compiler.graph.shard import shard
from compiler.graph.simplify import RULES as graph_rules
from compiler.graph.simplify import simplify as simplify_graph
from compiler.graph.split_reduction import split_reduction
from compiler.llvm.emit import emit
from compiler.llvm.level import level_of
from compiler.loops import verify as verify_loops
from compiler.loops.choosing.choose import choose
from compiler.loops.coalesce import coalesce
from compiler.loops.index import index
from compiler.loops.simplify import RULES as loop_rules
from compiler.loops.simplify import simplify as simplify_loops
from compiler.loops.split import split
from compiler.loops.transforms.accumulate import accumulate
from compiler.loops.transforms.cache_row import cache_row
from compiler.loops.transforms.cascade import cascade
from compiler.loops.transforms.dot import dot
from compiler.loops.transforms.pack import pack
from compiler.loops.transforms.parallelize import parallelize
from compiler.loops.transforms.prefetch import prefetch
from compiler.loops.transforms.reorder import reorder
from compiler.loops.transforms.stream import stream
from compiler.loops.transforms.tile import tile
from compiler.loops.transforms.unroll import unroll
from compiler.loops.transforms.vectorize import vectorize
from compiler.lowered import verify as verify_lowered
from compiler.lowered.linearize import linearize
from compiler.pipeline.dropped import unchosen
from compiler.pipeline.facts import (
    CUT,
    DECOMPOSED,
    DIFFERENTIATED,
    LANES,
    LOOPS,
    MERGED,
    SHARDED,
    SIMPLE,
    WHOLE,
)
from compiler.pipeline.machine_code import compiled, loaded, specify
from compiler.schedule import verify as verify_schedule
from compiler.schedule.carry import carry
from compiler.schedule.deduplicate import deduplicate
from compiler.schedule.fission import fission
from compiler.schedule.hazards import separate
from compiler.schedule.order import ordered
from compiler.schedule.outline import outline
from compiler.schedule.partition import partition

PIPELINE: tuple[Step, ...] = (
    Step("graph", "differentiate", differentiate,
         "first: gradients are defined on values as written, before cse merges equal ones", True,
         gives=(DIFFERENTIATED,)),
    Step("graph", "cse", cse,
         "after differentiate: rules then match each expression once, whichever line wrote it",
         True, needs=(DIFFERENTIATED,), gives=(MERGED,)),
    Step("graph", "decompose", decompose,
         "before simplify: it adds constants and products that simplify removes", True,
         needs=(MERGED,), gives=(DECOMPOSED,), rules=expansions.rules),
    Step("graph", "shard", shard,
         "after decompose: it has a rule for each core operation; before simplify: which also "
         "simplifies the slices and copies that sharding adds", True,
         needs=(MERGED, DECOMPOSED), gives=(SHARDED,)),
    Step("graph", "simplify", simplify_graph,
         "before split_reduction: removed nodes are not scheduled or compiled", True,
         needs=(MERGED,), rules=graph_rules.rules),
    Step("graph", "forward_stores", forward_stores,
         "after simplify: removed nodes read nothing; before hazards: a forwarded store needs no "
         "copy", True, needs=(MERGED,)),
    Step("graph", "split_reduction", split_reduction,
         "last on the graph: simplify would merge the two reductions again", True,
         needs=(MERGED, DECOMPOSED, SHARDED)),
    Step("graph", "verify", verify_graph.verify,
         "after the passes, and after each of them: names the pass that broke an invariant",
         takes=("graph", "is_decomposed", "is_sharded", "known")),
    Step("schedule", "carry", carry,
         "first: a state of which one row changes is updated in place, not copied",
         takes=("graph", "provenance"), makes="carried"),
    Step("schedule", "hazards", separate,
         "before partition: fusion is decided with the copies that writes in place need",
         takes=("carried.root", "options"), makes="separated"),
    Step("schedule", "partition", partition,
         "on the simplified graph: fusion is decided by the cost of what is computed",
         needs=(MERGED, DECOMPOSED, SHARDED),
         takes=("separated.root", "options"), makes="parts"),
    Step("schedule", "fission", fission,
         "after partition: splits kernels whose loops take longer than those of their parts",
         takes=("separated.root", "parts", "options", "estimate"), makes="judged"),
    Step("schedule", "outline", outline,
         "after fission: a kernel body is a region between buffers",
         takes=("separated.root", "judged.realized", "iterations", "separated.originals"),
         makes="outlined"),
    Step("schedule", "deduplicate", deduplicate,
         "after outline: compares whole bodies; before order: each call lists the buffers it reads",
         takes=("outlined", "separated.root", "judged.realized", "iterations",
                "separated.originals"),
         makes="deduplicated"),
    Step("schedule", "order", ordered,
         "after outline: dependencies follow from calls and their arguments",
         takes=("deduplicated.root",), makes="ordered"),
    Step("schedule", "verify", verify_schedule.verify,
         "last of the schedule: kernels are built from a valid schedule only",
         takes=("deduplicated.root", "ordered.items", "ordered.dependencies")),
    Step("loops", "index", index,
         "first in a kernel: turns movement into index arithmetic, which the next passes simplify",
         gives=(WHOLE, LOOPS), takes=("body", "provenance"), makes="loops"),
    Step("loops", "simplify", simplify_loops,
         "before coalesce: it compares loops by indices in simplest form", True,
         gives=(SIMPLE,), rules=loop_rules.rules),
    Step("loops", "split", split,
         "after simplify: splits axes where divisions are left; before coalesce: which joins "
         "parts that no index distinguishes", True,
         needs=(SIMPLE, WHOLE, LOOPS)),
    Step("loops", "coalesce", coalesce,
         "after simplify: it needs the simplest indices; before all choices: they name its axes",
         True, needs=(SIMPLE, WHOLE, LOOPS)),
    Step("loops", "verify", verify_loops.verify,
         "before choose: an error here is not caused by a choice", takes=("loops",)),
    Step("loops", "choose", choose,
         "after coalesce: choices name its axes; before the passes that apply them",
         takes=("loops", "machine", "kinds"), makes="choices", otherwise=unchosen),
    Step("loops", "cache_row", cache_row,
         "first of the choices: compares passes over a row before their axes are split",
         True, True, needs=(WHOLE, LOOPS)),
    Step("loops", "tile", tile,
         "before the passes that order and tag the loops that it creates", True, True,
         needs=(LOOPS,), gives=(CUT,), ends=(WHOLE,)),
    Step("loops", "reorder", reorder,
         "after tile; before pack: the loop order determines which loops reuse a tile", True, True,
         needs=(CUT, LOOPS)),
    Step("loops", "pack", pack,
         "after reorder: a tile is what the inner loops read, in their order", True, True,
         needs=(CUT, LOOPS)),
    Step("loops", "accumulate", accumulate,
         "after reorder: a row of sums has the inner axes of the output", True, True,
         needs=(CUT, LOOPS)),
    Step("loops", "dot", dot,
         "after pack: a word is a group of packed elements; before unroll and vectorize: their "
         "registers then hold words", True, True,
         needs=(CUT, LOOPS), ends=(LOOPS,)),
    Step("loops", "unroll", unroll,
         "after pack and accumulate: they fill scratch memory in separate loops", True, True,
         needs=(CUT,), ends=(LOOPS,)),
    Step("loops", "vectorize", vectorize,
         "after unroll: registers per iteration first, then lanes per register", True, True,
         needs=(CUT,), gives=(LANES,), ends=(LOOPS,)),
    Step("loops", "parallelize", parallelize,
         "after vectorize: the code of one core is complete", True, True,
         needs=(CUT,), ends=(LOOPS,)),
    Step("loops", "stream", stream,
         "after vectorize: only stores of whole vectors bypass the caches", True, True,
         needs=(LANES,)),
    Step("loops", "prefetch", prefetch,
         "last of the choices: only loads of whole vectors prefetch", True, True,
         needs=(CUT, LANES)),
    Step("loops", "cascade", cascade,
         "after the choices: splits long sums once their order is decided",
         True),
    Step("loops", "verify", verify_loops.verify,
         "last on loops: checks the result of all choices",
         takes=("loops",)),
    Step("lowered", "linearize", linearize,
         "after all loop passes: fixes the order of loops and instructions",
         takes=("loops",), makes="linear"),
    Step("lowered", "verify", verify_lowered.verify,
         "after linearize: code generation relies on valid registers and loops",
         takes=("instructions",)),
    Step("llvm", "emit", emit,
         "after linearize: LLVM takes the instructions as text",
         takes=("name", "instructions"), makes="source"),
    Step("llvm", "level", level_of,
         "with emit: the optimisation level of LLVM follows from the lowered loops",
         takes=("instructions", "options.optimize", "options.mode"), makes="level"),
    Step("machine", "specify", specify,
         "first of a program: launch size and arguments follow from the instructions",
         takes=("kernel.name", "kernel.source", "kernel.linear.instructions", "where"),
         makes="spec"),
    Step("machine", "compile", compiled,
         "after specify: LLVM compiles the source and its entry function",
         takes=("where", "spec", "options"), makes="code"),
    Step("machine", "load", loaded,
         "last: loads the machine code into memory",
         takes=("where", "code"), makes="program"),
)  # fmt: skip
PASSES = Passes(tuple(step for step in PIPELINE if step.is_pass))
"""The passes that run by default."""


def rows(stage: StageName, passes: Passes | None = None) -> list[Step]:
    """The rows of one stage, in order; with `passes`, these in the place of the usual ones.

    Those that come before the first that does what a choice says run before choices are made.
    """
    usual = [row for row in PIPELINE if row.stage == stage]
    if passes is None:
        return usual
    steps = [row for row in passes.of(stage) if row.is_pass]
    first = next((place for place, row in enumerate(steps) if row.is_chosen), len(steps))
    parts = {False: steps[:first], True: steps[first:]}
    checked: list[Step] = []
    for row in usual:
        checked += parts.pop(row.is_chosen, ()) if row.is_pass else [row]
    return checked

"""The whole compiler, as ordered rows: what runs is a row, and what is a row runs (`driver.py`).

Each row says why it stands where it stands. A pass changes the program of its stage; another row
takes what earlier rows made, by name, and makes the next thing of it, or checks it. To add a pass:
a file in the stage's folder, and a row here; what its tests are, says `compiler/README.md`.
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
         "first: gradients are of values as they were written, before equal ones are one", True,
         gives=(DIFFERENTIATED,)),
    Step("graph", "cse", cse,
         "after differentiate: rules then meet each expression once, whatever line wrote it", True,
         needs=(DIFFERENTIATED,), gives=(MERGED,)),
    Step("graph", "decompose", decompose,
         "before simplify: expansions bring constants and products that simplify removes", True,
         needs=(MERGED,), gives=(DECOMPOSED,), rules=expansions.rules),
    Step("graph", "shard", shard,
         "after decompose: it has a rule for each kind of the core; before simplify: what it cuts "
         "and copies is simplified too", True,
         needs=(MERGED, DECOMPOSED), gives=(SHARDED,)),
    Step("graph", "simplify", simplify_graph,
         "before split_reduction: what is gone here is neither cut, scheduled nor compiled", True,
         needs=(MERGED,), rules=graph_rules.rules),
    Step("graph", "forward_stores", forward_stores,
         "after simplify: what is gone reads nothing; before hazards: a state needs no copy", True,
         needs=(MERGED,)),
    Step("graph", "split_reduction", split_reduction,
         "last on the graph: simplify would make one reduction of two", True,
         needs=(MERGED, DECOMPOSED, SHARDED)),
    Step("graph", "verify", verify_graph.verify,
         "after the passes, and after each: the one that broke something is told by its name",
         takes=("graph", "is_decomposed", "is_sharded", "known")),
    Step("schedule", "carry", carry,
         "first: of a state that keeps all but one row no copy is made, and no kernel computes it",
         takes=("graph", "provenance"), makes="carried"),
    Step("schedule", "hazards", separate,
         "before partition: the copies that writes in place need are there when fusion is decided",
         takes=("carried.root", "options"), makes="separated"),
    Step("schedule", "partition", partition,
         "on the simplest graph: fusion is decided by what has to be computed",
         needs=(MERGED, DECOMPOSED, SHARDED),
         takes=("separated.root", "options"), makes="parts"),
    Step("schedule", "fission", fission,
         "after partition: it cuts kernels whose loops take longer than those of their parts",
         takes=("separated.root", "parts", "options", "estimate"), makes="judged"),
    Step("schedule", "outline", outline,
         "after fission: a kernel body is the region that is left between two buffers",
         takes=("separated.root", "judged.realized", "iterations", "separated.originals"),
         makes="outlined"),
    Step("schedule", "deduplicate", deduplicate,
         "after outline: bodies are compared whole; before order: each call says where it reads",
         takes=("outlined", "separated.root", "judged.realized", "iterations",
                "separated.originals"),
         makes="deduplicated"),
    Step("schedule", "order", ordered,
         "after outline: calls and their arguments are all that dependencies come from",
         takes=("deduplicated.root",), makes="ordered"),
    Step("schedule", "verify", verify_schedule.verify,
         "last of the schedule: kernels are made of what is right",
         takes=("deduplicated.root", "ordered.items", "ordered.dependencies")),
    Step("loops", "index", index,
         "first in a kernel: turns movement into arithmetic, which the next rows simplify",
         gives=(WHOLE, LOOPS), takes=("body", "provenance"), makes="loops"),
    Step("loops", "simplify", simplify_loops,
         "before coalesce: two loops can be told apart only by indices in simplest form", True,
         gives=(SIMPLE,), rules=loop_rules.rules),
    Step("loops", "split", split,
         "after simplify: it cuts axes where divisions are left; before coalesce: that joins the "
         "parts which no index tells apart", True,
         needs=(SIMPLE, WHOLE, LOOPS)),
    Step("loops", "coalesce", coalesce,
         "after simplify: it needs the simplest indices; before all choices: these name its axes",
         True, needs=(SIMPLE, WHOLE, LOOPS)),
    Step("loops", "verify", verify_loops.verify,
         "before choose: what is wrong here is no fault of a choice", takes=("loops",)),
    Step("loops", "choose", choose,
         "after coalesce: choices name the axes that it leaves; before the passes that do them",
         takes=("loops", "machine", "kinds"), makes="choices", otherwise=unchosen),
    Step("loops", "cache_row", cache_row,
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
    Step("loops", "dot", dot,
         "after pack: words are elements in a row, as it lays them out; before unroll and "
         "vectorize, which are of registers that hold words", True, True,
         needs=(CUT, LOOPS), ends=(LOOPS,)),
    Step("loops", "unroll", unroll,
         "after pack and accumulate, which fill scratch memory in loops of their own", True, True,
         needs=(CUT,), ends=(LOOPS,)),
    Step("loops", "vectorize", vectorize,
         "after unroll: a register per iteration first, then what is in it", True, True,
         needs=(CUT,), gives=(LANES,), ends=(LOOPS,)),
    Step("loops", "parallelize", parallelize,
         "after vectorize: what runs on a core of its own is complete by then", True, True,
         needs=(CUT,), ends=(LOOPS,)),
    Step("loops", "stream", stream,
         "after vectorize: only stores of whole vectors go past the caches", True, True,
         needs=(LANES,)),
    Step("loops", "prefetch", prefetch,
         "last of the choices: only loads of whole vectors fetch more", True, True,
         needs=(CUT, LANES)),
    Step("loops", "cascade", cascade,
         "after the choices: it cuts what an accumulator takes in order, once that is decided",
         True),
    Step("loops", "verify", verify_loops.verify,
         "last on loops: the choices are done, and their order may have mattered",
         takes=("loops",)),
    Step("lowered", "linearize", linearize,
         "after all loop passes: it fixes the order of loops and instructions",
         takes=("loops",), makes="linear"),
    Step("lowered", "verify", verify_lowered.verify,
         "after linearize: what follows takes each register and loop to be right",
         takes=("instructions",)),
    Step("llvm", "emit", emit,
         "after linearize: LLVM takes text",
         takes=("name", "instructions"), makes="source"),
    Step("llvm", "level", level_of,
         "beside emit: how much LLVM has to do follows from the loops as they are lowered",
         takes=("instructions", "options.optimize", "options.mode"), makes="level"),
    Step("machine", "specify", specify,
         "first of a program: its launch size and its arguments follow from the instructions",
         takes=("kernel.name", "kernel.source", "kernel.linear.instructions", "where"),
         makes="spec"),
    Step("machine", "compile", compiled,
         "after specify: LLVM takes the source with the function that a driver calls",
         takes=("where", "spec", "options"), makes="code"),
    Step("machine", "load", loaded,
         "last: what is called is machine code in memory",
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
    given = [row for row in passes.of(stage) if row.is_pass]
    first = next((place for place, row in enumerate(given) if row.is_chosen), len(given))
    parts = {False: given[:first], True: given[first:]}
    found: list[Step] = []
    for row in usual:
        found += parts.pop(row.is_chosen, ()) if row.is_pass else [row]
    return found

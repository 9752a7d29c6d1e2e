"""The stages of a compilation in ribbon order, and where each is found on a `Compilation`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from compiler.core.printable import printout

View = Literal["graph", "text", "timeline", "llvm_passes", "run"]


@dataclass(frozen=True)
class StageRow:
    """One entry of the ribbon.

    `id` is also the first part of the stage's entities ("loops:k0:3"); `attribute` is where the
    compilation keeps it; `per_kernel` says that it is a tuple with one stage per kernel; `view` is
    what opens first. `on_demand` stages are computed when read, and may fail on their own; those
    that are `asked` for take long, and are made only when somebody looks at them. A page may open
    without the stages that are `late`, which follow (see `later`).
    """

    id: str
    label: str
    attribute: str
    view: View
    per_kernel: bool = False
    on_demand: bool = False
    asked: bool = False
    late: bool = False


STAGES = (
    StageRow("source", "Source", "user_source", "text"),
    StageRow("graph", "Graph", "graph", "graph"),
    StageRow("passes", "Passes", "passes", "graph"),
    StageRow("kernels", "Kernels", "kernels", "graph"),
    StageRow("schedule", "Schedule", "schedule", "timeline"),
    StageRow("loops", "Loops", "loops", "text", per_kernel=True),
    StageRow("lowered", "Lowered", "lowered", "text", per_kernel=True, late=True),
    StageRow("llvm", "LLVM", "source", "text", per_kernel=True, late=True),
    StageRow("llvm_passes", "LLVM passes", "llvm_passes", "llvm_passes", True, asked=True),
    StageRow("optimized", "LLVM optimised", "optimized", "text", True, on_demand=True, late=True),
    StageRow("asm", "Assembly", "assembly", "text", per_kernel=True, on_demand=True, late=True),
    StageRow("run", "Run", "measure", "run", on_demand=True, asked=True),
)
AS_WRITTEN, AFTER_PASSES = "as written", "after passes"
BY_ID = {row.id: row for row in STAGES}
WITH_GRAPHS = tuple(row.id for row in STAGES if row.id != "passes" and not row.asked)
"""The stages that are there once a program is compiled."""
EXPORTED = (*WITH_GRAPHS, "run")
"""The stages that can be exported one by one; for the last one the program is run."""


@dataclass(frozen=True)
class Unit:
    """One stage object and the name it goes by inside its stage ("" where there is only one)."""

    name: str
    title: str
    stage: Any


def units(compilation: Any, row: StageRow) -> Iterator[Unit]:
    """The stage objects behind one ribbon entry, in order."""
    if row.id == "passes":
        return
    if row.asked:
        yield from _asked(compilation, row)
        return
    found = getattr(compilation, row.attribute)
    if row.per_kernel:
        for stage in found:
            yield Unit(str(stage.name), str(stage.title), stage)
        return
    is_rewritten = row.id == "graph" and any(it.stage == "graph" for it in compilation.passes)
    yield Unit(AS_WRITTEN if is_rewritten else "", str(found.title), found)
    if is_rewritten:
        yield Unit(AFTER_PASSES, "the graph after its passes", compilation.optimized_graph)


def _asked(compilation: Any, row: StageRow) -> Iterator[Unit]:
    """What is made now, of each kernel or of the whole program."""
    make = getattr(compilation, row.attribute, None)
    if make is None:
        return
    if not row.per_kernel:
        yield Unit("", row.label, make())
        return
    for loops in compilation.loops:
        name = str(loops.name)
        yield Unit(name, f"{row.label} {name}", make(name))


def printed(stage: Any) -> str:
    """The stage as text that a terminal can be shown, whatever names stand in it."""
    lines = getattr(stage, "lines", None)
    return printout(str(stage).split("\n") if lines is None else [line.text for line in lines])

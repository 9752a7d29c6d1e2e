"""The stages of a compilation in ribbon order, and the attribute of `Compilation` for each."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from compiler.core.printable import printout

if TYPE_CHECKING:
    from compiler.core.stage import Stage
    from compiler.program.compilation import Compilation

View = Literal["modules", "graph", "text", "timeline", "llvm_passes", "run"]
Find: TypeAlias = "Callable[[Compilation], Sequence[Stage]]"


@dataclass(frozen=True)
class StageRow:
    """One entry of the ribbon.

    `id` is also the first part of the stage's entities ("loops:k0:3"); `view` is what opens first;
    `find` gives the stage objects of a compilation: none for what is no stage of it; `per_kernel`
    says that it is one for each kernel. `on_demand` stages are computed when read, and may fail on
    their own; `asked` stages take long, and are computed only when they are opened.
    A page may open without the stages that are `late`, which follow (see `later`). `python` is an
    expression for a stage object of the compilation `program`: {unit} is its position, {kernel} its
    kernel. `graph` is one for its graph as it is drawn, where {python} stands for the object.
    """

    id: str
    label: str
    view: View
    find: Find
    per_kernel: bool = False
    on_demand: bool = False
    asked: bool = False
    late: bool = False
    python: str = ""
    graph: str = "{python}.to_networkx()"


STAGES = (
    StageRow("modules", "Modules", "modules", lambda it: (it.modules,),
             python="program.modules"),
    StageRow("source", "Source", "text", lambda it: (it.user_source,),
             python="program.user_source"),
    StageRow("graph", "Graph", "graph", lambda it: (it.graph,), python="program.graph"),
    StageRow("passes", "Passes", "graph", lambda it: (), python="program.passes[{pass}]",
             graph="[*{python}.replay()][{step}]"),
    StageRow("kernels", "Kernels", "graph", lambda it: (it.kernels,), python="program.kernels",
             graph='svodviz.graph_of(program, "kernels")'),
    StageRow("schedule", "Schedule", "timeline", lambda it: (it.schedule,),
             python="program.schedule"),
    StageRow("loops", "Loops", "text", lambda it: it.loops, per_kernel=True,
             python="program.loops[{unit}]"),
    StageRow("lowered", "Lowered", "text", lambda it: it.lowered, per_kernel=True, late=True,
             python="program.lowered[{unit}]"),
    StageRow("llvm", "LLVM", "text", lambda it: it.source, per_kernel=True, late=True,
             python="program.source[{unit}]"),
    StageRow("llvm_passes", "LLVM passes", "llvm_passes", lambda it: (), True, asked=True,
             python="program.llvm_passes({kernel})"),
    StageRow("optimized", "LLVM optimised", "text", lambda it: it.optimized, True, True, late=True,
             python="program.optimized[{unit}]"),
    StageRow("asm", "Assembly", "text", lambda it: it.assembly, True, True, late=True,
             python="program.assembly[{unit}]"),
    StageRow("run", "Run", "run", lambda it: (it.measure(),), on_demand=True, asked=True,
             python="program.measure()"),
)  # fmt: skip
AS_WRITTEN, AFTER_PASSES = "as written", "after passes"
BY_ID = {row.id: row for row in STAGES}
USUAL = tuple(row for row in STAGES if row.id != "modules")
"""The stages of every program: only models have modules."""
WITH_GRAPHS = tuple(row.id for row in USUAL if row.id != "passes" and not row.asked)
"""The stages that are there once a program is compiled."""
EXPORTED = ("modules", *WITH_GRAPHS, "run")
"""The stages that can be exported one by one; for the last one the program is run."""


@dataclass(frozen=True)
class Unit:
    """One stage object and the name it goes by inside its stage ("" where there is only one)."""

    name: str
    title: str
    stage: "Stage"


def units(compilation: "Compilation", row: StageRow) -> Iterator[Unit]:
    """The stage objects of one ribbon entry, in order."""
    is_rewritten = row.id == "graph" and any(it.stage == "graph" for it in compilation.passes)
    for stage in row.find(compilation):
        name = stage.name if row.per_kernel else AS_WRITTEN if is_rewritten else ""
        yield Unit(name, row.label if row.asked else stage.title, stage)
    if is_rewritten:
        yield Unit(AFTER_PASSES, "the graph after its passes", compilation.optimized_graph)


def in_python(row: StageRow, position: int, name: str) -> tuple[str, str]:
    """A stage object's graph and its text in Python, of a compilation `program`."""
    python = "program.optimized_graph" if name == AFTER_PASSES else row.python
    python = python.replace("{unit}", str(position)).replace("{kernel}", json.dumps(name))
    return row.graph.replace("{python}", python), f"print({python})"


def printed(stage: "Stage") -> str:
    """The stage as text that is safe for a terminal, whatever its names contain."""
    return printout(line.text for line in stage.lines)

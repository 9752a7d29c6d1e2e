"""interpreted: a program cut into kernels, run on the interpreter of one of its stages.

    kernels     the kernel graph, call by call, on NumPy
    schedule    the items in their order, the bodies of their kernels on NumPy
    loops       the items, the loops of their kernels on the interpreter of loops
    lowered     the items, the instructions of their kernels on the interpreter of instructions
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from compiler.core.dtypes import Array
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.loops import interpret as loops_interpreter
from compiler.loops.nodes import Body
from compiler.lowered.instructions import Instruction
from compiler.lowered.run_tasks import run_tasks
from compiler.run.allocation import with_copies
from compiler.run.bindings import Values, sliced
from compiler.schedule import interpret as schedule_interpreter
from compiler.schedule.items import Kernel, ScheduleItem
from compiler.schedule.kinds import KernelSink
from compiler.stages.stages import ProgramStages

Engine: TypeAlias = Literal["kernels", "schedule", "loops", "lowered"]
ENGINES: tuple[Engine, ...] = ("kernels", "schedule", "loops", "lowered")
"""The stages, in order."""


@dataclass(frozen=True, eq=False)
class Stages:
    """A program at the stages that interpreters run, with its data and values of variables."""

    kernels: KernelSink
    items: Sequence[ScheduleItem]
    holders: Sequence[Buffer]
    """The buffer of each result."""
    results: Sequence[TensorNode]
    """Each result as a node of the tensor graph."""
    loops: Callable[[Sink], Body]
    """The loops of the kernel with a body."""
    instructions: Callable[[Sink], Sequence[Instruction]]
    """The instructions of the kernel with a body."""
    inputs: Mapping[Buffer, Array]
    """The data of every input, flat."""
    values: Values


def run_bodies(
    compilation: ProgramStages, engine: str, variables: Values | None = None
) -> list[Array]:
    """The results of a compilation, run kernel by kernel on the interpreter of stage `engine`.

    `engine` is "kernels", "schedule", "loops" or "lowered"; `variables` are values over those
    bound. Raises `DataError` as `run` does.
    """
    return interpreted(stages_of(compilation, compilation.values_of_run(variables)), engine)


def stages_of(compilation: ProgramStages, values: Values) -> Stages:
    """The programs that interpreters run for a compilation, on its own data."""
    schedule = compilation.schedule
    return Stages(
        kernels=compilation.kernels.root, items=schedule.items, holders=schedule.results,
        results=compilation.results, inputs=compilation.inputs(), values=values,
        loops=lambda body: compilation.kernel(body).loops,
        instructions=lambda body: compilation.kernel(body).linear.instructions,
    )  # fmt: skip


def interpreted(stages: Stages, engine: str) -> list[Array]:
    """The results, run on the interpreter of stage `engine`; inputs stay as they are."""
    inputs = with_copies(stages.inputs, stages.items)
    if engine == "kernels":
        flat = schedule_interpreter.interpret_kernels(stages.kernels, inputs, stages.values)
    else:
        run = {"schedule": _on_numpy, "loops": _as_loops, "lowered": _as_instructions}[engine]
        flat = schedule_interpreter.interpret(
            stages.items, stages.holders, inputs, partial(run, stages)
        )
    return sliced(flat, stages.results, stages.values)


def _on_numpy(stages: Stages, kernel: Kernel, arguments: Sequence[Array]) -> None:
    schedule_interpreter.run_kernel(kernel, arguments, stages.values)


def _as_loops(stages: Stages, kernel: Kernel, arguments: Sequence[Array]) -> None:
    variables = {**stages.values, **dict(kernel.fixed)}
    loops_interpreter.interpret(stages.loops(kernel.body), arguments, variables=variables)


def _as_instructions(stages: Stages, kernel: Kernel, arguments: Sequence[Array]) -> None:
    variables = {**stages.values, **dict(kernel.fixed)}
    run_tasks(stages.instructions(kernel.body), arguments, variables=variables)

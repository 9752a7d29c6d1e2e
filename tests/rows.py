"""Pipeline passes in tests: run on a test's graph, or replaced."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from compiler.core.kept import Kept
from compiler.core.passes import Step
from compiler.graph.nodes import Sink
from compiler.loops.choices import Choices
from compiler.loops.nodes import Body
from compiler.pipeline import driver, kernels, rows
from compiler.pipeline.kernels import KernelUnit
from compiler.pipeline.scheduling import ProgramUnit
from compiler.program.compilation import Compilation
from compiler.settings.options import Options


def after_graph_passes(root: Sink, options: Options) -> ProgramUnit:
    """A program after the graph's rows."""
    unit = ProgramUnit(graph=root, options=options, prefix="graph:")
    driver.run(unit, "graph")
    return unit


def plain_loops(body: Sink, options: Options) -> Body:
    """The loops of a kernel as they are before any choice."""
    unit = KernelUnit(body=body, name="k0", options=options, choices=Choices())
    driver.run(unit, "loops", until="choose")
    return unit.loops


def whole_loops(made: Compilation) -> Body:
    """The loops before any choice of a program that is one kernel."""
    (kernel,) = made._kernels
    return kernel.whole


def with_choices(loops: Body, choices: Choices, options: Options) -> Body:
    """Loops after the passes that do what the choices say."""
    last = [row.name for row in rows.PIPELINE if row.is_chosen][-1]
    unit = KernelUnit(body=Sink(()), name="k0", options=options, choices=choices)
    unit.loops = loops
    driver.run(unit, "loops", after="choose", until=last)
    return unit.loops


def replace_row(patch: pytest.MonkeyPatch, place: str, function: Callable[..., object]) -> None:
    """Have other functions run in the rows called `place`, e.g. "loops.choose"."""
    changed = tuple(
        replace(row, function=function) if row.place == place else row for row in rows.PIPELINE
    )
    assert changed != rows.PIPELINE, f"there is no row {place}"
    patch.setattr(rows, "PIPELINE", changed)
    patch.setattr(kernels, "LOOPED", Kept(kernels.HELD))  # what other rows made is not met again
    patch.setattr(kernels, "WORKS", Kept(kernels.KEPT))


@contextmanager
def watched() -> Iterator[list[Step]]:
    """The rows that run meanwhile, in the order in which they begin."""
    ran: list[Step] = []
    usual = driver.call

    def call(row: Step, *given: Any) -> Any:
        ran.append(row)
        return usual(row, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "call", call)
        yield ran

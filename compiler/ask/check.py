"""check: every stage of a compilation runs on the same inputs; each is held against the first.

The first stage is the graph as written, on NumPy. The others may differ from it by rounding
(`checking.py`). The last rows are the program as users run it (`ask/as_run.py`).
"""

from collections.abc import Iterable
from functools import partial
from typing import cast

from compiler.ask.checking import (
    Expected,
    Report,
    Row,
    Stage,
    reference,
    row_of,
    run_graph,
    run_machine,
)
from compiler.ask.interpreted import ENGINES, run_bodies
from compiler.core.lazy import loading
from compiler.device import dask
from compiler.graph.nodes import Sink
from compiler.run.bindings import Values
from compiler.stages.stages import ProgramStages


def _interpreted(compilation: ProgramStages, values: Values) -> list[Stage]:
    """The program after each graph pass, and at every stage before machine code, in order."""
    passes = [record for record in compilation.passes if record.stage == "graph"]
    return [
        *((f"pass {it.name}", partial(run_graph, cast(Sink, it.after), values)) for it in passes),
        *((name, partial(run_bodies, compilation, name, values)) for name in ENGINES),
    ]


def check(compilation: ProgramStages, variables: Values | None = None) -> Report:
    """Run every stage of `compilation` and compare it with the graph as written.

    `variables` are values over those bound. Where a cluster is in use its workers run what
    interpreters run, machine code runs here meanwhile: the rows are the same. Raises `DataError`
    as `run` does.
    """
    with loading():
        from compiler.ask.as_run import as_run  # only who checks loads it
        from compiler.ask.check_transfers import check_transfers, has_transfers

    values = compilation.values_of_run(variables)
    away = _elsewhere(compilation, values)
    expected = reference(compilation, values)
    transfers = [check_transfers(compilation, values)] if has_transfers(compilation) else []
    machine: Stage = "machine code", partial(run_machine, compilation, values)
    run = [*_rows(expected, [machine]), *(it() for it in as_run(compilation, values, expected))]
    rows = _rows(expected, away or _interpreted(compilation, values))
    passes, stages = rows[: -len(ENGINES)], rows[-len(ENGINES) :]
    first = Row("graph", True, 0.0, 0.0, "reference")
    return Report((first, *passes, *transfers, *stages, *run))


def _rows(expected: Expected, stages: Iterable[Stage]) -> list[Row]:
    return [row_of(name, expected, run) for name, run in stages]


def _elsewhere(compilation: ProgramStages, values: Values) -> list[Stage] | None:
    """The interpreters' programs, on the workers of a cluster; None where there is no cluster, or
    where they cannot be sent."""
    engine = dask.used()
    if engine is None:
        return None
    with loading():
        from compiler.ask.check_elsewhere import check_elsewhere

    return check_elsewhere(engine, compilation, values)

"""check: every stage of a compilation runs on the same inputs; each is held against the first.

The first stage is the graph as written, on NumPy. The others may differ from it by rounding
(`checking.py`). The last rows are the program as users run it (`ask/as_run.py`).
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, cast

from compiler.ask.checking import (
    Array,
    Checkable,
    Report,
    Row,
    reference,
    row_of,
    run_bodies,
    run_graph,
    run_machine,
)
from compiler.core.lazy import loading
from compiler.graph.nodes import Sink
from compiler.run.bindings import Values

Engine: TypeAlias = tuple[str, Callable[[], list[Array]]]


def _passes(compilation: Checkable, values: Values) -> list[Engine]:
    """The program after each graph pass."""
    passes = [record for record in compilation.passes if record.stage == "graph"]
    return [
        (f"pass {record.name}", partial(run_graph, cast(Sink, record.after), values))
        for record in passes
    ]


def _stages(compilation: Checkable, values: Values) -> list[Engine]:
    """Every later stage, in order."""
    names = "kernels", "schedule", "loops", "lowered"
    return [
        *((name, partial(run_bodies, compilation, name, values)) for name in names),
        ("machine code", lambda: run_machine(compilation, values)),
    ]


def check(compilation: Checkable, variables: Values | None = None) -> Report:
    """Run every stage of `compilation` and compare it with the graph as written.

    `variables` are values over those bound. Raises `DataError` as `run` does.
    """
    with loading():
        from compiler.ask.as_run import as_run  # only who checks loads it
        from compiler.ask.check_transfers import check_transfers, has_transfers

    values = compilation.values_of_run(variables)
    expected = reference(compilation, values)
    rows = [row_of(name, expected, run) for name, run in _passes(compilation, values)]
    if has_transfers(compilation):
        rows.append(check_transfers(compilation, values))
    rows += [row_of(name, expected, run) for name, run in _stages(compilation, values)]
    rows += [run() for run in as_run(compilation, values, expected)]
    return Report((Row("graph", True, 0.0, 0.0, "reference"), *rows))

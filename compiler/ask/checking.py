"""A stage of a compilation on its inputs, and how that compares with what is right.

Stages may differ from the graph as written by rounding: sums may be added up in another order, and
elementary functions differ by a few units in the last place. How far that may go is found for each
element (`ask/rounding.py`); what is further off is an error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import CompileError, InternalError
from compiler.core.lazy import loading
from compiler.core.printable import ShownAsText, printout
from compiler.device.cpu import MEMORY
from compiler.graph.interpret import interpret
from compiler.graph.nodes import Buffer, Sink
from compiler.run.allocation import with_copies
from compiler.run.bindings import Values, graph_inputs, sliced
from compiler.stages.stages import ProgramStages

Stage: TypeAlias = tuple[str, Callable[[], list[Array]]]
"""The name of a stage, and who runs it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One stage: whether it agrees (None: it could not run), how far off, and a note."""

    stage: str
    ok: bool | None
    max_abs: float
    max_rel: float
    note: str = ""
    allowed: float = 0.0
    """The error by rounding that is allowed for the element that is furthest off."""


@dataclass(frozen=True, slots=True)
class Report(ShownAsText):
    """The outcome of `check`: a row per stage, in order."""

    rows: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """True if no stage disagrees."""
        return all(row.ok is not False for row in self.rows)

    def __bool__(self) -> bool:
        """True if no stage disagrees: `assert compilation.check()` means what it says."""
        return self.ok

    @property
    def first_difference(self) -> Row | None:
        """The first stage that disagrees, if one does."""
        return next((row for row in self.rows if row.ok is False), None)

    def __str__(self) -> str:
        marks = {True: "✓", False: "✗", None: "–"}
        return printout(
            f"{marks[row.ok]} {row.stage:<24} max abs {row.max_abs:<10.3g} "
            f"max rel {row.max_rel:<10.3g} {row.note}".rstrip()
            for row in self.rows
        )


@dataclass(frozen=True, slots=True)
class Expected:
    """The right results, and how far each element may be off."""

    results: list[Array]
    bounds: list[Array]


def reference(compilation: ProgramStages, values: Values) -> Expected:
    """The results of the graph as written, and how far they may be off."""
    with loading():  # only who checks loads it
        from compiler.ask.rounding import rounding

    written = compilation.written
    inputs = graph_inputs(written, values)
    return Expected(interpret(written.sources, inputs), rounding(written, inputs))


def row_of(name: str, expected: Expected, run: Callable[[], list[Array]]) -> Row:
    """The comparison of what `run` returns; a stage that cannot run is neither right nor wrong."""
    try:
        return _compare(name, expected, run())
    except InternalError as error:
        return Row(name, False, np.inf, np.inf, f"broken: {error.problem}")
    except CompileError as error:
        return Row(name, None, 0.0, 0.0, f"not executable: {error.problem}")


def run_graph(root: Sink, values: Values) -> list[Array]:
    """The values of a tensor graph's results."""
    return interpret(root.sources, graph_inputs(root, values))


def run_machine(compilation: ProgramStages, values: Values) -> list[Array]:
    """The results from machine code, on copies of the inputs: it may write some of them."""
    with MEMORY.poisoned():
        flat = compilation.run_flat(values, copies(compilation))
    return sliced(flat, compilation.results, values)


def copies(compilation: ProgramStages) -> dict[Buffer, Array]:
    """The inputs, with copies of those that the program writes: each engine finds them as they
    are."""
    return with_copies(compilation.inputs(), compilation.schedule.items)


def _compare(stage: str, expected: Expected, results: list[Array]) -> Row:
    """One row of the report."""
    max_abs = max_rel = allowed = 0.0
    note, ok = "", True
    for number, (want, have) in enumerate(zip(expected.results, results, strict=True)):
        if want.dtype != have.dtype or want.shape != have.shape:
            return Row(stage, False, np.inf, np.inf, f"{have.dtype}{have.shape}")
        bound = expected.bounds[number]
        difference = differences(want, have, bound)
        max_rel = max(max_rel, difference.relative)
        if difference.absolute > max_abs:
            max_abs, allowed = difference.absolute, difference.allowed
        if difference.wrong.any() and ok:
            at = tuple(int(i) for i in np.argwhere(difference.wrong)[0])
            far = f"{float(bound[at]):.3g} would be rounding"
            ok, note = False, f"result {number}{list(at)}: {have[at]} instead of {want[at]}; {far}"
    return Row(stage, ok, max_abs, max_rel, note, allowed)


@dataclass(frozen=True, slots=True)
class Differences:
    """The elements in which two arrays differ by more than rounding; the largest difference, both
    ways, and what is allowed there."""

    wrong: Array
    absolute: float
    relative: float
    allowed: float


def differences(want: Array, have: Array, bound: Array) -> Differences:
    """The difference of two arrays, whose elements may be off by `bound`."""
    with np.errstate(all="ignore"):
        wide, other = want.astype(np.float64), have.astype(np.float64)
        same = (want == have) | (np.isnan(wide) & np.isnan(other))
        gap = np.where(same, 0.0, np.abs(wide - other))
        gap = np.where(np.isnan(gap), np.inf, gap)
        gap = np.where(same, 0.0, np.maximum(gap, np.finfo(np.float64).tiny))
        wrong = ~(gap <= bound)
        least = np.maximum(bound, np.finfo(np.float32).tiny)
        ratio = gap / np.maximum(np.abs(wide), least)
    if not gap.size:
        return Differences(wrong, 0.0, 0.0, 0.0)
    furthest = int(np.argmax(gap))
    allowed = float(np.broadcast_to(bound, gap.shape).reshape(-1)[furthest])
    return Differences(wrong, float(gap.max()), float(ratio.max()), allowed)

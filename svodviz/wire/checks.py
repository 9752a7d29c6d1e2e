"""The checks of each pass, each rewrite and each stage, as data for the page.

A mark is true, false, or null for what cannot be run, with words. `steps` has one for each rewrite
of each pass, as far as time allows. What was not asked for has no mark: a bisection leaves marks
only on what it tried.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.ask.bisect import Bisection
    from compiler.ask.checking import Row
    from compiler.program.compilation import Compilation
    from svodviz.data import records

SECONDS = 3.0
"""Seconds for which rewrites are checked one by one. A choice."""
RUNS = ("native steps", "threads", "memory plan", "numpy()", "prepare().run()",
        "prepare().run(inputs)")  # fmt: skip
"""The names in the compiler's report of the steps from machine code to what users run."""
STAGES = {"kernels": ("kernels",), "schedule": ("transfers", "schedule"), "loops": ("loops",),
          "lowered": ("lowered",), "asm": ("machine code",), "run": RUNS}  # fmt: skip
"""The stages of the ribbon that run, with their rows in the compiler's report."""
AS_USERS = "; what numpy() and prepare().run() give"
AS_IT_RUNS = ("llvm", "optimized")
"""Stages that run only as the machine code made from them."""
AFTER_REWRITE = " after rewrite "
"""The words in the titles of runs that followed a rewrite of a pass."""


@dataclass
class Checks:
    """Rows of the compiler's checks: by pass, by pass and rewrite, by stage."""

    passes: "dict[int, Row]" = field(default_factory=dict)
    steps: "dict[tuple[int, int], Row]" = field(default_factory=dict)
    stages: "dict[str, Row]" = field(default_factory=dict)
    note: str = ""

    @property
    def is_right(self) -> bool:
        """True if something ran and nothing was wrong."""
        rows = (*self.passes.values(), *self.steps.values(), *self.stages.values())
        ran = [row.ok for row in rows]
        return True in ran and False not in ran


def check_all(compilation: "Compilation") -> Checks:
    """Every pass and stage run on the program's inputs; rewrites as far as time allows."""
    from compiler.ask.check_passes import Bench, check_passes
    from compiler.core.errors import CompileError

    checks = Checks()
    try:
        checks.passes = dict(enumerate(check_passes(compilation)))
        rows = {row.stage: row for row in compilation.check().rows}
        bench = Bench(compilation)
    except CompileError as error:
        return Checks(note=f"nothing was checked: {error.problem}")
    for stage, names in STAGES.items():
        there = [rows[name] for name in names if name in rows]
        checks.stages |= {stage: _one_of(there, len(names))} if there else {}
    checks.stages["graph"] = rows["graph"]
    until = time.monotonic() + SECONDS
    for place, record in enumerate(compilation.passes):
        is_judged = checks.passes[place].ok is not None
        for count in range(1, len(record.matches) + 1 if is_judged else 1):
            if time.monotonic() > until:
                checks.note = "rewrites were checked one by one as far as time allowed"
                return checks
            checks.steps[place, count] = bench.row(record, record.program_after(count))
    return checks


def _one_of(rows: "Sequence[Row]", names: int) -> "Row":
    """The first of a stage's rows that is wrong, by its name where there may be several; else that
    which is furthest off."""
    wrong = next((row for row in rows if row.ok is False), None)
    if wrong is None:
        return max(rows, key=lambda row: row.max_abs)
    return replace(wrong, note=f"{wrong.stage}: {wrong.note}") if names > 1 else wrong


def tried(bisection: "Bisection") -> Checks:
    """The marks of what a bisection tried."""
    checks = Checks()
    stages = {name: stage for stage, names in STAGES.items() for name in names}
    rows_by_pass: dict[str, list[Row]] = {}
    for row, place in zip(bisection.tried, bisection.places, strict=True):
        if AFTER_REWRITE in row.stage:
            checks.steps[bisection.place, place] = row
        elif place >= 0:
            checks.passes[place] = row
        elif row.stage in stages:
            rows_by_pass.setdefault(stages[row.stage], []).append(row)
    checks.stages = {
        stage: _one_of(rows, len(STAGES[stage])) for stage, rows in rows_by_pass.items()
    }
    if bisection.row is not None and bisection.place >= 0:
        checks.passes[bisection.place] = bisection.row
    return checks


def check_rows(checks: Checks, compilation: "Compilation") -> "records.Checks":
    """The marks for the page."""
    passes = [_mark(checks.passes.get(n)) for n in range(len(compilation.passes))]
    steps = [
        [_mark(checks.steps.get((place, count + 1))) for count in range(len(record.matches))]
        if any(key[0] == place for key in checks.steps)
        else []
        for place, record in enumerate(compilation.passes)
    ]
    stages = {stage: _marked(row) for stage, row in checks.stages.items()}
    if "run" in stages and checks.stages["run"].ok:
        stages["run"] = stages["run"][0], stages["run"][1] + AS_USERS
    if any(passes):
        stages["passes"] = _of_all(checks)
    if "asm" in stages:
        words = "not executable by itself: it runs as the machine code made from it"
        stages |= dict.fromkeys(AS_IT_RUNS, (None, words))
    return {"passes": passes, "steps": steps, "stages": stages}


def _of_all(checks: Checks) -> "records.Mark":
    wrong = [row for row in checks.passes.values() if row.ok is False]
    if wrong:
        return False, visible(f"wrong after {len(wrong)} of {len(checks.passes)} passes tried")
    return True, f"right after each of the {len(checks.passes)} passes tried"


def _mark(row: "Row | None") -> "records.Mark | None":
    return None if row is None else _marked(row)


def _marked(row: "Row") -> "records.Mark":
    return row.ok, visible(words_of(row))


def words_of(row: "Row") -> str:
    """One row in a sentence: how far off, where first, and how far rounding may go."""
    if row.ok is None:
        return row.note
    if row.ok and not row.max_abs:
        return "right, to the bit"
    far = f"off by at most {row.max_abs:.2g}, relative {row.max_rel:.2g}"
    if row.ok:
        return f"right: {far}; rounding may be {row.allowed:.2g} there"
    return f"wrong: {row.note}; {far}"

"""bisect: the first pass that makes a program wrong, by binary search, and its first wrong rewrite.

    Where each step runs on the program's inputs:

        graph as written ✓ → graph passes → kernels → loops of k0, k1, … → instructions → machine
        machine ✓ → native steps → threads → memory plan → numpy() → prepare().run()

What is wrong at the end was right at the beginning, so half of the steps in between are ruled out
by each run. Within the pass the same is done over its rewrites. Where the machine code is right,
what users run is tried step by step (`as_run.py`). `tried` has every run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from compiler.ask.as_run import as_run
from compiler.ask.check_passes import Bench
from compiler.ask.check_transfers import check_transfers, has_transfers
from compiler.ask.checking import Row, copies, row_of, run_machine
from compiler.ask.interpreted import run_bodies
from compiler.core.dtypes import Array
from compiler.core.keywords import program_call
from compiler.core.printable import ShownAsText, printout
from compiler.core.trace import Match, PassRecord
from compiler.loops.interpret import interpret
from compiler.run.bindings import Values, sliced
from compiler.schedule import interpret as schedule_interpreter
from compiler.schedule.items import Kernel
from compiler.stages.stages import ProgramStages


@dataclass(frozen=True, slots=True)
class Bisection(ShownAsText):
    """The result of a search. `place` is the position of the pass in `compilation.passes`, -1 where
    no pass is at fault; `step` counts its rewrites up to the first wrong one, 0 where none is."""

    tried: tuple[Row, ...]
    places: tuple[int, ...] = ()
    """For each run the position of the pass that it followed, -1 where it followed none; for
    those of single rewrites how many of them it followed."""
    step: int = 0
    place: int = -1
    row: Row | None = None
    """Its largest difference, and the first element that differs."""
    record: PassRecord | None = None

    @property
    def is_right(self) -> bool:
        """True if nothing is wrong."""
        return self.row is None

    @property
    def match(self) -> Match | None:
        """The first wrong rewrite, where rewrites were recorded."""
        return self.record.matches[self.step - 1] if self.record and self.step else None

    def __str__(self) -> str:
        return printout([*self._verdict(), *(f"  {_shown(row)}" for row in self.tried)])

    def _verdict(self) -> list[str]:
        """The words for what is wrong."""
        if self.row is None:
            return ["every stage agrees with the graph as written, up to rounding; tried:"]
        if self.record is None:
            return [f"no pass is at fault, but {self.row.stage}: {self.row.note}; tried:"]
        where = f"{self.record.stage} {self.record.kernel}".strip()
        lines = [f"the first wrong pass is {self.record.name} ({where}): {self.row.note}"]
        if self.match is not None:
            algebra = f": {self.match.algebra}" if self.match.algebra else ""
            count = f"rewrite {self.step} of {len(self.record.matches)}"
            lines.append(f"its first wrong rewrite is {count}, by {self.match.rule}{algebra}")
        return [*lines, "tried:"]


def _shown(row: Row) -> str:
    mark = {True: "✓", False: "✗", None: "–"}[row.ok]
    return f"{mark} {row.stage}  {row.note}".rstrip()


@dataclass(frozen=True, slots=True)
class _Point:
    """A step of the program's making that can be run; `kernel` where it is that of one."""

    run: Callable[[], Row]
    place: int = -1
    kernel: str = ""


class _Search:
    """One search: points in order, and every run of one."""

    def __init__(self, compilation: ProgramStages, variables: Values | None) -> None:
        self.compilation = compilation
        self.bench = Bench(compilation, variables)
        self.tried: list[Row] = []
        self.places: list[int] = []

    def first_wrong(self, points: Sequence[_Point]) -> tuple[_Point, Row] | None:
        """The first of some points that is wrong, taken that all after one are wrong too."""
        last = self._run(points[-1]) if points else None
        if last is None or last.ok is not False:
            return None
        low, high, wrong_row = 0, len(points) - 1, last
        while low < high:
            middle = (low + high) // 2
            row = self._run(points[middle])
            if row.ok is False:
                high, wrong_row = middle, row
            else:
                low = middle + 1
        return points[high], wrong_row

    def _run(self, point: _Point) -> Row:
        row = point.run()
        self.tried.append(row)
        self.places.append(point.place)
        return row

    def runs(self) -> tuple[tuple[Row, ...], tuple[int, ...]]:
        """Every run, and behind what."""
        return tuple(self.tried), tuple(self.places)

    def whole(self) -> list[_Point]:
        """The steps of the whole program."""
        program, bench = self.compilation, self.bench
        records = [(n, r) for n, r in enumerate(program.passes) if r.stage == "graph"]
        passes = [_Point(partial(bench.row, record), n) for n, record in records]
        names = bench.kernels
        loops = [
            _Point(self._program(f"loops up to {name}", partial(self._mixed, names[: n + 1])),
                   kernel=name)
            for n, name in enumerate(names)
        ]  # fmt: skip
        values = bench.values
        is_copied = has_transfers(program)
        copies = [_Point(partial(check_transfers, program, values))] if is_copied else []
        kernels = self._program("kernels", partial(run_bodies, program, "kernels", values))
        ends = [("lowered", partial(run_bodies, program, "lowered", values)),
                ("machine code", partial(run_machine, program, values))]  # fmt: skip
        return [
            *passes, *copies, _Point(kernels), *loops,
            *(_Point(self._program(*row)) for row in ends),
        ]  # fmt: skip

    def wrong_run(self) -> Row | None:
        """The first wrong step from machine code to what users run."""
        bench = self.bench
        for run in as_run(self.compilation, bench.values, bench.expected):
            row = self._run(_Point(run))
            if row.ok is False:
                return row
        return None

    def _program(self, name: str, run: Callable[[], list[Array]]) -> Callable[[], Row]:
        return lambda: row_of(name, self.bench.expected, run)

    def _mixed(self, names: Sequence[str]) -> list[Array]:
        """The results, the kernels called so by their loops, the others by their bodies."""
        program, values = self.compilation, self.bench.values

        def run(kernel: Kernel, arguments: Sequence[Array]) -> None:
            compiled = program.kernel(kernel.body)
            variables = {**values, **dict(kernel.fixed)}
            if compiled.name in names:
                interpret(compiled.loops, arguments, variables=variables)
            else:
                schedule_interpreter.run_kernel(kernel, arguments, values)

        plan = program.schedule
        flat = schedule_interpreter.interpret(plan.items, plan.results, copies(program), run)
        return sliced(flat, program.results, values)

    def in_kernel(self, name: str) -> tuple[_Point, Row] | None:
        """The first wrong pass on the loops of a kernel; the loops as they were made come first."""
        records = [(n, r) for n, r in enumerate(self.compilation.passes) if r.kernel == name]
        passes = [_Point(partial(self.bench.row, r), n) for n, r in records]
        return self.first_wrong([_Point(partial(self.bench.indexed, name)), *passes])

    def first_rewrite(self, record: PassRecord) -> int:
        """The number of the first wrong rewrite of a pass; 0 where it has none by itself."""
        points = [
            _Point(partial(self._after, record, count), count)
            for count in range(1, len(record.matches) + 1)
        ]
        wrong = self.first_wrong(points)
        return wrong[0].place if wrong else 0

    def _after(self, record: PassRecord, count: int) -> Row:
        title = f"{record.name} after rewrite {count}"
        return self.bench.row(record, record.program_after(count), title)


@program_call
def bisect(compilation: ProgramStages, variables: Values | None = None) -> Bisection:
    """The first pass and the first rewrite that made the results of `compilation` wrong.

    `variables` are values over those bound. Raises `DataError` as `run` does. Rewrites are
    distinguished where they were recorded (`Options(trace=True)`, the default of `compile`).
    """
    search = _Search(compilation, variables)
    first_wrong = search.first_wrong(search.whole())
    if first_wrong is None:
        wrong = search.wrong_run()
        return Bisection(*search.runs(), row=wrong)
    point, row = first_wrong
    if point.kernel:
        point, row = search.in_kernel(point.kernel) or (point, row)
    if point.place < 0:
        return Bisection(*search.runs(), row=row)
    record = compilation.passes[point.place]
    step = search.first_rewrite(record)
    return Bisection(*search.runs(), step, point.place, row, record)

"""measure: a program is run a few times, every item of its schedule timed.

A round runs all items one after the other, in the schedule's order and on the program's own data,
so that each finds in the caches what the items before it left there. Kernels are called as they are
in `run()`: the same machine code, with its threads. What the program writes of the user's data it
writes in copies, which are restored before each round; nobody's data are changed.

    first round     loads what has to be loaded; it counts only where there is no time for others
    rounds          as many as fit the budget; each item's time is the median
    whole runs      `run()` itself, with the memory that it takes and what Python does between items

Functions of the user's are called in every round, as `run()` would call them. A program for the
workers of a cluster is run whole (`worker_rounds.py`).
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from compiler.ask.measurement import ItemTime, Measurement
from compiler.core import garbage
from compiler.core.dtypes import Array
from compiler.core.errors import DataError, SizeError, located
from compiler.core.lazy import loading
from compiler.device import device
from compiler.graph.devices import is_remote
from compiler.graph.nodes import Buffer
from compiler.llvm import jit
from compiler.machines.system import core_count
from compiler.run import bindings, execution
from compiler.run.allocation import allocate, with_copies
from compiler.run.feeding import Given
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.host import Host
from compiler.schedule.items import HostCallback, Kernel, ScheduleItem
from compiler.stages.stages import ProgramStages
from compiler.threads.launch import Launch

if TYPE_CHECKING:
    from compiler.ask.worker_rounds import WorkerRounds

Runs = Sequence[Callable[[], None]]
SECONDS = 1.0
"""The time for all of it: rounds, and whole runs. As the next three, what a person waits for:
chosen, not measured."""
FOR_ROUNDS = 0.75
"""The share of the time in which rounds begin."""
MOST_RUNS = 101
"""Rounds, and whole runs, at most."""
CALLS = 51
"""Empty calls that are timed."""
clock = time.perf_counter_ns


@located
def measure(
    compilation: ProgramStages,
    inputs: Given = None,
    variables: bindings.Values | None = None,
    seconds: float = SECONDS,
) -> Measurement:
    """Run a program again and again for so many seconds, and say what each item takes.

    `inputs` and `variables` are those of `run()`. Large programs run less often; items that the
    time does not suffice for are left out, and listed as such. Only one long item takes longer.
    Raises `DataError` as `run()` does.
    """
    if not seconds > 0:
        raise DataError("measure", "no time to measure", got=repr(seconds), expected="seconds > 0")
    start, values = clock(), compilation.values_of_run(variables, inputs)
    schedule = compilation.schedule
    rounds = _rounds(schedule.items, compilation.inputs(inputs, values), seconds)
    flat = compilation.run_flat(values, rounds.originals, rounds.run)
    results = () if rounds.is_cut else bindings.sliced(flat, compilation.results, values)
    return Measurement(
        title=f"one run of {compilation.name}",
        name="run",
        seconds=(clock() - start) * 1e-9,
        schedule=schedule,
        times=rounds.times(),
        whole=rounds.whole(),
        call=empty_call(),
        results=tuple(results),
        notes=tuple(rounds.notes(compilation.options.device)),
        machine=f"{jit.host_name()}, {core_count()} cores",
        timeline=rounds.timeline,
    )


def _rounds(
    items: Sequence[ScheduleItem], originals: Mapping[Buffer, Array], seconds: float
) -> "_Rounds | WorkerRounds":
    """The runner of the program: here, or on the workers that have a part in it."""
    if not any(is_remote(name) for item in items for name in item.operation.devices):
        return _Rounds(originals, seconds)
    with loading():
        from compiler.ask.worker_rounds import WorkerRounds

    return WorkerRounds(originals, seconds)


def empty_call() -> float:
    """Nanoseconds of a call of a kernel that does nothing."""
    launch = Launch(0, (), 0)
    return statistics.median(_timed(launch) for _ in range(CALLS))


def _timed(run: Callable[[], object]) -> int:
    start = clock()
    run()
    return clock() - start


class _Rounds:
    """A stand-in for `execution.run`: the same items, timed, until the time is up."""

    timeline = None
    """Nothing is known of lanes."""

    def __init__(self, originals: Mapping[Buffer, Array], seconds: float) -> None:
        self.originals = originals
        self.is_cut = False
        """True if the time was up before the first round was over."""
        self._seconds = seconds
        self._items: Sequence[ScheduleItem] = ()
        self._took: list[list[int]] = []
        self._whole: list[int] = []
        self._is_first = True
        """True if the first round is all there is."""

    def run(
        self,
        items: Sequence[ScheduleItem],
        results: Sequence[Buffer],
        inputs: Mapping[Buffer, Array],
        programs: execution.Programs,
        values: Mapping[str, int],
        plan: MemoryPlan | None = None,
    ) -> list[Array]:
        """Run the items, again and again; the results of the last round, flat."""
        self._items, self._took = items, [[] for _ in items]
        sources = with_copies(inputs, items)
        copies = {b: array for b, array in sources.items() if array is not inputs[b]}
        held = sources | allocate(items, plan)
        host = Host()
        runs = [execution.bind(item, held, programs, values, host) for item in items]

        def restore() -> None:
            for buffer, array in copies.items():
                np.copyto(array, inputs[buffer])

        def once() -> object:
            return execution.run(items, results, sources, programs, values, plan=plan)

        with garbage.put_off():
            end = clock() + round(self._seconds * 1e9)
            self._rounds(runs, restore, end)
            arrays = [held[b].copy() if b in inputs else held[b] for b in results]
            held, runs = {}, []  # a whole run takes memory of its own
            if not self.is_cut:
                self._runs(once, restore, end)
        return arrays

    def _rounds(self, runs: Runs, restore: Callable[[], None], end: int) -> None:
        """The first round, then others while there is time."""
        start = clock()
        for took, run in zip(self._took, runs, strict=True):
            if clock() > end and self._took[0]:
                self.is_cut = True
                return
            took.append(_timed(run))
        took_all, last = clock() - start, end - round((1 - FOR_ROUNDS) * self._seconds * 1e9)
        for _ in range(MOST_RUNS):
            if clock() + took_all > last:
                return
            restore()
            if self._is_first:
                self._is_first = False
                self._took = [[] for _ in runs]
            start = clock()
            for took, run in zip(self._took, runs, strict=True):
                took.append(_timed(run))
            took_all = clock() - start

    def _runs(self, once: Callable[[], object], restore: Callable[[], None], end: int) -> None:
        """Whole runs, as long as there is time for one more."""
        expected = sum(took[-1] for took in self._took)
        for _ in range(MOST_RUNS):
            if clock() + expected > end:
                return
            restore()
            try:
                self._whole.append(_timed(once))
            except SizeError:
                return  # the budget has room for the results of one run only
            expected = self._whole[-1]

    def times(self) -> tuple[ItemTime, ...]:
        """The median of each item that was reached, and its quartiles."""
        return tuple(
            _time(item.item_id, took)
            for item, took in zip(self._items, self._took, strict=True)
            if took
        )

    def whole(self) -> float | None:
        """The median of whole runs."""
        return statistics.median(self._whole) if self._whole else None

    def notes(self, kind: str) -> list[str]:
        """Sentences on what was left out or done otherwise; `kind` is `Options.device`."""
        reached = sum(map(bool, self._took))
        left = len(self._took) - reached
        functions = [i for i in self._items if isinstance(i.operation, HostCallback)]
        calls = 1 + len(self._took[0]) * (not self._is_first) + len(self._whole) if reached else 0
        sentences = {
            f"left out: {left:,} of {len(self._took):,} items were not reached in "
            f"{self._seconds:g} s": left > 0,
            "there was time for the first round only, which also loads what has to be loaded":
                self._is_first and reached > 0,
            "no time, or no memory, was left to measure run() as a whole":
                not self._whole and not left,
            f"your functions were called {calls} times each": bool(functions) and not left,
            "an interpreter runs kernels: their times are its own, no machine code's":
                any(_is_interpreted(item, kind) for item in self._items),
        }  # fmt: skip
        return [words for words, is_so in sentences.items() if is_so]


def _is_interpreted(item: ScheduleItem, kind: str) -> bool:
    operation = item.operation
    if not isinstance(operation, Kernel):
        return False
    return device.get(kind or operation.device).base_key == "INTERPRET"


def _time(item_id: int, took: Sequence[int]) -> ItemTime:
    ordered = sorted(took)
    low, high = ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4]
    return ItemTime(item_id, statistics.median(ordered), low, high, len(ordered))

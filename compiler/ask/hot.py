"""hot: the share of each instruction and block of a kernel's machine code in its time.

    81 %  .LBB0_2    262,144 runs
    17 %  block 3    4,096 runs
     2 %  k0_matmul  1 run
    93 %  mlp.py:12  h = (x @ w).relu()

The kernel is run alone, on the program's own data and on one thread, after the items before it.

    measured    where the system says where a thread is (`sampling.py`), thousands of times
    estimated   else: how often each block is run, which is counted, times what its instructions
                cost by LLVM's scheduling model; memory that is far away counts as if it were near

Shares of one kernel add up to 1.
"""

import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.ask.sampling import CannotSample, refuse_without_samples, sampled
from compiler.core.dtypes import Array
from compiler.core.errors import DeviceError
from compiler.core.origin import Origin
from compiler.core.printable import ShownAsText, printout
from compiler.core.text import aligned, counted, percent
from compiler.device.cpu import CpuProgram
from compiler.graph.nodes import Buffer
from compiler.llvm.level import Level
from compiler.llvm.looking import marked
from compiler.llvm.looking.latencies import Latencies
from compiler.llvm.looking.listing import Listing
from compiler.llvm.source import Source
from compiler.run import execution
from compiler.run.allocation import allocate, with_copies
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.host import Host
from compiler.schedule.items import Kernel, ScheduleItem
from compiler.stages.stages import ProgramStages

SECONDS = 0.3
"""Seconds for which a kernel is sampled: some thousand samples. A choice."""
LEAST = 200
"""Samples inside the kernel, fewer of which say too little. A choice: a share of one half is then
right to within 0.07 in 19 cases of 20."""
MOST = 12
"""Blocks that are printed."""
NO_LINE = "no line of the program"
OTHERWISE = 1
"""Cycles of an instruction that the scheduling model says nothing of."""


@dataclass(frozen=True, slots=True)
class Hot(ShownAsText):
    """The share of a kernel's time of each row of its assembly; labels have none.

    `how` says where the shares are from, `runs` how often each block is run, where it was counted.
    """

    kernel: str
    number: int
    listing: Listing
    shares: tuple[float, ...]
    is_measured: bool
    how: str
    runs: tuple[int, ...] = ()
    lines: tuple[tuple[Origin | None, float], ...] = ()
    """The shares of the user's lines, the greatest first; None: of what none was found for."""

    @property
    def blocks(self) -> tuple[float, ...]:
        """The share of each block."""
        return tuple(sum(self.shares[it.first : it.end]) for it in self.listing.flow.blocks)

    @property
    def ir_lines(self) -> dict[int, float]:
        """The share of each line of the generated LLVM IR that has any, by number."""
        shares: defaultdict[int, float] = defaultdict(float)
        for share, lines in zip(self.shares, self.listing.sources, strict=True):
            for line in lines if share else ():
                shares[line] += share / len(lines)
        return dict(shares)

    def __str__(self) -> str:
        labels = [block.label for block in self.listing.flow.blocks]
        runs = [counted(it, "run") for it in self.runs] or [""] * len(labels)
        rows = sorted(zip(self.blocks, labels, runs, strict=True), key=lambda row: -row[0])
        shown = [(percent(share), label, count) for share, label, count in rows[:MOST]]
        more = len(rows) - MOST
        lines = [
            (percent(share), at.place if at else "", at.text.strip() if at else NO_LINE)
            for at, share in self.lines
        ]
        return printout([
            f"{self.kernel}: {self.how}",
            *aligned(shown, (0,)), *([f"and {counted(more, 'block')} more"] if more > 0 else []),
            *aligned(lines, (0,)),
        ])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Watched:
    """A kernel to be watched: its LLVM IR, what LLVM does to it, its assembly, and the costs of its
    instructions, which are asked for where nothing can be measured.
    """

    source: Source
    level: Level
    listing: Listing
    costs: Callable[[], Latencies]


def hot(program: ProgramStages, kernel: Watched) -> Hot:
    """The shares of a kernel's instructions in its time, as the program runs it first.

    Raises `DataError` as `run()` does, and `DeviceError` where the kernel does not run as machine
    code, or runs can be neither sampled nor counted.
    """
    values = program.values_of_run(None, None)
    stand_in = _StandIn(kernel)
    program.run_flat(values, program.inputs(None, values), stand_in.run)
    if stand_in.found is None:
        raise DeviceError("hot", "no item of the program runs this kernel", got=kernel.source.name)
    return stand_in.found


class _StandIn:
    """A stand-in for `execution.run`: the items up to the kernel, which is watched."""

    def __init__(self, kernel: Watched) -> None:
        self._kernel = kernel
        self.found: Hot | None = None

    def run(
        self,
        items: Sequence[ScheduleItem],
        results: Sequence[Buffer],
        inputs: Mapping[Buffer, Array],
        programs: execution.Programs,
        values: Mapping[str, int],
        plan: MemoryPlan | None = None,
    ) -> list[Array]:
        """Run the items up to the kernel, watch it, and leave it at that."""
        held = with_copies(inputs, items) | allocate(items, plan)
        host = Host()
        for item in items:
            operation = item.operation
            if isinstance(operation, Kernel) and operation.name == self._kernel.source.name:
                program, *calls = execution.arguments(operation, programs, held, values)
                if not isinstance(program, CpuProgram) or program.is_misaligned(calls[0]):
                    raise DeviceError("hot", "this kernel does not run as the code that is shown")
                self.found = _watched(self._kernel, program, calls)
                break
            execution.step(item, held, programs, values, host)
        return [held[buffer] for buffer in results]


def _watched(kernel: Watched, program: CpuProgram, calls: Sequence[list[int]]) -> Hot:
    """Measured where that can be, else estimated."""
    try:
        return _measured(kernel, program, calls)
    except CannotSample as error:
        if marked.is_counted():
            return _estimated(kernel, program, calls, str(error))
        raise DeviceError("hot", "nothing can be measured here", got=str(error)) from error


def _measured(kernel: Watched, program: CpuProgram, calls: Sequence[list[int]]) -> Hot:
    """The shares by samples of the kernel's position."""
    refuse_without_samples()
    code = marked.marked(kernel.source, kernel.level, kernel.listing)
    again = program.of_code(code.code)
    places = [again.address_of(mark) for mark in code.marks]
    run = again.in_turn(*calls)
    run()  # the first run loads what has to be loaded
    samples = sampled(run, SECONDS)
    hits = Counter(bisect.bisect_right(places, it) - 1 for it in samples.addresses)
    rows = [hits[place] for place in range(len(kernel.listing.rows))]
    if sum(rows) < LEAST:
        raise CannotSample(f"too few samples: {counted(sum(rows), 'sample')} in {SECONDS:g} s")
    how = f"measured, {sum(rows):,} samples of where the kernel was, by {samples.by}"
    return _made(kernel, rows, True, how)


def _estimated(
    kernel: Watched, program: CpuProgram, calls: Sequence[list[int]], why: str
) -> Hot:
    """The shares by the number of runs of each block and the cost of its instructions."""
    costs, listing = kernel.costs(), kernel.listing
    counts = np.zeros(len(listing.flow.blocks), np.int64)
    code = marked.counted(kernel.source, kernel.level, listing, counts.ctypes.data)
    program.of_code(code).in_turn(*calls)()
    rows = [0.0] * len(listing.rows)
    for runs, block in zip(counts.tolist(), listing.flow.blocks, strict=True):
        for place in range(block.first, block.end):
            if not listing.rows[place].endswith(":"):
                rows[place] = runs * float(costs.cycles[place] or OTHERWISE)
    how = (f"estimated ({why}): how often each block is run, counted, times the cycles of its "
           f"instructions by LLVM's scheduling model of {costs.processor}")  # fmt: skip
    return _made(kernel, rows, False, how, tuple(counts.tolist()))


def _made(
    kernel: Watched, rows: Sequence[float], is_measured: bool, how: str, runs: tuple[int, ...] = ()
) -> Hot:
    total = sum(rows) or 1
    shares = tuple(it / total for it in rows)
    source = kernel.source
    return Hot(source.name, source.kernel, kernel.listing, shares, is_measured, how, runs)

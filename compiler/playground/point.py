"""Point: a trial of loop choices on one kernel: its legality, time, code and memory accesses."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.core.printable import printout
from compiler.core.text import duration
from compiler.llvm.looking import listing
from compiler.llvm.looking.listing import Listing
from compiler.llvm.source import Source
from compiler.loops.choices import Choices, text
from compiler.loops.printer import Loops
from compiler.lowered.printer import Lowered
from compiler.pipeline.kernels import CompiledKernel
from compiler.playground.caches import CacheReport


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one run: the median and the quartiles of several samples.

    `usual` is the median of the compiler's own choices, measured interleaved with these.
    """

    seconds: float
    low: float
    high: float
    samples: int
    usual: float

    @property
    def spread(self) -> float:
        """The interquartile range as a share of the median."""
        return (self.high - self.low) / self.seconds


def timing(pairs: Sequence[tuple[float, float]]) -> Timing:
    """The timing from pairs of samples: the compiler's own choices, and others."""
    usual, mine = ([pair[side] for pair in pairs] for side in (0, 1))
    low, middle, high = statistics.quantiles(mine, n=4, method="inclusive")
    return Timing(middle, low, high, len(pairs), statistics.median(usual))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Point:
    """One trial.

    `refused` is the reason why the choices are illegal, `unmeasured` why the kernel was not timed,
    `unseen` why its accesses are unknown. `flops` are the kernel's operations, which do not depend
    on the choices; `label` is the user's.
    """

    number: int
    name: str
    choices: Choices
    label: str = ""
    refused: str = ""
    kernel: CompiledKernel | None = None
    timing: Timing | None = None
    unmeasured: str = ""
    cache: CacheReport | None = None
    unseen: str = ""
    flops: int = 0

    @property
    def text(self) -> str:
        """The choices in one line; "plain" if there are none."""
        return text(self.choices) or "plain"

    @property
    def speed(self) -> float:
        """Operations per ns; 0 if it was not measured."""
        return self.flops / self.timing.seconds * 1e-9 if self.timing else 0.0

    def intensity(self, level: int) -> float:
        """Operations per byte loaded from beyond cache `level`; 0 if unknown."""
        if self.cache is None:
            return 0.0
        whole = self.cache.moved(level) * self.cache.total / max(self.cache.accesses, 1)
        return self.flops / max(whole, 1.0)

    @property
    def loops(self) -> Loops:
        """The loops after these choices."""
        kernel = self._kernel
        return Loops(
            title=f"loops {kernel.name}", name=kernel.name, body=kernel.loops, kernel=0,
            numbers=kernel.provenance.numbers, parents=defaultdict(tuple),
        )  # fmt: skip

    @property
    def lowered(self) -> Lowered:
        """The instructions."""
        rows = tuple(self._kernel.linear.instructions)
        return Lowered(
            title=f"lowered {self.name}", name=self.name, instructions=rows, kernel=0,
            parents=((),) * len(rows),
        )  # fmt: skip

    @property
    def assembly(self) -> Listing:
        """The machine code, as assembly; LLVM works on it now."""
        kernel = self._kernel
        source = Source(title=kernel.name, name=kernel.name, rows=kernel.source, kernel=0)
        return listing.assembly(source, kernel.level)

    @property
    def _kernel(self) -> CompiledKernel:
        if self.kernel is None:
            raise ValueError(f"{self.text}: there is no such kernel: {self.refused}")
        return self.kernel

    def __repr__(self) -> str:
        head = f"{self.name}  {self.text}"
        rows = [head if not self.label else f"{self.label}: {head}"]
        if self.refused:
            return printout([*rows, *f"  not possible: {self.refused}".split("\n")])
        if self.timing is not None:
            ratio = self.timing.usual / self.timing.seconds
            rows.append(
                f"  {duration(1e9 * self.timing.seconds)} ± {50 * self.timing.spread:.0f} %, "
                f"{self.speed:.2f} GFLOP/s, {ratio:.2f}× as fast as the compiler's own choices"
            )
        rows += [f"  not measured: {self.unmeasured}"] if self.unmeasured else []
        rows += [f"  accesses are not known: {self.unseen}"] if self.unseen else []
        rows += [f"  {line}" for line in repr(self.cache).splitlines()] if self.cache else []
        return printout(rows)

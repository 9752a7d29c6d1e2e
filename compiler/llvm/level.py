"""level: choose LLVM's pass pipeline and code generation level for each kernel.

    Before:  …   5  %5 = range %2 i0
                 6    %6 = mul %5 %3 i64
                 7    %7 = acc %4 f32
                 8    %8 = range %3 r1 reduction   …
    After:   LLVM's pipeline, level 2: loop r1 is left to LLVM's vectoriser

`Options.optimize` is the highest level allowed; `Options.mode` decides what is worth its time:

    fast     loops that are already vectorised, or have few iterations, get almost no passes; loops
             left to LLVM's vectoriser get its pipeline. Both at level 2
    explain  LLVM's own pipeline of level `optimize` for every kernel, so that you can inspect it

Relies on: invariants of `lowered/verify.py`: loops nest.
Ensures: a level of at most `Options.optimize`, with its reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.core.reason import Number, Reason
from compiler.lowered.instructions import Const, EndRange, Instruction, Range
from compiler.settings.options import Mode

Passes: TypeAlias = Literal["few", "pipeline"]
FAST = 2
"""The most that pays. Measured 2026-11-23 on one core of an AMD EPYC (znver3, AVX2), nine programs
at levels 1, 2 and 3: a sum of windows, left to the pipeline, took 80, 17 and 23 µs and 1,232, 1,432
and 3,768 bytes of machine code; eight kernels that are vector code already had the same number of
bytes at each level. On 2026-11-22, on a machine that was not noted, register tiles were 2.6 times
slower at level 1."""
FEW_TRIPS = 64
"""The trip count up to which a loop is not worth LLVM's vectoriser. Measured 2026-11-23 on one core
of an AMD EPYC (znver3, AVX2), few passes against the pipeline: at 64 iterations a * b + b runs in
39 against 5 ns and compiles in 5 against 8 ms, a sum of products in 50 against 4 ns and 6 against
13 ms, so the pipeline pays after over 100,000 runs; at 1,024 iterations (491 and 1,254 against 63
and 56 ns, 5 against 14 and 15 ms) after 8,000 to 22,000. The limit between them is a choice."""


@dataclass(frozen=True, slots=True)
class Level:
    """The work of LLVM on one kernel; `number` is 0 … 3, `because` the reason in words.

    few       calls are inlined; then code of level `number`
    pipeline  LLVM's whole pipeline of level `number`, then code of that level
    """

    number: int
    passes: Passes
    because: str

    @property
    def done(self) -> str:
        """The work of LLVM, in words."""
        what = "few passes" if self.passes == "few" else "LLVM's pipeline"
        return f"{what}, level {self.number}"

    def __str__(self) -> str:
        return f"{self.done}: {self.because}"


def level_of(instructions: Sequence[Instruction], optimize: int, mode: Mode) -> Level:
    """The level for the kernel of these instructions."""
    if optimize == 0:
        return Level(0, "pipeline", "no optimisation was asked for")
    if mode == "explain":
        return Level(optimize, "pipeline", "the whole pipeline was asked for")
    number = min(optimize, FAST)
    is_vector_code = any(map(_has_lanes, instructions))
    most = 0.0
    for loop in _inner_loops(instructions):
        # what vector code leaves over has few iterations each time; other loops LLVM may unroll
        trips = loop.extent if is_vector_code else loop.trips
        if trips > FEW_TRIPS and not loop.has_lanes:
            words = f"loop {loop.name} is left to LLVM's vectoriser"
            seen = Number(f"trip count of {loop.name}", trips, "", "at most", FEW_TRIPS)
            return Level(number, "pipeline", Reason(words, seen))
        most = max(most, trips if not loop.has_lanes else 0)
    seen = Number("trip count of an inner loop without lanes", most, "", "at most", FEW_TRIPS)
    if is_vector_code:
        return Level(number, "few", Reason("every long inner loop is already vectorised", seen))
    return Level(number, "few", Reason(f"no inner loop has more than {FEW_TRIPS} iterations", seen))


@dataclass(slots=True)
class _Loop:
    """A loop: its trip count, the product of those of the loops around it, and its contents."""

    name: str
    extent: float
    trips: float
    has_lanes: bool = False
    is_inner: bool = True


def _inner_loops(instructions: Sequence[Instruction]) -> Iterator[_Loop]:
    """The innermost loops. An unknown bound counts as unlimited."""
    bounds = {i.out: i.bits for i in instructions if isinstance(i, Const)}
    stack: list[_Loop] = []
    for each in instructions:
        match each:
            case Range(bound=bound):
                extent = bounds.get(bound, float("inf"))
                around = stack[-1].trips if stack else 1
                if stack:
                    stack[-1].is_inner = False
                stack.append(_Loop(each.name, extent, around * extent))
            case EndRange():
                done = stack.pop()
                if done.is_inner:
                    yield done
            case _ if stack and _has_lanes(each):
                stack[-1].has_lanes = True


def _has_lanes(instruction: Instruction) -> bool:
    """True if an instruction is of several lanes, in a register or in memory."""
    return int(getattr(instruction, "lanes", 1)) > 1

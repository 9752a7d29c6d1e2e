"""Settings of one compilation. There are no others: of the environment only two things are asked,
where the caches are (`user_cache.py`) and what processor this is (`SVODVIZ_CPU`: `llvm/jit.py`);
tests alone make an error of what would be left out (`dropped.py`)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from compiler.errors import DataError, located
from compiler.machine import DEFAULT, MachineModel
from compiler.passes import Passes

Mode: TypeAlias = Literal["fast", "explain"]
Cache: TypeAlias = bool | str | Path
MOST_THREADS = 256


class Given(dict[str, Any]):
    """Choices by name of kernel, as options hold them: compared by content, never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset((name, repr(choices)) for name, choices in self.items()))


class Measured(Given):
    """Choices that a search found, so no mistake of a user's where they do not apply."""

    __hash__ = Given.__hash__


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile; every field has a default that suits most programs.

    `trace`: record every rewrite (needed to step through passes; costs compile time).
    `verify`: check each stage's numbered invariants after it is made, with `trace` after each pass.
    `optimize`: LLVM's level, at most; 0 keeps the code as generated.
    `mode`: "fast" runs those of LLVM's passes that pay for a kernel, "explain" its whole pipeline
    of level `optimize` on every kernel (`llvm/level.py`).
    `cache`: whether machine code is kept on disk, in the user's cache folder or in the one given.
    `kernel_operations`: a kernel with more elementwise operations than this is cut.
    `device`: the kind of device that runs every kernel, e.g. "INTERPRET", which checks every
    access; "" means the device that a kernel's inputs are on.
    `plan_memory`: intermediate values that are not needed at the same time share memory.
    `model`: what the machine is taken to be where times are estimated; `calibrate()` measures.
    `threads`: how many threads one kernel may use; 0 means one for each core of this process.
    `memory_limit`: bytes one program may allocate; None means what the machine has.
    `loops`: how loops are transformed: "plain" leaves them as they are, "auto" lets the compiler
    choose for each kernel, and a mapping says it for kernels by name, as `loops/choices.py` has it
    in text; the others are plain.
    `tune`: seconds for a search, by measurement, over the loops of the program's kernels; it begins
    with what `loops` says, and what it finds is remembered (`tune/tune.py`). 0: no search.
    `passes`: those that run on graph and loops, in their order (`passes.py`); None: the usual ones.
    """

    trace: bool = False
    verify: bool = True
    optimize: Literal[0, 1, 2, 3] = 3
    mode: Mode = "fast"
    cache: Cache = True
    kernel_operations: int = 256
    device: str = ""
    threads: int = 0
    memory_limit: int | None = None
    plan_memory: bool = True
    model: MachineModel = DEFAULT
    loops: "Literal['auto', 'plain'] | Mapping[str, Any]" = "auto"
    tune: float = 0.0
    passes: Passes | None = None

    @located
    def __post_init__(self) -> None:
        if self.optimize not in (0, 1, 2, 3):
            what, got = "no such level of optimisation", repr(self.optimize)
            raise DataError("Options", what, got=got, expected="0, 1, 2 or 3")
        if self.mode not in get_args(Mode):
            what, got = "no such mode", repr(self.mode)
            raise DataError("Options", what, got=got, expected="fast or explain")
        if not isinstance(self.cache, Cache):
            what, got = "no such cache", repr(self.cache)
            raise DataError("Options", what, got=got, expected="True, False or a folder")
        if not isinstance(self.threads, int) or not 0 <= self.threads <= MOST_THREADS:
            what, got = "no such number of threads", repr(self.threads)
            expected = f"0 (all cores) … {MOST_THREADS}"
            raise DataError("Options", what, got=got, expected=expected)
        if not isinstance(self.tune, int | float) or not 0 <= self.tune < math.inf:
            what, got = "no such time for a search", repr(self.tune)
            raise DataError("Options", what, got=got, expected="seconds, 0 or more")
        if not isinstance(self.passes, Passes | None):
            what, got = "these are no passes", type(self.passes).__name__
            expected = "compiler.PASSES, or others made of them: PASSES.after('simplify', mine)"
            raise DataError("Options", what, got=got, expected=expected)
        if isinstance(self.loops, Mapping):
            if not isinstance(self.loops, Given):
                object.__setattr__(self, "loops", Given(self.loops))
        elif self.loops not in ("auto", "plain"):
            what, got = "no such way to transform loops", repr(self.loops)
            expected = "auto, plain or choices by name of kernel"
            raise DataError("Options", what, got=got, expected=expected)


def options_of(given: Options | None, passes: Passes | None) -> Options:
    """The options of one compilation, whose rewrites are recorded where none are given."""
    options = given or Options(trace=True)
    if not isinstance(options, Options):
        what, got = "these are no options", type(given).__name__
        raise DataError("compile", what, got=got, expected="compiler.Options(…)")
    return options if passes is None else replace(options, passes=passes)

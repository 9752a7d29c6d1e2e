"""Settings of one compilation. There are no others. The environment is only asked where the caches
are (`user_cache.py`), what machine code is for (SVODVIZ_CPU: `machines/processors.py`), and what
loops are chosen for (SVODVIZ_MACHINE: `machines/at_hand.py`); tests alone make an error of what
would be left out (`dropped.py`)."""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from compiler.core.errors import DataError, located
from compiler.core.keywords import constructor
from compiler.core.lazy import loading
from compiler.core.passes import Passes
from compiler.machines.model import MachineModel

Mode: TypeAlias = Literal["fast", "explain"]
Cache: TypeAlias = bool | str | Path
MOST_THREADS = 256
"""No machine that this was written for has more cores; a greater number is taken for a mistake."""
KERNEL_OPERATIONS = 256
"""Elementwise operations of one kernel, chosen before anything was measured. A chain of 512 over
65,536 floats took 0.61 ms in kernels of 32 operations, 0.76 of 64, 1.0 of 128, 1.4 of 256, 2.0 of
512; over 2,097,152 floats 82, 66, 98, 112 and 175 ms; each compiled in 0.5 to 0.7 s (one thread of
an EPYC, AVX2, 2026-11-23). So smaller kernels would run such a chain faster."""


class Given(dict[str, Any]):
    """Choices by name of kernel, as options hold them: compared by content, never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset((name, repr(choices)) for name, choices in self.items()))


class Measured(Given):
    """Choices that a search found, so no mistake of a user's where they do not apply."""

    __hash__ = Given.__hash__


@dataclass(frozen=True, slots=True)
class Options:
    """Compile options; each default suits most programs.


    `trace`: record every rewrite (needed to step through passes; costs compile time).
    `verify`: check each stage's numbered invariants after it is built; with `trace`, after each
    pass.
    `optimize`: the highest level of LLVM's optimiser; 0 keeps the code as generated.
    `mode`: "fast" runs those of LLVM's passes that pay for a kernel, "explain" its whole pipeline
    of level `optimize` on every kernel (`llvm/level.py`).
    `cache`: True caches machine code on disk in the user's cache folder; a path names another
    folder.
    `kernel_operations`: the most elementwise operations of a kernel; larger ones are split.
    `device`: the kind of device that runs every kernel, e.g. "INTERPRET", which checks every
    access; "" means the device of a kernel's inputs.
    `plan_memory`: intermediate values that are not live at the same time share memory.
    `machine`: the machine for which loops are chosen and times estimated: "host", this machine, a
    name, e.g. "apple-m1" (`machines/named.py`), or a model; "" means the one that SVODVIZ_MACHINE
    names, else this machine. The program runs on this machine in any case.
    `threads`: the most threads of one kernel; 0 means one for each core of the machine.
    `memory_limit`: bytes that one program may allocate; None means the machine's memory.
    `loops`: the transformations of loops: "plain" applies none, "auto" lets the compiler choose for
    each kernel, and a mapping has them by kernel name, as text in the form of `loops/choices.py`;
    all other kernels are plain. Names of kernels that the program does not have are refused.
    `tune`: seconds of a search, by measurement, over the loops of the program's kernels. It starts
    with those of `loops`, and remembers its result (`tune/tune.py`). 0: no search.
    `passes`: the passes on graph and loops in their order (`passes.py`); None: the default ones.
    """

    trace: bool = False
    verify: bool = True
    optimize: Literal[0, 1, 2, 3] = 3
    mode: Mode = "fast"
    cache: Cache = True
    kernel_operations: int = KERNEL_OPERATIONS
    device: str = ""
    threads: int = 0
    memory_limit: int | None = None
    plan_memory: bool = True
    machine: str | MachineModel = ""
    loops: "Literal['auto', 'plain'] | Mapping[str, Any]" = "auto"
    tune: float = 0.0
    passes: Passes | None = None

    @located
    def __post_init__(self) -> None:
        for name in ("trace", "verify", "plan_memory"):
            is_sound = isinstance(getattr(self, name), bool)
            self._check(name, is_sound, f"{name} is neither on nor off", "True or False")
        is_level = self.optimize in range(4) and _is_count(self.optimize)
        self._check("optimize", is_level, "no such level of optimisation", "0, 1, 2 or 3")
        self._check("mode", self.mode in get_args(Mode), "no such mode", "fast or explain")
        is_cache = isinstance(self.cache, Cache) and "\0" not in str(self.cache)
        self._check("cache", is_cache, "no such cache", "True, False or a folder")
        self._check("kernel_operations", _is_count(self.kernel_operations, 1),
                    "no such number of operations", "1 or more")  # fmt: skip
        is_kind = isinstance(self.device, str)
        self._check("device", is_kind, "no such kind of device", 'a name, as "INTERPRET", or ""')
        is_number = _is_count(self.threads) and self.threads <= MOST_THREADS
        expected = f"0 (all cores) … {MOST_THREADS}"
        self._check("threads", is_number, "no such number of threads", expected)
        is_limit = self.memory_limit is None or _is_count(self.memory_limit)
        self._check("memory_limit", is_limit, "no such number of bytes", "0 or more, or None")
        is_machine = isinstance(self.machine, str | MachineModel)
        expected = 'a name, as "x86-avx2", or what compiler.machine() and calibrate() give'
        self._check("machine", is_machine, "no machine", expected)
        if isinstance(self.machine, str) and self.machine:
            _machine(self.machine)
        is_time = isinstance(self.tune, int | float) and not isinstance(self.tune, bool)
        is_time = is_time and 0 <= self.tune < math.inf
        self._check("tune", is_time, "no such time for a search", "seconds, 0 or more")
        if not isinstance(self.passes, Passes | None):
            what, got = "these are no passes", type(self.passes).__name__
            expected = "compiler.PASSES, or others made of them: PASSES.after('simplify', mine)"
            raise DataError("Options", what, got=got, expected=expected)
        if isinstance(self.loops, Mapping) and not isinstance(self.loops, Given):
            object.__setattr__(self, "loops", Given(self.loops))
        is_way = isinstance(self.loops, Given) or (
            isinstance(self.loops, str) and self.loops in ("auto", "plain")
        )
        self._check("loops", is_way, "no such way to transform loops",
                    "auto, plain or choices by name of kernel")  # fmt: skip

    @property
    def model(self) -> MachineModel:
        """The model of the machine, with as many cores as one kernel may use."""
        found = _machine(self.machine) if isinstance(self.machine, str) else self.machine
        return replace(found, cores=self.threads or found.cores)

    def _check(self, name: str, is_sound: bool, what: str, expected: str) -> None:
        """`DataError` for a field that cannot be what it is."""
        if not is_sound:
            got = f"{name}={getattr(self, name)!r}"
            raise DataError("Options", what, got=got, expected=expected)


Options.__init__ = constructor(Options.__init__)  # type: ignore[method-assign]


def _machine(name: str) -> MachineModel:
    """See `compiler.machine`."""
    return _asked()(name)


@functools.cache
def _asked() -> Callable[[str], MachineModel]:
    """Who knows machines asks LLVM, which is loaded when something is compiled."""
    with loading():
        from compiler.machines.at_hand import machine

    return machine


def _is_count(value: object, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def options_of(given: object, passes: Passes | None) -> Options:
    """The options of one compilation, whose rewrites are recorded where none are given."""
    options = Options(trace=True) if given is None else given
    if not isinstance(options, Options):
        what, got = "these are no options", type(given).__name__
        raise DataError("compile", what, got=got, expected="compiler.Options(…)")
    return options if passes is None else replace(options, passes=passes)

"""A workbench: one kernel with its own data, on which choices are compiled, run and timed.

Data are random and the same for all choices: floats between 1/8 and 7/8, where roots, logarithms
and quotients are finite; small integers. Buffers that a kernel changes in place are restored before
each sample. Repetitions are steps of one foreign call, so a sample contains no time of Python.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compiler.core.dtypes import Array, DType, float_limits, is_floating
from compiler.core.errors import CompileError
from compiler.core.node import toposort
from compiler.device import cpu, dask, device
from compiler.device.cpu import physical_memory
from compiler.device.program import Program, ProgramSpec
from compiler.graph.devices import DASK
from compiler.graph.nodes import Sink
from compiler.loops import verify as verify_loops
from compiler.loops.choices import Choices
from compiler.loops.count import count
from compiler.loops.nodes import Argument, Body, Custom, Range
from compiler.lowered import verify as verify_lowered
from compiler.machines.model import MachineModel
from compiler.machines.system import core_count
from compiler.pipeline.kernels import CompiledKernel, compile_kernel, program_spec
from compiler.schedule.analysis.work import estimate
from compiler.schedule.items import Kernel, ScheduleItem
from compiler.settings.options import Options
from compiler.threads.launch import steps_of, stride_of
from compiler.threads.workers import WORKERS, native
from compiler.tune.duel import LEAST_ROUNDS
from compiler.tune.trials import Refused

SAMPLE = 300e-6
"""Seconds that the repetitions of one sample take, or one run if that takes more. The least of
`SAMPLES` was 46.2 µs in samples of 30 µs, 44.1 of 300 and 51.7 of 3 ms for a softmax, 10.6, 8.6 and
8.7 for a chain (medians of 30; EPYC, AVX2, two busy cores, 2026-11-23): one run is cold, long
samples meet others."""
SAMPLES = 9
"""In 30 tries nine of ten were at most 0.7 % above the least of all for the softmax, with 3 samples
2.9 %, with 27 0.3 %; for the chain 8 %, however many (the same run)."""
QUIET = 1.1
"""While the default takes no longer than that many times its least, nothing else runs. Not
measured."""
LONG = 0.05
"""Seconds of samples that are enough, however few they are. Not measured."""
MOST_REPEATS, MOST_IN_PLACE = 500, 50
"""Repetitions in a sample; what is changed in place 500 times may leave all numbers behind.
No figure on record."""
HOPELESS = 1.3
"""Three samples this far behind the fastest so far are enough. Chosen, not measured."""
SLOWER = 5.0
"""Choices that are estimated to take so many times as long as the default do not run. Of 21 such in
five searches the best took 1.8 times as long; of those between 2 and 5 the best took 0.79 (EPYC,
AVX2, one thread, 2026-11-23)."""
CHECKED = 1.05
"""Choices that come this near to the fastest have to compute the same: those that may be finalists.
Not measured."""
PERIOD = 1_000_003
"""Random elements before they come again: a prime, so that rows of a matrix differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A kernel with some choices, as machine code."""

    kernel: CompiledKernel
    spec: ProgramSpec
    program: Program


class Workbench:
    """See the module docstring. The first choices that are measured are the default."""

    def __init__(self, name: str, body: Sink, options: Options) -> None:
        self._name, self._body = name, body
        self._options = replace(options, trace=False, tune=0.0, mode="fast", verify=False)
        self._default = compile_kernel(name, body, self._options, 0)
        self._texts: dict[str, Choices] = {}
        self._estimated = self._estimate(self._default.loops)
        self._data: _Data | None = None
        self._usual: tuple[_Runner, float] | None = None
        self._expected: dict[int, Array] = {}

    @property
    def body(self) -> Sink:
        """The computation of the kernel."""
        return self._body

    @property
    def default(self) -> CompiledKernel:
        """The kernel with the choices of the options."""
        return self._default

    @property
    def model(self) -> MachineModel:
        """The machine, as `choose` sees it."""
        return self._options.model

    @property
    def estimated(self) -> float:
        """Seconds that the default is estimated to take."""
        return self._estimated

    def chosen(self, loops: Any) -> Choices:
        """The choices that other options would lead to."""
        options = replace(self._options, loops=loops)
        return compile_kernel(self._name, self._body, options, 0).choices

    def measure(self, choices: Choices, best: float) -> float:
        """Seconds of one run, the least of several; `best` is the least of all choices so far.

        Raises `Refused` if the choices are not legal, are estimated to be far too slow, lead to
        code that was measured before, or to other results than the default.
        """
        runner = self._runner(choices, is_new=True)
        if self._usual is None:
            self._expected = runner.results()
            self._usual = runner, runner.least(SAMPLES)
            return self._usual[1]
        once = runner.sample(1)
        if once > max(HOPELESS * best, LONG):
            return once
        took = self._beside(runner, runner.repeats(min(once, runner.sample(1))), best)
        if took < CHECKED * best:
            self._check(runner)
        return took

    def _beside(self, runner: "_Runner", repeats: int, best: float) -> float:
        """The least seconds of several samples, more where the machine is disturbed.

        The default runs in between: if it takes longer than before, the machine is busy.
        """
        assert self._usual is not None
        usual, least = self._usual
        default_repeats, spent = usual.repeats(least), 0.0
        mine = one = math.inf
        for done in range(3 * SAMPLES):
            one = min(one, usual.sample(default_repeats))
            mine = min(mine, runner.sample(repeats))
            spent += one * default_repeats + mine * repeats
            is_behind = min(mine, mine / one * least) > HOPELESS * best
            is_enough = done + 1 >= SAMPLES and one < QUIET * least
            if spent > LONG or is_enough or (done > 1 and is_behind):
                break
        self._usual = usual, min(least, one)
        return mine

    def compare(
        self, first: Choices, second: Choices, rounds: int, seconds: float
    ) -> list[tuple[float, float]]:
        """Seconds of both, measured alternately: `rounds` times, or for `seconds`.

        The order alternates as well, and there are always enough rounds for a decision.

        Raises `Refused` if the second has other results than the default.
        """
        end = time.perf_counter() + seconds
        one, two = self._runner(first), self._runner(second)
        self._check(two)
        least = min(rounds, LEAST_ROUNDS)
        repeats = one.repeats(one.sample(1))
        pairs: list[tuple[float, float]] = []
        while len(pairs) < rounds and (len(pairs) < least or time.perf_counter() < end):
            if len(pairs) % 2:
                late = two.sample(repeats)
                pairs.append((one.sample(repeats), late))
            else:
                pairs.append((one.sample(repeats), two.sample(repeats)))
        return pairs

    def beside(self, choices: Choices, seconds: float) -> list[tuple[float, float]]:
        """Seconds of the default and of these choices alternately, for so long, or a few rounds.

        Unlike `compare` it chooses the repetitions of each separately, as the two may be far apart.
        Raises `Refused` if the choices are not legal or have other results than the default.
        """
        if self._usual is None:
            self.measure(self._default.choices, math.inf)
        assert self._usual is not None
        usual, least = self._usual
        runner = self._runner(choices)
        self._check(runner)
        once = runner.sample(1)
        default_repeats, repeats = usual.repeats(least), runner.repeats(once)
        fewest = 2 if max(once, least) > seconds else LEAST_ROUNDS
        end = time.perf_counter() + seconds
        pairs: list[tuple[float, float]] = []
        while len(pairs) < fewest or time.perf_counter() < end:
            pairs.append((usual.sample(default_repeats), runner.sample(repeats)))
        return pairs

    def _estimate(self, loops: Body) -> float:
        return estimate(count(loops), self.model) * 1e-9

    def _runner(self, choices: Choices, is_new: bool = False) -> "_Runner":
        """The kernel with these choices, on the data."""
        built = self._build(choices, is_new)
        if self._data is None:
            self._data = _Data(built)
        return _Runner(built, self._data)

    def _build(self, choices: Choices, is_new: bool) -> Built:
        options = replace(self._options, loops={self._name: choices}, cache=False)
        try:
            kernel = compile_kernel(self._name, self._body, options, 0)
            verify_loops.verify(kernel.loops)
            verify_lowered.verify(kernel.linear.instructions)
        except CompileError as error:
            raise Refused(f"{error.operation}: {error.problem}") from error
        except Exception as error:  # the default compiles: whatever this is, nobody needs it
            raise Refused(f"{type(error).__name__}: {error}") from error
        slower = self._estimate(kernel.loops) / self._estimated
        if is_new and slower > SLOWER and choices != self._default.choices:
            raise Refused(f"estimated to be {slower:.1f}× slower than the default")
        spec = program_spec(kernel, device.CPU)
        if is_new and self._texts.setdefault(spec.text, choices) != choices:
            raise Refused("the same code as before")
        compiled = device.CPU.compile(spec, options.optimize, options.mode)
        return Built(kernel, spec, device.CPU.load(compiled))

    def _check(self, runner: "_Runner") -> None:
        """Refuse choices whose results differ from those of the default."""
        folds = _folded(self._default.loops)
        for slot, array in runner.results().items():
            what = difference(self._expected[slot], array, folds)
            if what:
                raise Refused(f"another result than the default's: {what}")


def _folded(loops: Body) -> int:
    """The most values that one result may be folded from."""
    ranges = (n for n in toposort([loops]) if isinstance(n, Range))
    return math.prod(r.extent for r in ranges if r.role == "reduction")


def difference(expected: Array, got: Array, folded: int) -> str:
    """The difference between `got` and `expected` in words; "" if there is none.

    Integers have to be equal. Floats may differ by 16 · √folded units in the last place of the
    greatest value: reductions in another order round differently, and products and sums may be
    fused.
    """
    if not is_floating(expected.dtype):
        return "" if np.array_equal(expected, got) else "whole numbers differ"
    if not np.array_equal(np.isfinite(expected), np.isfinite(got)):
        return "one is a number where the other is not"
    with np.errstate(all="ignore"):
        apart = np.abs(expected - got)
        scale = float(np.max(np.abs(expected), initial=0, where=np.isfinite(expected)))
    bound = 16.0 * math.sqrt(folded) * float(float_limits(expected.dtype).eps) * scale
    most = float(np.max(apart, initial=0, where=np.isfinite(expected)))
    return "" if most <= bound else f"{most:.3g} apart, {bound:.3g} allowed"


class _Data:
    """Memory for every argument of a kernel, and values for its variables: the greatest."""

    def __init__(self, built: Built) -> None:
        rng = np.random.default_rng(0)
        spec, nodes = built.spec, toposort([built.kernel.loops])
        self.arrays: dict[int, Array] = {}
        for each in nodes:
            if isinstance(each, Argument) and each.slot not in self.arrays:
                self.arrays[each.slot] = random_array(each.element, each.size, rng)
        self.values = {v.name: v.high for v in spec.metadata.vars}
        self.originals = {slot: self.arrays[slot].copy() for slot in spec.outs}
        self.in_place = tuple(set(spec.outs) & set(spec.ins))

    def restore(self, slots: Sequence[int]) -> None:
        """Puts back what runs changed."""
        for slot in slots:
            np.copyto(self.arrays[slot], self.originals[slot])


def random_array(dtype: DType, size: int, rng: np.random.Generator) -> Array:
    """`size` elements, aligned as the allocator does it."""
    length = min(size, PERIOD)
    if dtype.is_float:
        block = (rng.random(length, np.float32) * 0.75 + 0.125).astype(dtype.numpy)
    else:
        block = rng.integers(0, 2 if dtype.numpy.kind == "b" else 8, length).astype(dtype.numpy)
    array = cpu.allocate(size, dtype, "data to tune on")
    for start in range(0, size, PERIOD):
        part = array[start : start + PERIOD]
        part[:] = block[: len(part)]
    return array


class _Runner:
    """A kernel bound to data: its samples and its results."""

    def __init__(self, built: Built, data: _Data) -> None:
        task = built.program.task
        if task is None:
            raise Refused("it has no machine code of its own")
        self._data, self._built = data, built
        words = [data.arrays[slot].ctypes.data for slot in built.spec.globals]
        self._words = np.array([*words, *(data.values[p] for p in task.parameters)], np.int64)
        tasks = built.spec.tasks
        self._threads = min(core_count(), tasks)
        self._steps = steps_of(task.address, 0, tasks, self._threads)
        self._stride = stride_of(task.scratch)
        size = self._stride * self._threads
        self._scratch = cpu.scratch_memory(size) if size else None

    def repeats(self, seconds: float) -> int:
        """The runs of the kernel in one sample, where one run takes so long."""
        most = MOST_IN_PLACE if self._data.in_place else MOST_REPEATS
        return max(min(int(SAMPLE / max(seconds, 1e-9)), most), 1)

    def least(self, samples: int) -> float:
        """Seconds of one run, the least of so many samples, fewer where they take long."""
        took = [self.sample(1)]
        repeats = self.repeats(took[0])
        while len(took) <= samples and (len(took) == 1 or sum(took) * repeats < LONG):
            took.append(self.sample(repeats))
        return min(took)

    def sample(self, repeats: int) -> float:
        """Seconds of one run among so many."""
        self._data.restore(self._data.in_place)
        steps = np.array(self._steps * repeats, np.int64)
        pool = WORKERS.pool(self._threads)
        place = 0 if self._scratch is None else self._scratch.ctypes.data
        arguments, call = self._words.ctypes.data, native().run
        start = time.perf_counter()
        call(pool, steps.ctypes.data, len(steps), arguments, place, self._stride)
        return (time.perf_counter() - start) / repeats

    def results(self) -> dict[int, Array]:
        """The arrays that one run writes, by slot."""
        data = self._data
        data.restore(tuple(data.originals))
        self.sample(1)
        return {slot: data.arrays[slot].copy() for slot in data.originals}


def obstacle(bench: Workbench, body: Sink, items: Sequence[ScheduleItem], options: Options) -> str:
    """The reason why a kernel cannot be tried; "" if it can."""
    run = [i.operation for i in items if isinstance(i.operation, Kernel)]
    kinds = {options.device or op.device for op in run if op.body is body}
    # on workers of a cluster it is measured there
    able = ("CPU", DASK) if dask.used() is not None else ("CPU",)
    if any(device.get(kind).base_key not in able for kind in kinds):
        return "it does not run as machine code"
    order = toposort([bench.default.loops])
    if any(isinstance(node, Custom) for node in order):
        return "it calls a function of the user's"
    sizes = {n.slot: n.size * n.element.itemsize for n in order if isinstance(n, Argument)}
    most = (options.memory_limit or physical_memory()) // 4  # chosen, not measured
    if sum(sizes.values()) > most:
        return f"data of its own would take more than {most:,} bytes"
    return ""

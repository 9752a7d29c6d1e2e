"""work: the steps of a task on arrays, in the process of a worker.

    task     Work(launch k0 on r0 r1 → r2, move r2 → r3)   the values of variables
             the library of the program                    results of other tasks
    returns  the array of its output, or a tuple of several

Input arrays are results of other tasks and are never written: a step writes to new memory or to a
copy. A kernel arrives as LLVM IR and is compiled for this processor when a task first runs it, once
per process, whichever programs share it. This module does not depend on Dask.
"""

import functools
import hashlib
import pickle
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array
from compiler.core.errors import InternalError
from compiler.core.kept import Kept
from compiler.device import cpu
from compiler.device.described import Described, loaded
from compiler.device.disk import FilePart
from compiler.device.program import Program
from compiler.llvm import jit
from compiler.schedule.kinds import Region
from compiler.schedule.regions import copy

KEPT = 4096
"""Deserialised tasks that a worker caches: a bound on memory. A choice."""
LOGGED = 100_000
"""Spans that a worker keeps, the latest: some 15 MB. A choice."""


@dataclass(frozen=True, slots=True)
class Code:
    """A serialised kernel: the properties of its code, and its LLVM IR."""

    what: Described
    text: str

    @property
    def digest(self) -> str:
        """A hash of the kernel; equal kernels of different programs share it."""
        done = self.what.done
        parts = self.text, self.what.name, str(done.number), done.passes
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Library:
    """The kernels of a program; a worker compiles those that its tasks run."""

    codes: tuple[Code, ...]
    digests: tuple[str, ...]

    @staticmethod
    def of(codes: Sequence[Code]) -> "Library":
        """The library of these kernels."""
        return Library(tuple(codes), tuple(code.digest for code in codes))


def packed(thing: object) -> bytes:
    """A library or work as compressed bytes; LLVM IR shrinks to a tenth."""
    return zlib.compress(pickle.dumps(thing, protocol=5), 1)


def unpacked(content: bytes) -> Any:
    """The object that was `packed`."""
    return pickle.loads(zlib.decompress(content))


@dataclass(frozen=True, slots=True)
class Launch:
    """Run kernel `code` of the library on registers; `values` are numbers, or variables' names."""

    item: int
    code: int
    registers: tuple[int, ...]
    writes: tuple[int, ...]
    values: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Copy a region of one register to another. `is_whole`: the region is all of both, in order, so
    the array is reused without a copy."""

    item: int
    target: int
    source: int
    region: Region
    is_whole: bool


Step: TypeAlias = Launch | Move


@dataclass(frozen=True, slots=True)
class Span:
    """The activity of a worker from `begin` to `end`, in nanoseconds of its clock."""

    run: str
    item: int
    begin: int
    end: int
    kind: str
    """kernel, move or compile."""


@dataclass(frozen=True, slots=True)
class Work:
    """Steps on registers: arrays, flat, of these sizes and types."""

    steps: tuple[Step, ...]
    sizes: Mapping[int, tuple[int, "np.dtype[Any]"]]
    inputs: tuple[tuple[int, int | None], ...]
    """For each input array: its register, and its position if the input is a tuple."""
    outputs: tuple[int, ...]
    lasts: Mapping[int, tuple[int, ...]]
    """Registers that are dead after a step, by the step's number."""


class StepFailed(Exception):
    """An exception of a step: the number of its `item`, and the text of the error."""

    def __init__(self, item: int, words: str) -> None:
        super().__init__(item, words)
        self.item = item
        self.words = words


class OtherRelease(Exception):
    """A worker has another release of this package; `str` of it is that release."""


@functools.cache
def release_here() -> str:
    """Python's version, and a hash of the contents of this package's files."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    major, minor = sys.version_info[:2]
    return f"{digest.hexdigest()[:12]}, Python {major}.{minor}"


class _Worker:
    """The state of this process: machine code by digest, and its recorded activity."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.programs: dict[str, Program] = {}
        self.compiled: dict[str, int] = {}
        self.spans: deque[Span] = deque(maxlen=LOGGED)
        self.works: Kept[bytes, Work] = Kept(KEPT)


_HERE = _Worker()


def perform(
    content: bytes, run: str, release: str, values: Mapping[str, int], library: Library | None,
    *inputs: Any,
) -> Any:  # fmt: skip
    """Run the work of `content`; its output, or a tuple of outputs.

    Raises `StepFailed`, and `OtherRelease` if the client has another release.
    """
    if release != release_here():
        raise OtherRelease(release_here())
    item, failed = -1, ""
    try:
        state = _State(_work(content), run, values, library)
        item = state.work.steps[0].item
        state.take(inputs)
        for number, step in enumerate(state.work.steps):
            item = step.item
            state.do(step)
            state.drop(number)
        return state.outputs()
    except Exception as error:
        failed = f"{type(error).__name__}: {error}"
    # outside of the handler: an error of ours that hangs on it would have to travel as well
    raise StepFailed(item, failed)


def pick(outputs: Sequence[Array], place: int) -> Array:
    """One of the outputs of a task."""
    return outputs[place]


def _work(content: bytes) -> Work:
    work = _HERE.works.held(content)
    if work is None:
        unpacked_work: Work = unpacked(content)
        return _HERE.works.keep(content, unpacked_work)
    return work


@dataclass(slots=True)
class _State:
    """The registers of a running task; it may write those in `owned`, its own memory."""

    work: Work
    run: str
    values: Mapping[str, int]
    library: Library | None
    registers: dict[int, Array] = field(default_factory=dict)
    owned: set[int] = field(default_factory=set)

    def take(self, inputs: Sequence[Any]) -> None:
        """Store the inputs in their registers."""
        for (register, place), array in zip(self.work.inputs, inputs, strict=True):
            self.registers[register] = _ready(array if place is None else array[place])

    def do(self, step: Step) -> None:
        """Run one step, and record its span."""
        begin = time.time_ns()
        if isinstance(step, Launch):
            self._launch(step)
        else:
            self._move(step)
        kind = "kernel" if isinstance(step, Launch) else "move"
        _HERE.spans.append(Span(self.run, step.item, begin, time.time_ns(), kind))

    def drop(self, number: int) -> None:
        """Drop the registers that are dead after step `number`."""
        for register in self.work.lasts.get(number, ()):
            self.registers.pop(register, None)
            self.owned.discard(register)

    def outputs(self) -> Any:
        """The outputs: an array, or a tuple of several."""
        outputs = tuple(self.registers[register] for register in self.work.outputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def _own(self, register: int) -> None:
        """Make the register own memory of this task, by a copy if needed."""
        if register in self.owned:
            return
        size, dtype = self.work.sizes[register]
        memory = cpu.MEMORY.allocate(size, dtypes.parse(dtype))
        before = self.registers.get(register)
        if before is not None:
            memory[...] = before
        self.registers[register] = memory
        self.owned.add(register)

    def _move(self, step: Move) -> None:
        if step.source not in self.registers:  # nobody wrote it: it may hold anything
            self._own(step.source)
        if step.is_whole and step.target not in self.registers:
            self.registers[step.target] = self.registers[step.source]
            self.owned.difference_update((step.source, step.target))
            return
        self._own(step.target)
        copy(step.region, self.registers[step.target], self.registers[step.source])

    def _launch(self, step: Launch) -> None:
        assert self.library is not None
        unread = (r for r in step.registers if r not in self.registers)
        for register in (*step.writes, *unread):
            self._own(register)
        program = _program(self.library, step, self.run)
        values = [self.values[value] if isinstance(value, str) else value for value in step.values]
        program.execute([self.registers[r].ctypes.data for r in step.registers], values)


def _ready(data: Any) -> Array:
    """An input as a flat, aligned array; a part of a file is memory-mapped."""
    array: Array = data.mapped() if isinstance(data, FilePart) else data
    return np.require(array, requirements=["C", "A"]).reshape(-1)


def _program(library: Library, step: Launch, run: str) -> Program:
    """The machine code of a kernel; compiled once per process."""
    digest = library.digests[step.code]
    program = _HERE.programs.get(digest)
    if program is not None:
        return program
    with _HERE.lock:
        if digest not in _HERE.programs:
            begin, code = time.time_ns(), library.codes[step.code]
            binary = jit.object_code(code.text, code.what.name, code.what.done)
            _HERE.programs[digest] = loaded(code.what, binary, _again)
            _HERE.compiled[digest] = _HERE.compiled.get(digest, 0) + 1
            _HERE.spans.append(Span(run, step.item, begin, time.time_ns(), "compile"))
        return _HERE.programs[digest]


def _again() -> NoReturn:
    raise InternalError("work", "memory of a task does not begin with a line")


def compiled_here() -> dict[str, int]:
    """The number of compilations of each kernel in this process, by digest."""
    return dict(_HERE.compiled)


def spans_here(run: str) -> tuple[Span, ...]:
    """The activity here for a run."""
    return tuple(span for span in list(_HERE.spans) if span.run == run)

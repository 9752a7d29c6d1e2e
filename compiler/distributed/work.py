"""work: what a task of a cluster does: steps on arrays, in the process of a worker.

    task   Work(launch k0 on r0 r1 → r2, move r2 → r3)   the values of variables
           the library of the program                    what other tasks made
    gives  the array of its output, or a tuple of several

Arrays that came in are results of other tasks, and stay as they are: what a step writes to is new
memory, or a copy. A kernel arrives as LLVM IR, and becomes machine code of this processor when a
task first runs it: once in a process, whatever program it belongs to. Nothing here knows Dask.
"""

import functools
import hashlib
import os
import pickle
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.kept import Kept
from compiler.device import cpu
from compiler.device.described import Described, loaded
from compiler.device.disk import FilePart
from compiler.device.program import Program
from compiler.llvm import jit
from compiler.machines import system
from compiler.schedule.kinds import Region
from compiler.schedule.regions import copy

Array: TypeAlias = "np.ndarray[Any, Any]"
KEPT = 4096
"""Tasks that a worker keeps as it read them: a bound on memory. A choice."""
LOGGED = 100_000
"""Spans that a worker keeps, the latest: some 15 MB. A choice."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel as it travels: what is known of its code, and its LLVM IR."""

    what: Described
    text: str

    @property
    def digest(self) -> str:
        """The same for the same kernel, whatever program it is in."""
        done = self.what.done
        parts = self.text, self.what.name, str(done.number), done.passes
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Library:
    """The kernels of a program, each compiled where a task runs it."""

    codes: tuple[Code, ...]
    digests: tuple[str, ...]

    @staticmethod
    def of(codes: Sequence[Code]) -> "Library":
        """The library of these kernels."""
        return Library(tuple(codes), tuple(code.digest for code in codes))


def packed(thing: object) -> bytes:
    """A library or work as bytes; LLVM IR takes a tenth of itself."""
    return zlib.compress(pickle.dumps(thing, protocol=5), 1)


def unpacked(content: bytes) -> Any:
    """What was `packed`."""
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
    """Copy a region of one register to another; `is_whole` of both, in order: no copy is needed."""

    item: int
    target: int
    source: int
    region: Region
    is_whole: bool


Step: TypeAlias = Launch | Move


@dataclass(frozen=True, slots=True)
class Span:
    """What a worker did from `begin` to `end`, in nanoseconds of its clock."""

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
    """For each array that comes in its register; where a tuple comes in, the place in it too."""
    outputs: tuple[int, ...]
    lasts: Mapping[int, tuple[int, ...]]
    """After which step registers are not needed any more, by its number."""


class StepFailed(Exception):
    """A step raised; `item` says which one, and the words are those of the error."""

    def __init__(self, item: int, words: str) -> None:
        super().__init__(item, words)
        self.item = item
        self.words = words


class OtherRelease(Exception):
    """A worker has another release of this package; `str` says which."""


@functools.cache
def release_here() -> str:
    """Python's version, and the files of this package by their contents."""
    package = Path(__file__).parent.parent
    found = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        found.update(str(path.relative_to(package)).encode() + path.read_bytes())
    major, minor = sys.version_info[:2]
    return f"{found.hexdigest()[:12]}, Python {major}.{minor}"


class _Worker:
    """What this process keeps: machine code by digest, and what it did."""

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
    """Do the work of `content`; its output, or a tuple of them.

    Raises `StepFailed`, and `OtherRelease` where this is another release than whoever sent it has.
    """
    if release != release_here():
        raise OtherRelease(release_here())
    work: Work = _work(content)
    registers: dict[int, Array] = {}
    owned: set[int] = set()
    for (register, place), array in zip(work.inputs, inputs, strict=True):
        try:
            registers[register] = _ready(array if place is None else array[place])
        except Exception as error:
            raise StepFailed(work.steps[0].item, f"{type(error).__name__}: {error}") from error
    for number, step in enumerate(work.steps):
        begin = time.time_ns()
        try:
            if isinstance(step, Launch):
                assert library is not None
                _launch(step, work, registers, owned, values, library, run)
            else:
                _move(step, work, registers, owned)
        except Exception as error:
            raise StepFailed(step.item, f"{type(error).__name__}: {error}") from error
        kind = "kernel" if isinstance(step, Launch) else "move"
        _HERE.spans.append(Span(run, step.item, begin, time.time_ns(), kind))
        for register in work.lasts.get(number, ()):
            registers.pop(register, None)
            owned.discard(register)
    made = tuple(registers[register] for register in work.outputs)
    return made[0] if len(made) == 1 else made


def pick(made: Sequence[Array], place: int) -> Array:
    """One of the outputs of a task."""
    return made[place]


def _work(content: bytes) -> Work:
    found = _HERE.works.held(content)
    if found is None:
        made: Work = unpacked(content)
        return _HERE.works.keep(content, made)
    return found


def _ready(given: Any) -> Array:
    """An array that came in, flat and aligned; one that is in a file is mapped."""
    array: Array = given.mapped() if isinstance(given, FilePart) else given
    return np.require(array, requirements=["C", "A"]).reshape(-1)


def _written(register: int, work: Work, registers: dict[int, Array], owned: set[int]) -> None:
    """Have the register be memory of this task."""
    if register in owned:
        return
    size, dtype = work.sizes[register]
    made = cpu.MEMORY.allocate(size, dtypes.parse(dtype))
    before = registers.get(register)
    if before is not None:
        made[...] = before
    registers[register] = made
    owned.add(register)


def _move(step: Move, work: Work, registers: dict[int, Array], owned: set[int]) -> None:
    if step.is_whole and step.target not in registers:
        registers[step.target] = registers[step.source]
        owned.difference_update((step.source, step.target))
        return
    if step.source not in registers:  # nobody wrote it: it may hold anything
        _written(step.source, work, registers, owned)
    _written(step.target, work, registers, owned)
    copy(step.region, registers[step.target], registers[step.source])


def _launch(
    step: Launch, work: Work, registers: dict[int, Array], owned: set[int],
    values: Mapping[str, int], library: Library, run: str,
) -> None:  # fmt: skip
    unread = (r for r in step.registers if r not in registers)
    for register in (*step.writes, *unread):
        _written(register, work, registers, owned)
    program = _program(library, step, run)
    known = [values[value] if isinstance(value, str) else value for value in step.values]
    program.execute([registers[register].ctypes.data for register in step.registers], known)


def _program(library: Library, step: Launch, run: str) -> Program:
    """The machine code of a kernel; made once."""
    digest = library.digests[step.code]
    found = _HERE.programs.get(digest)
    if found is not None:
        return found
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
    """How often each kernel was compiled in this process, by digest."""
    return dict(_HERE.compiled)


def spans_here(run: str) -> tuple[Span, ...]:
    """What was done here for a run."""
    return tuple(span for span in list(_HERE.spans) if span.run == run)


def prepare_here(threads: int) -> int:
    """Have kernels of this process use as many threads as the worker has; the process's number."""
    system.limit_cores(threads)
    return os.getpid()
